#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A pid that has been given to another process: the start time tells the two apart.
load environments

# Each case is a function of the program pid-reuse.
reuse() {
  attempt own-pids pid-reuse "$1"
}

@test "pid reuse: of the owner of an acquired hold" {
  need_chosen_pids
  tsem create "$SEM"
  reuse acquired_hold
  expect_out $'no\nrelease: 125\ntake: 0'
  tsem post "$SEM"
  expect_at_rest 1
}

@test "pid reuse: of the command of run" {
  need_chosen_pids
  tsem create "$SEM"
  reuse command_of_run
  expect_out 'take: 0'
  tsem post "$SEM"
  expect_at_rest 1
}

@test "pid reuse: of a waiter, whose place is skipped" {
  need_chosen_pids
  tsem create "$SEM"
  tsem take "$SEM"
  reuse waiter
  expect_out 'take: 0'
  tsem post "$SEM"
  expect_at_rest 1
}

@test "pid reuse: the one that has the pid now holds nothing, and can acquire for itself" {
  need_chosen_pids
  tsem create -j 2 "$SEM"
  reuse acquire_again
  expect_out $'1\nrelease: 0\nagain: 125'
  expect_at_rest 2
}

@test "pid reuse: of the owner, while acquire waits" {
  need_chosen_pids
  tsem create "$SEM"
  tsem take "$SEM"
  reuse acquire_waits
  expect_out $'acquire: 125\ntake: 0'
  expect_message "^$SEM: process [0-9]+ ended before its permits were granted \\("
  tsem post "$SEM"
  expect_at_rest 1
}

@test "pid reuse: release leaves alone what an earlier process of that number has" {
  need_chosen_pids
  tsem create -j 2 "$SEM"
  reuse release_before_recovery
  expect_out $'release: 125\nrelease: 0\n1'
  expect_at_rest 2
}

@test "pid reuse: of an owner in another time namespace" {
  need_chosen_pids
  need_own_time
  tsem create "$SEM"
  reuse owner_in_another_time
  expect_out $'0\n0\n1'
  expect_at_rest 1
}
