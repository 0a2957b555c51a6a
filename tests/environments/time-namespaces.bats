#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Clocks of time namespaces run ahead. Deadlines are right, and no owner counts as dead because of its start time.
# shellcheck disable=SC2016 # the scripts in quotes are for inner shells
load environments

# The time in nanoseconds, by a clock that is the same in all time namespaces.
now() {
  date +%s%N
}

# The process PID has the only permit, as seen from here and from another time namespace. Then it is killed.
expect_held_until_killed() {
  eventually is_shown .held 1 &&
    expect_none_available &&
    expect_none_available own-time &&
    kill -KILL -- "-$PID" &&
    finish "$PID"
}

@test "time namespaces: a deadline is neither early nor missed" {
  need_own_time
  tsem create "$SEM"
  tsem take "$SEM"
  local began
  for verb in 'take' "acquire --owner $BASHPID"; do
    began=$(now)
    # shellcheck disable=SC2086
    attempt own-time tsem $verb -w 0.3 "$SEM"
    expect_in_vain
    (($(now) - began >= 300000000)) || fail "gave up before its time: $verb"
  done
  tsem post "$SEM"
  expect_at_rest 1
}

@test "time namespaces: holders in one and here, alive" {
  need_own_time
  tsem create "$SEM"
  start own-time tsem run "$SEM" sleep 1000
  expect_held_until_killed
  eventually tsem run -n "$SEM" true

  hold
  expect_none_available
  expect_none_available own-time
}

@test "time namespaces: dead owners of another namespace are recovered, because they are absent" {
  need_own_time
  tsem create "$SEM"
  start own-time sh -c 'tsem acquire --owner $$ "$SEM" && exec sleep 1000'
  expect_held_until_killed
  eventually expect_recovered

  leave_dead_owner
  expect_recovered own-time
}

@test "time namespaces: waiters in both are admitted in order" {
  need_own_time
  tsem create "$SEM"
  hold
  local holder=$COMMAND_PID last i
  for i in 1 2 3 4; do
    if ((i % 2)); then
      start own-time tsem run "$SEM" sh -c 'echo "$0" >>order' "$i"
    else
      start tsem run "$SEM" sh -c 'echo "$0" >>order' "$i"
    fi
    last=$PID
    eventually is_shown .waiting "$i"
  done
  kill -TERM "$holder"
  finish "$last"
  expect_status 0
  expect_equal 'order' "$(tr '\n' ' ' <order)" '1 2 3 4 '
  eventually expect_at_rest 1
}

@test "time namespaces: an owner that moves into one after it has acquired" {
  need_own_time
  tsem create "$SEM"
  # The command of run is unshare, which holds and then executes sleep in another time namespace.
  start tsem run "$SEM" unshare --time --boottime 100000 --monotonic 50000 sleep 1000
  expect_held_until_killed
  eventually expect_recovered
}

@test "time namespaces: a live owner whose time namespace has ended, and another one has its number" {
  need_own_time
  tsem create "$SEM"
  # The shell is in a time namespace, acquires there, and executes sleep in another one.
  start unshare --time --boottime 100000 sh -c 'readlink /proc/self/ns/time >number &&
    tsem acquire --owner $$ "$SEM" && exec unshare --time --boottime 200000 sleep 1000'
  eventually grep -qx sleep "/proc/$PID/comm"
  local number
  number=$(<number)
  if [[ $number == "$(readlink /proc/self/ns/time)" || $number == "$(readlink "/proc/$PID/ns/time")" ]]; then
    skip 'exec does not take a process to the time namespace of its children here'
  fi
  attempt recover-there "$number" 0
  # shellcheck disable=SC2153 # attempt sets it
  ((STATUS != 77)) || skip "the number of a time namespace did not come back: $number"
  expect_status 0
  expect_out 0
  expect_none_available
  expect_none_available own-time
  kill -KILL -- "-$PID"
  finish "$PID"
  eventually expect_recovered
}
