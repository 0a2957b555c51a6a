# SPDX-License-Identifier: MIT
load helper

@test "recover: nothing to recover" {
  tsem create -j 3 "$SEM"
  attempt tsem recover "$SEM"
  expect_status 0
  expect_out 0
  expect_err ''
  expect_at_rest 3
}

@test "recover: prints how many permits came back, once only" {
  tsem create -j 9 "$SEM"
  local i owners=()
  for i in 2 3; do
    start sleep 1000
    owners+=("$PID")
    tsem acquire --owner "$PID" -k "$i" "$SEM"
  done
  start sleep 1000
  tsem acquire --owner "$PID" -k 4 "$SEM"
  kill -KILL "${owners[@]}"
  finish "${owners[0]}"
  finish "${owners[1]}"
  attempt tsem recover "$SEM"
  expect_status 0
  expect_out 5
  expect_shown '[.available, .held, .holders[].pid] | @csv' "5,4,$PID"
  attempt tsem recover "$SEM"
  expect_out 0
}

@test "recover: takes no permit from live holders, nor from a stopped one" {
  tsem create -j 2 "$SEM"
  hold
  kill -STOP "$PID" "$COMMAND_PID"
  tsem take "$SEM"
  enqueue tsem take "$SEM"
  kill -STOP "$PID"
  attempt tsem recover "$SEM"
  expect_status 0
  expect_out 0
  expect_shown '[.available, .held, .waiting] | @csv' 0,2,1
}

@test "recover: skips dead waiters in the queue" {
  tsem create "$SEM"
  tsem take "$SEM"
  local i waiters=()
  for i in 0 1 2; do
    enqueue tsem take "$SEM"
    waiters+=("$PID")
  done
  kill -KILL "${waiters[@]}"
  for i in 0 1 2; do
    finish "${waiters[i]}"
  done
  tsem post "$SEM"
  attempt tsem recover "$SEM"
  expect_status 0
  attempt tsem recover "$SEM"
  expect_out 0
  expect_at_rest 1
}

@test "recover: a semaphore that does not exist is refused" {
  refuses "^$SEM: no such semaphore" recover "$SEM"
  refuses NAME recover
}
