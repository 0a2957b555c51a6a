#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A user who may write the files of semaphores truncates them, again and again, while another user looks at them.
# shellcheck disable=SC2016 # the scripts in quotes are for shells inside
load strangers

# With a shared memory of its own, in which another user cuts thirty files all the time; for `look`, which is the rest.
under_attack() {
  need_another_user
  need 'a mount namespace' unshare --mount true
  attempt unshare --mount bash -c 'mount -t tmpfs -o size=8m,mode=1777 tmpfs /dev/shm || exit
    for i in {1..30}; do setpriv --reuid=12345 --regid=12345 --clear-groups -- tsem create "$SEM.$i" || exit; done
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

@test "truncation: list passes over what is damaged, and shows the rest" {
  under_attack bash -c "$LOOK"'; exec cat out' look tsem list
  expect_status 0
  expect_match 'the last list' "$OUT" "(^|"$'\n'")$SEM +1 +1 +0 "
  under_attack bash -c "$LOOK"'; exec jq -r ".semaphores[0].name" out' look tsem list -J
  expect_status 0
  expect_out "$SEM"
}

@test "truncation: show" {
  under_attack bash -c "$LOOK" look tsem show --stats "$SEM.1"
  expect_status 0
  under_attack bash -c "$LOOK" look tsem show -J "$SEM.1"
  expect_status 0
}

@test "truncation: top, in tables" {
  under_attack tsem top -b -i 100 -d 10ms
  expect_status 0
  expect_equal 'tables' "$(grep -c "^$SEM  *0%" attempt.out)" 100
}

@test "truncation: top, on a terminal, which is as it was" {
  python3 -c 'import pyte' 2>/dev/null || skip 'needs python3-pyte, to emulate a terminal'
  under_attack python3 "$BATS_TEST_DIRNAME/../cli/screen.py" 100x40 "see:^$SEM " 'see:that cannot be read' \
    restored:0 -- tsem top -i 100 -d 10ms
  expect_status 0
}
