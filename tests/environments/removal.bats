#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The file of a semaphore is deleted or renamed while processes hold the semaphore and wait for it.
# shellcheck disable=SC2016 # the scripts in quotes are for inner shells
load environments

# Runs a command, and expects the processes after -- to end within a second. The time by which this machine wakes a
# sleeper late is allowed in addition.
expect_end_within_a_second() {
  local began=${EPOCHREALTIME/./} ended woken late
  "$@"
  start bash -c 'sleep 1; echo "${EPOCHREALTIME/./}" >clock.new; mv clock.new clock'
  finish "$WAITER"
  ended=${EPOCHREALTIME/./}
  eventually test -e clock
  woken=$(<clock)
  late=$((woken - began - 1000000))
  echo "ended after $((ended - began)) us; this machine was late by $late us"
  ((ended - began <= 1000000 + late)) || fail "it ended only after $((ended - began)) us"
}

@test "removal: the file is deleted: waiters fail within a second" {
  local verb
  for verb in take run; do
    tsem create "$SEM"
    tsem take "$SEM"
    # shellcheck disable=SC2046 # `run` needs a command
    start tsem "$verb" "$SEM" $([[ $verb == take ]] || echo true)
    eventually is_waiting "$PID"
    WAITER=$PID
    expect_end_within_a_second rm "$FILE"
    expect_status 125
    rm -f clock
  done
}

@test "removal: deleted and created again: the new semaphore is independent of the old one" {
  tsem create "$SEM"
  hold
  local holder=$PID command=$COMMAND_PID
  enqueue tsem take "$SEM"
  WAITER=$PID
  rm "$FILE"
  tsem create -j 2 "$SEM"
  expect_at_rest 2
  attempt tsem run -n -k 2 "$SEM" echo ran
  expect_out ran
  finish "$WAITER"
  expect_status 125
  kill -TERM "$command"
  finish "$holder"
  expect_status 143
  expect_at_rest 2
}

@test "removal: run -j goes on with a new semaphore" {
  tsem create "$SEM"
  hold
  enqueue tsem run -j 1 "$SEM" touch ran
  rm "$FILE"
  finish "$PID"
  expect_status 0
  [[ -e ran ]]
  expect_at_rest 1
}

@test "removal: the file is renamed: its users go on, and the name is free" {
  tsem create "$SEM"
  hold
  local command=$COMMAND_PID
  enqueue tsem run "$SEM" touch ran
  mv "$FILE" "$FILE-moved"
  tsem create "$SEM"
  attempt tsem run -n "$SEM" true
  expect_silence
  kill -TERM "$command"
  finish "$PID"
  expect_status 0
  [[ -e ran ]]
  expect_at_rest 1
}
