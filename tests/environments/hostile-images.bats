#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The command on damaged segments, and with process names that are not UTF-8: no crash, no hang, and valid JSON.
# shellcheck disable=SC2016 # the scripts in quotes are for inner shells
load environments

@test "hostile images: every verb ends, with a status and a message of its own" {
  tsem create -j 2 "$SEM"
  tsem acquire --owner "$BASHPID" "$SEM"
  python3 "$BATS_TEST_DIRNAME/hostile-images.py" "$SEM" "${TSEM_IMAGES:-24}"
}

@test "hostile images: the name of a process is not UTF-8" {
  local sequence
  for sequence in $'\xff\xfe"\\\n\t' $'\xc0\xaf' $'\xed\xa0\x80' $'\xf4\x90\x80\x80' $'\xe2\x82' $'\x1b[31m'; do
    tsem create "$SEM"
    start bash -c 'exec -a "$0" sleep 1000' "$sequence"
    eventually grep -qa sleep "/proc/$PID/comm"
    tsem acquire --owner "$PID" "$SEM"
    attempt tsem show -J "$SEM"
    expect_status 0
    python3 -c 'import json, sys
holder, = json.loads(open("attempt.out", "rb").read().decode("utf-8", "strict"))["holders"]
sys.exit(not holder["command"].endswith("1000"))'
    attempt tsem show "$SEM"
    expect_status 0
    iconv -f utf-8 -t utf-8 <attempt.out >/dev/null
    ! grep -q $'\x1b' attempt.out || fail 'a control character came through'
    tsem remove -f "$SEM"
  done
}
