# SPDX-License-Identifier: MIT
load helper

@test "cancel: every waiter gives up with status 75, and holders go on" {
  tsem create "$SEM"
  hold
  local holder=$PID pids=()
  enqueue tsem run "$SEM" touch ran
  pids+=("$PID")
  enqueue tsem take "$SEM"
  pids+=("$PID")
  enqueue tsem acquire --owner $$ -E 3 "$SEM"
  attempt tsem cancel "$SEM"
  expect_silence
  finish "$PID"
  expect_status 3
  for PID in "${pids[@]}"; do
    finish "$PID"
    expect_status 75
  done
  [[ ! -e ran ]]
  expect_shown '[.held, .waiting] | @csv' 1,0
  kill -0 "$holder"
}

@test "cancel: later callers wait" {
  tsem create "$SEM"
  hold
  tsem cancel "$SEM"
  enqueue tsem run "$SEM" touch ran
  kill "$COMMAND_PID"
  finish "$PID"
  expect_status 0
  [[ -e ran ]]
}

@test "cancel: no waiters, and a missing semaphore" {
  tsem create "$SEM"
  attempt tsem cancel "$SEM"
  expect_silence
  expect_at_rest 1
  refuses "^$SEM-none: no such semaphore" cancel "$SEM-none"
}

@test "cancel: -v: waiters say that they were cancelled" {
  tsem create "$SEM"
  tsem take "$SEM"
  enqueue sh -c 'tsem take -v "$SEM" 2>said'
  tsem cancel "$SEM"
  finish "$PID"
  expect_status 75
  expect_equal 'the last line' "$(tail -n 1 said)" \
    "tsem: $SEM: the wait was cancelled, 1 permit was taken and not posted back (give it back with 'tsem post $SEM')"
}

@test "cancel: --owner: one waiter gives up, and those behind it move up" {
  tsem create "$SEM"
  hold
  local holder=$PID first second
  enqueue tsem run "$SEM" touch ran
  first=$PID
  enqueue tsem take "$SEM"
  second=$PID
  attempt tsem cancel --owner "$first" "$SEM"
  expect_silence
  finish "$first"
  expect_status 75
  expect_shown '[.waiters[].pid] | @csv' "$second"
  refuses "^$SEM: process $holder does not wait" cancel --owner "$holder" "$SEM"
  refuses "^$SEM: process $first does not wait" cancel --owner "$first" "$SEM"
  attempt tsem cancel "$SEM" --owner "$second"
  expect_silence
  finish "$second"
  expect_status 75
  [[ ! -e ran ]]
}

@test "cancel: --owner: a stopped waiter keeps its place until it goes on" {
  tsem create "$SEM"
  hold
  enqueue tsem take "$SEM"
  kill -STOP "$PID"
  tsem cancel --owner "$PID" "$SEM"
  expect_shown .waiting 1
  kill -CONT "$PID"
  finish "$PID"
  expect_status 75
  expect_shown .waiting 0
}
