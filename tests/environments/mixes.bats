#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Waiters in and outside of a container, of which only some can find that the holder is dead (it has no presence lock).
load environments

@test "mixes: whichever waiters can judge a dead holder, the first in line is admitted" {
  need_own_pids
  [[ -n ${TSEM_BENCH-} ]] || skip 'the benchmark is not built here'
  local -x DEADLINE=220
  # A workload of the benchmark. It gives up after ten seconds; otherwise this test is not about its figures.
  attempt "$TSEM_BENCH" mixes --repetitions 1 --seconds 0.1
  expect_status 0
  expect_equal 'mixes without an admission' "$(grep '"missing"' attempt.out)" ''
  expect_equal 'mixes in three ways' "$(grep -vc '"all mixes"' attempt.out)" 21
}
