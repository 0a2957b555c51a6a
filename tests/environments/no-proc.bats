# SPDX-License-Identifier: MIT
# No /proc at all, as in a chroot without a mounted one. Since 6.11, Linux tells a process its PID namespace without
# /proc; `refuse` makes it an older one.
# shellcheck disable=SC2016,SC2086 # scripts in quotes are for inner shells; words of a prefix are split
load environments

need_no_proc() {
  skip_under any 'sanitizers need /proc'
  need 'a /proc that is empty' unshare --mount empty-proc sh -c '! test -e /proc/self'
}

@test "no proc: the end of a command gives its permit back" {
  need_no_proc
  tsem create "$SEM"
  local old
  for old in '' 'refuse pidfd_open'; do
    attempt unshare --mount empty-proc $old tsem run "$SEM" sh -c 'tsem take -n "$SEM"; echo $?'
    expect_status 0
    expect_out 75
    expect_at_rest 1
    attempt unshare --mount empty-proc $old tsem run "$SEM" sh -c 'kill -KILL $$'
    expect_status 137
    expect_at_rest 1
  done
}

@test "no proc: an older kernel, where only the holder's parent can know that the holder is dead" {
  need_no_proc
  tsem create "$SEM"
  start unshare --mount empty-proc refuse pidfd_open bash -c 'tsem acquire --owner $$ "$SEM"; exec sleep 1000'
  eventually is_shown .held 1
  kill -KILL "$PID"
  finish "$PID"
  expect_none_available
  expect_none_available unshare --mount empty-proc
}

@test "no proc: a killed holder is recovered, with and without a /proc" {
  need_no_proc
  [[ $(printf '%s\n' 6.11 "$(uname -r)" | sort -V | head -n 1) == 6.11 ]] ||
    skip 'this kernel does not tell the PID namespace without /proc'
  expect_killed_recovered
  expect_killed_recovered unshare --mount empty-proc
}

# Kills a holder without a /proc, and expects that a process with these words in front recovers its hold.
expect_killed_recovered() {
  tsem create "$SEM"
  start unshare --mount empty-proc bash -c 'tsem acquire --owner $$ "$SEM"; exec sleep 1000'
  eventually is_shown .held 1
  expect_none_available
  expect_none_available unshare --mount empty-proc
  kill -KILL "$PID"
  finish "$PID"
  expect_recovered "$@"
  tsem remove "$SEM"
}
