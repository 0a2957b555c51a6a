# SPDX-License-Identifier: MIT
load helper

@test "post: gives back a permit that was taken" {
  tsem create -j 2 "$SEM"
  tsem take -k 2 "$SEM"
  attempt tsem post "$SEM"
  expect_silence
  expect_shown '[.available, .held] | @csv' 1,1
  attempt tsem post -k 1 "$SEM"
  expect_silence
  expect_at_rest 2
}

@test "post: -p prints how many permits were available before" {
  tsem create -j 5 "$SEM"
  tsem take -k 4 "$SEM"
  attempt tsem post -p "$SEM"
  expect_status 0
  expect_out 1
  attempt tsem post "$SEM" --previous --count 3
  expect_status 0
  expect_out 2
  expect_at_rest 5
}

@test "post: without a maximum, it may go beyond the capacity" {
  tsem create "$SEM"
  attempt tsem post -p -k 4 "$SEM"
  expect_status 0
  expect_out 1
  expect_shown '[.capacity, .available, .held] | @csv' 1,5,0
}

@test "post: up to the maximum, and not beyond it" {
  tsem create -j 2 --max 4 "$SEM"
  attempt tsem post -k 2 "$SEM"
  expect_silence
  expect_shown .available 4
  refuses "^$SEM: .*maximum" post "$SEM"
  tsem take "$SEM"
  refuses "^$SEM: .*maximum" post -p -k 2 "$SEM"
  attempt tsem post "$SEM"
  expect_silence
}

@test "post: the maximum counts permits that waiters will take" {
  tsem create --max 1 "$SEM"
  tsem take "$SEM"
  enqueue tsem take "$SEM"
  attempt tsem post -k 2 "$SEM"
  expect_silence
  finish "$PID"
  expect_status 0
  expect_shown '[.available, .waiting] | @csv' 1,0
}

@test "post: more than the counters can count is refused" {
  tsem create "$SEM"
  set-counters.py "$FILE" 0 $(((1 << 46) - 2)) # grants may be 2^46 ahead of tickets at most
  refuses "^$SEM: " post -k 4294967295 "$SEM"
}

@test "post: enables as many waiters as there are permits, from the front of the queue" {
  tsem create "$SEM"
  tsem take "$SEM"
  local i waiters=()
  for i in {0..4}; do
    enqueue tsem take "$SEM"
    waiters+=("$PID")
  done
  tsem post -k 3 "$SEM"
  for i in 0 1 2; do
    finish "${waiters[i]}"
    expect_status 0
  done
  expect_shown '[.waiters[].pid] | @csv' "${waiters[3]},${waiters[4]}"
  tsem post -k 2 "$SEM"
  finish "${waiters[3]}"
  finish "${waiters[4]}"
  expect_shown '[.available, .held, .waiting] | @csv' 0,1,0
}

@test "post: the permits for one waiter may come one by one" {
  tsem create -j 3 "$SEM"
  tsem take -k 3 "$SEM"
  enqueue tsem take -k 3 "$SEM"
  tsem post "$SEM"
  tsem post "$SEM"
  expect_shown '[.waiting, .available] | @csv' 1,0
  tsem post "$SEM"
  finish "$PID"
  expect_status 0
}

@test "post: what run -j has created, a stray post does not widen" {
  start tsem run -j 1 "$SEM" sleep 1000
  eventually is_command_of "$PID"
  refuses "^$SEM: the post would exceed the limit: .*\\(nothing was posted; .*tsem set -j" post "$SEM"
  refuses "^$SEM: the post would exceed the limit: .*\\(nothing was posted; .*tsem set -j" post -p -k 2 "$SEM"
  attempt tsem run -n -j 1 "$SEM" true
  expect_silence 75
  kill "$COMMAND_PID"
  finish "$PID"
  refuses "^$SEM: the post would exceed the limit: .*\\(nothing was posted; .*tsem set -j" post "$SEM"
  attempt tsem take "$SEM"
  expect_silence
  attempt tsem post "$SEM"
  expect_silence
  expect_at_rest 1
  tsem set "$SEM" -j 2
  refuses "^$SEM: the post would exceed the limit: .*\\(nothing was posted; .*tsem set -j" post "$SEM"
  expect_at_rest 2
}

@test "post: ten posts at once do not widen it either" {
  tsem run -j 3 "$SEM" true
  tsem take -k 2 "$SEM"
  local i posts=() good=0
  for i in {1..10}; do
    tsem post "$SEM" 2>/dev/null &
    posts+=("$!")
  done
  for i in "${posts[@]}"; do
    ! wait "$i" || ((++good))
  done
  expect_equal 'posts that succeeded' "$good" 2
  expect_at_rest 3
}

@test "post: a semaphore that does not exist is refused" {
  refuses "^$SEM: no such semaphore" post "$SEM"
}
