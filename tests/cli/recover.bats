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

@test "recover: --owner: a live process keeps its permits, and the message says how to end it" {
  tsem create -j 2 "$SEM"
  owner
  tsem acquire --owner "$PID" "$SEM"
  refuses "^$SEM: process $PID is alive .*'kill $PID'" recover --owner "$PID" "$SEM"
  refuses "^$SEM: process $PID is alive .*'kill $PID'" recover --owner "$PID" --force "$SEM"
  expect_shown .held 1
}

@test "recover: --owner: only this owner, all of its holds" {
  tsem create -j 5 "$SEM"
  start sleep 1000
  local other=$PID
  start sleep 1000
  tsem acquire --owner "$PID" -k 2 "$SEM"
  tsem acquire --owner "$PID" "$SEM"
  tsem acquire --owner "$other" "$SEM"
  kill -KILL "$PID" "$other"
  finish "$PID"
  finish "$other"
  attempt tsem recover "$SEM" --owner "$PID"
  expect_status 0
  expect_out 3
  expect_shown '[.held, .holders[].pid] | @csv' "1,$other"
  refuses "^$SEM: process $PID does not hold or wait" recover --owner "$PID" "$SEM"
  attempt tsem recover -f --owner "$other" "$SEM"
  expect_out 1
  expect_at_rest 5
}

@test "recover: --owner: for a live waiter, the message names cancel" {
  tsem create "$SEM"
  tsem take "$SEM"
  enqueue tsem take "$SEM"
  refuses "^$SEM: process $PID is alive .*'tsem cancel --owner $PID $SEM'" recover --owner "$PID" --force "$SEM"
}

@test "recover: --force and --pid-ns need --owner" {
  tsem create "$SEM"
  refuses "^$SEM: --force needs --owner PID" recover --force "$SEM"
  refuses "^$SEM: --pid-ns needs --owner PID" recover --pid-ns 1 "$SEM"
  refuses "^$SEM: --pid-ns needs --owner PID" cancel --pid-ns 1 "$SEM"
  refuses owner recover --owner 0 "$SEM"
  refuses pid-ns recover --owner 1 --pid-ns x "$SEM"
}
