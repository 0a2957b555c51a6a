#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The pid of a dead process is given to another one: the start time tells them apart.
load environments

# Runs a case: a function of the program pid-reuse.
reuse() {
  attempt own-pids pid-reuse "$1"
}

@test "pid reuse: the owner of an acquired hold" {
  need_chosen_pids
  tsem create "$SEM"
  reuse acquired_hold
  expect_out $'no\nrelease: 125\ntake: 0'
  tsem post "$SEM"
  expect_at_rest 1
}

@test "pid reuse: the command of run" {
  need_chosen_pids
  tsem create "$SEM"
  reuse command_of_run
  expect_out 'take: 0'
  tsem post "$SEM"
  expect_at_rest 1
}

@test "pid reuse: a waiter, which is skipped" {
  need_chosen_pids
  tsem create "$SEM"
  tsem take "$SEM"
  reuse waiter
  expect_out 'take: 0'
  tsem post "$SEM"
  expect_at_rest 1
}

@test "pid reuse: the new process with the pid holds nothing, and can acquire for itself" {
  need_chosen_pids
  tsem create -j 2 "$SEM"
  reuse acquire_again
  expect_out $'1\nrelease: 0\nagain: 125'
  expect_at_rest 2
}

@test "pid reuse: the owner, while acquire waits" {
  need_chosen_pids
  tsem create "$SEM"
  tsem take "$SEM"
  reuse acquire_waits
  expect_out $'acquire: 125\ntake: 0'
  expect_message "^$SEM: process [0-9]+ ended before its permits were granted \\("
  tsem post "$SEM"
  expect_at_rest 1
}

@test "pid reuse: release does not release a hold of an earlier process with the pid" {
  need_chosen_pids
  tsem create -j 2 "$SEM"
  reuse release_before_recovery
  expect_out $'release: 125\nrelease: 0\n1'
  expect_at_rest 2
}

@test "pid reuse: an owner in another time namespace" {
  need_chosen_pids
  need_own_time
  tsem create "$SEM"
  reuse owner_in_another_time
  expect_out $'0\n0\n1'
  expect_at_rest 1
}
