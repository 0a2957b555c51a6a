#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Waiters in and outside of a container, of which only some can find that the holder is dead (it has no presence lock).
# shellcheck disable=SC2016 # a script for an inner shell
load environments

# A benchmark that fails leaves its semaphore, whose name contains its number.
teardown() {
  end_all
  [[ ! -e number ]] || rm -f "/dev/shm/tsem.bench-$(<number)-"*
}

@test "mixes: whichever waiters can judge a dead holder, the first in line is admitted" {
  need_own_pids
  [[ -n ${TSEM_BENCH-} ]] || skip 'the benchmark is not built here'
  # It gives up after ten seconds with a line "missing". Otherwise this test is not about its figures.
  DEADLINE=220 attempt sh -c 'echo $$ >number; exec "$@"' sh "$TSEM_BENCH" mixes --repetitions 1 --seconds 0.1
  expect_status 0
  expect_equal 'mixes without an admission' "$(grep '"missing"' attempt.out)" ''
  expect_equal 'mixes in three ways' "$(grep -vc '"all mixes"' attempt.out)" 21
}
