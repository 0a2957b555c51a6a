#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A user who may write the files of semaphores truncates them, again and again, while another user looks at them.
# shellcheck disable=SC2016,SC2153 # the scripts in quotes are for shells inside; STATUS is set in the helper
load strangers

# With a shared memory of its own, in which another user cuts $1 files all the time, and then what the other words say.
under_attack() {
  need_another_user
  need 'a mount namespace' unshare --mount true
  attempt unshare --mount bash -c 'mount -t tmpfs -o size=8m,mode=1777 tmpfs /dev/shm || exit
    for ((i = 1; i <= $1; i++)); do setpriv --reuid=12345 --regid=12345 --clear-groups -- tsem create "$SEM.$i" || exit; done
    tsem create "$SEM" || exit
    rm -f started && mkfifo started && exec 5<>started || exit
    setpriv --reuid=12345 --regid=12345 --clear-groups -- python3 -c "
import glob, os
files = [os.open(path, os.O_RDWR) for path in glob.glob(\"/dev/shm/tsem.*.*\")]
good = [os.pread(file, 1 << 20, 0) for file in files]
os.write(5, b\"cutting\\n\")
while True:
    for file, image in zip(files, good):
        os.ftruncate(file, 0)
        os.pwrite(file, image, 0)
        os.ftruncate(file, 2 * len(image))" &
    cutter=$!
    read -r -u 5
    shift
    "$@"
    status=$?
    kill "$cutter"
    exit "$status"' under_attack "$@"
}

# Each time the command ends by itself, and says at most that something is damaged.
LOOK='for i in {1..30}; do
  "$@" >out 2>err
  status=$?
  ((status == 0 || status == 125)) || { echo "status $status"; exit 1; }
  ! grep -v "not a semaphore, or damaged" err || exit 1
done'

# The same at a moment that is chosen: see cut.c. The fifth time there is nothing left to read.
@test "truncation: at any moment of a look" {
  need_private_shm
  not_under any 'a sanitizer wants to be loaded first'
  local verb at
  for verb in 'list' 'list -J' "show $SEM" "show -J $SEM" 'top -b -i 1' "top -b -i 1 $SEM"; do
    for at in 1 2 3 4 5; do
      attempt "${PRIVATE_SHM[@]}" 1m bash -c 'tsem create "$SEM"
        exec env CUT_AT="$1" LD_PRELOAD="$TSEM_STRANGERS/cut.so" tsem $2' cut "$at" "$verb"
      ((STATUS == 0 || STATUS == 125)) || fail "status $STATUS"
      [[ $at == 5 || $ERR == cut* ]] || fail 'it was not truncated'
      ((at > 3)) || [[ $ERR$OUT == *'not a semaphore, or damaged'* || $verb == 'top -b -i 1' ]] || fail 'and nothing is said'
    done
  done
}

@test "truncation: list passes over what is damaged, and shows the rest" {
  under_attack 30 bash -c "$LOOK"'; exec cat out' look tsem list
  expect_status 0
  expect_match 'the last list' "$OUT" "(^|"$'\n'")$SEM +1 +1 +0 "
  under_attack 30 bash -c "$LOOK"'; exec jq -r ".semaphores[0].name" out' look tsem list -J
  expect_status 0
  expect_out "$SEM"
}

@test "truncation: show" {
  under_attack 1 bash -c "$LOOK" look tsem show --stats "$SEM.1"
  expect_status 0
  under_attack 1 bash -c "$LOOK" look tsem show -J "$SEM.1"
  expect_status 0
}

@test "truncation: top, in tables" {
  under_attack 30 tsem top -b -i 100 -d 10ms
  expect_status 0
  expect_equal 'tables' "$(grep -c "^$SEM  *0%" attempt.out)" 100
}

@test "truncation: top, on a terminal, which is as it was" {
  python3 -c 'import pyte' 2>/dev/null || skip 'needs python3-pyte, to emulate a terminal'
  under_attack 30 python3 "$BATS_TEST_DIRNAME/../cli/screen.py" 100x40 "see:^$SEM " 'see:that cannot be read' \
    restored:0 -- tsem top -i 100 -d 10ms
  expect_status 0
}
