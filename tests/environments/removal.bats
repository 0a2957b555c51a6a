#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A semaphore whose file is deleted, and made anew, while others hold it and wait for it.
# shellcheck disable=SC2016 # the scripts in quotes are for shells inside
load environments

# Does what is said, and expects the processes named behind -- to end within a second of it, not counting how much
# later than asked for this machine wakes up a sleeper.
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

@test "removal: the file deleted: waiters fail within a second" {
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

@test "removal: deleted and made anew: the new one has nothing to do with the old one" {
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

@test "removal: run -j goes on with a new one" {
  tsem create "$SEM"
  hold
  enqueue tsem run -j 1 "$SEM" touch ran
  rm "$FILE"
  finish "$PID"
  expect_status 0
  [[ -e ran ]]
  expect_at_rest 1
}

@test "removal: renamed away: its users go on, and the name is free" {
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
