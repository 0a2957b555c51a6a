# SPDX-License-Identifier: MIT
load helper

@test "release: gives back the newest hold of the process" {
  tsem create -j 9 "$SEM"
  owner
  local count
  for count in 4 3 2; do
    tsem acquire --owner "$OWNER" -k "$count" "$SEM"
  done
  attempt tsem release --owner "$OWNER" "$SEM"
  expect_silence
  expect_shown '[.holders[].count] | @csv' 4,3
  attempt tsem release "$SEM" --owner="$OWNER"
  expect_silence
  expect_shown '[.holders[].count] | @csv' 4
  attempt tsem release --owner "$OWNER" "$SEM"
  expect_silence
  expect_at_rest 9
}

@test "release: gives back a hold of this process only" {
  tsem create -j 3 "$SEM"
  owner
  local first=$OWNER
  owner
  tsem acquire --owner "$first" "$SEM"
  tsem acquire --owner "$OWNER" "$SEM"
  attempt tsem release --owner "$first" "$SEM"
  expect_silence
  expect_shown '[.holders[].pid] | @csv' "$OWNER"
  refuses "^$SEM: .*$first" release --owner "$first" "$SEM"
}

@test "release: admits the next waiter" {
  tsem create "$SEM"
  owner
  tsem acquire --owner "$OWNER" "$SEM"
  enqueue tsem take "$SEM"
  tsem release --owner "$OWNER" "$SEM"
  finish "$PID"
  expect_status 0
}

@test "release: is refused without a hold" {
  tsem create "$SEM"
  owner
  refuses "^$SEM: .*$OWNER.*acquire" release --owner "$OWNER" "$SEM"
  tsem take "$SEM"
  refuses "^$SEM: .*$OWNER" release --owner "$OWNER" "$SEM"
}

@test "release: twice is refused the second time" {
  tsem create "$SEM"
  owner
  tsem acquire --owner "$OWNER" "$SEM"
  tsem release --owner "$OWNER" "$SEM"
  refuses "^$SEM: " release --owner "$OWNER" "$SEM"
  expect_at_rest 1
}

@test "release: does not release the hold of a run" {
  tsem create "$SEM"
  hold
  refuses "^$SEM: " release --owner "$COMMAND_PID" "$SEM"
  refuses "^$SEM: " release --owner "$PID" "$SEM"
}

@test "release: is refused for a process that has ended; its hold comes back by itself" {
  tsem create "$SEM"
  leave_dead_owner
  attempt tsem release --owner "$OWNER" "$SEM"
  expect_failure "^$SEM: .*$OWNER"
  attempt tsem take -n "$SEM"
  expect_silence
}

@test "release: needs an owner, which must be possible" {
  tsem create "$SEM"
  refuses "^$SEM: .*--owner" release "$SEM"
  refuses "'0'" release --owner 0 "$SEM"
  refuses "'x'" release --owner x "$SEM"
}

@test "release: a semaphore that does not exist is refused" {
  refuses "^$SEM: no such semaphore" release --owner $$ "$SEM"
}
