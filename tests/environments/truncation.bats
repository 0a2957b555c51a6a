#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A user with write permission truncates the files of semaphores in a loop, while another user reads them.
# shellcheck disable=SC2016,SC2153 # the scripts in quotes are for inner shells; STATUS is set in the helper
load environments

under_attack() {
  need_another_user
  need 'a mount namespace' unshare --mount true
  attempt unshare --mount fresh-shm 8m under-attack "$@"
}

# The same at a chosen moment: see cut.c. At the fifth one, all has been read.
@test "truncation: at any moment of a read" {
  need_private_shm
  skip_under any 'a sanitizer wants to be loaded first'
  local verb at
  for verb in 'list' 'list -J' "show $SEM" "show -J $SEM" 'top -b -i 1' "top -b -i 1 $SEM"; do
    for at in 1 2 3 4 5; do
      attempt private-shm 1m bash -c 'tsem create "$SEM"
        exec env CUT_AT="$1" LD_PRELOAD="$TSEM_ENVIRONMENTS/cut.so" tsem $2' cut "$at" "$verb"
      ((STATUS == 0 || STATUS == 125)) || fail "status $STATUS"
      [[ $at == 5 || $ERR == cut* ]] || fail 'it was not truncated'
      ((at > 3)) || [[ $ERR$OUT == *'not a semaphore, or damaged'* || $verb == 'top -b -i 1' ]] || fail 'and nothing is said'
    done
  done
}

@test "truncation: list skips damaged semaphores, and shows the others" {
  under_attack 30 look-often tsem list
  expect_status 0
  expect_match 'the last list' "$(<out)" "(^|"$'\n'")$SEM +1 +1 +0 "
  under_attack 30 look-often tsem list -J
  expect_status 0
  expect_equal 'the first in the last list' "$(jq -r '.semaphores[0].name' out)" "$SEM"
}

@test "truncation: show" {
  under_attack 1 look-often tsem show --stats "$SEM.1"
  expect_status 0
  under_attack 1 look-often tsem show -J "$SEM.1"
  expect_status 0
}

@test "truncation: top, in tables" {
  under_attack 30 tsem top -b -i 100 -d 10ms
  expect_status 0
  expect_equal 'tables' "$(grep -c "^$SEM  *0%" attempt.out)" 100
}

@test "truncation: top, on a terminal, which it restores" {
  need_emulator
  under_attack 30 python3 "$BATS_TEST_DIRNAME/../cli/screen.py" 100x40 "see:^$SEM " 'see:that cannot be read' \
    restored:0 -- tsem top -i 100 -d 10ms
  expect_status 0
}
