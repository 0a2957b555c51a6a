#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Live owners that look dead, dead owners that look alive, and checks that the system refuses.
# shellcheck disable=SC2016 # the scripts in quotes are for inner shells
load environments

# Starts a holder whose first thread has ended. Its other thread lives until something comes through the FIFO: PID.
start_leaderless() {
  skip_under thread 'ThreadSanitizer does not know a first thread that has ended'
  mkfifo fifo
  start sh -c 'exec leaderless "$SEM" <fifo >alone'
  exec 9>fifo
  eventually grep -qx alone alone
  eventually is_zombie "$PID"
}

end_leaderless() {
  exec 9>&-
  finish "$PID"
  expect_status 0
}

# Leaves a dead holder that its stopped parent does not reap: COMMAND_PID.
start_zombie() {
  hold
  kill -STOP "$PID"
  kill -KILL "$COMMAND_PID"
  eventually is_zombie "$COMMAND_PID"
}

need_refuse() {
  need 'a seccomp filter' refuse pidfd_open,kill true
}

@test "liveness: a process lives as long as one of its threads" {
  tsem create "$SEM"
  start_leaderless
  expect_shown '.holders[0].alive' yes
  expect_none_available
  end_leaderless
  expect_recovered
}

@test "liveness: the same, where pidfd_open is refused" {
  need_refuse
  tsem create "$SEM"
  start_leaderless
  expect_none_available refuse pidfd_open
  end_leaderless
  expect_recovered refuse pidfd_open
}

@test "liveness: the same, seen from another time namespace" {
  need_own_time
  tsem create "$SEM"
  start_leaderless
  expect_none_available own-time
  end_leaderless
  expect_recovered own-time
}

expect_zombie_recovered() {
  tsem create "$SEM"
  start_zombie
  expect_recovered "$@"
  tsem remove "$SEM"
}

@test "liveness: a zombie is dead, also where pidfd_open is refused" {
  need_refuse
  expect_zombie_recovered
  expect_zombie_recovered refuse pidfd_open
}

@test "liveness: a zombie is dead, also in another time namespace where pidfd_open is refused" {
  need_own_time
  need_refuse
  expect_zombie_recovered own-time
  expect_zombie_recovered own-time refuse pidfd_open
}

@test "liveness: where no check is possible, no process counts as dead" {
  need_refuse
  need 'a PID namespace' own-pids-foreign-proc true
  tsem create "$SEM"
  attempt own-pids-foreign-proc pid-namespace nothing_answers
  expect_out $'refused: 75\ngone: 0'
}

@test "liveness: without kill and pidfd_open, /proc still tells dead processes from live ones" {
  need_refuse
  tsem create "$SEM"
  hold
  expect_none_available refuse pidfd_open,kill
  kill -STOP "$PID"
  kill -KILL "$COMMAND_PID"
  eventually is_zombie "$COMMAND_PID"
  expect_recovered refuse pidfd_open,kill
}

@test "liveness: a stopped holder keeps its permit" {
  tsem create "$SEM"
  hold
  kill -STOP "$PID" "$COMMAND_PID"
  expect_none_available
  expect_shown '.holders[0].alive' yes
  kill -CONT "$COMMAND_PID"
  kill -TERM "$COMMAND_PID"
  kill -CONT "$PID"
  finish "$PID"
  expect_status 143
  expect_at_rest 1
}

@test "liveness: a stopped waiter keeps its place, and its permit when it is enabled" {
  tsem create "$SEM"
  tsem take "$SEM"
  enqueue tsem run "$SEM" touch first
  local first=$PID
  kill -STOP "$first"
  enqueue tsem run "$SEM" sh -c '[ -e first ] && touch second'
  tsem post "$SEM"
  expect_none_available
  expect_shown '[.holders[].pid, .waiters[].pid] | @csv' "$first,$PID"
  kill -CONT "$first"
  finish "$first"
  finish "$PID"
  [[ -e second ]]
  expect_at_rest 1
}

@test "liveness: an emulator that invents what a process reads about itself" {
  need 'a mount namespace' unshare --mount true
  tsem create "$SEM"
  hold
  need 'mounting on a file in /proc' unshare --mount forged-stat true
  enqueue unshare --mount forged-stat tsem run "$SEM" true
  expect_none_available
  expect_shown '.waiters[0] | [.pid, .alive] | @csv' "$PID,\"yes\""
  kill -TERM "$COMMAND_PID"
  finish "$PID"
  expect_status 0
  expect_at_rest 1
}
