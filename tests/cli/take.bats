# SPDX-License-Identifier: MIT
load helper

@test "take: a permit is taken, and no holder is recorded" {
  tsem create -j 3 "$SEM"
  attempt tsem take "$SEM"
  expect_silence
  expect_shown '[.available, .held, .waiting, (.holders | length)] | @csv' 2,1,0,0
}

@test "take: the permit outlives the process: only post gives it back" {
  tsem create "$SEM"
  tsem take "$SEM"
  expect_equal 'recovered' "$(tsem recover "$SEM")" 0
  attempt tsem take -n "$SEM"
  expect_silence 75
  tsem post "$SEM"
  expect_at_rest 1
}

@test "take: -k takes several or none" {
  tsem create -j 3 "$SEM"
  attempt tsem take -k 2 "$SEM"
  expect_silence
  expect_shown .available 1
  attempt tsem take --count=2 -n "$SEM"
  expect_silence 75
  expect_shown '[.available, .held] | @csv' 1,2
  attempt tsem take "$SEM" -k1 -n
  expect_silence
  expect_shown '[.available, .held] | @csv' 0,3
}

@test "take: big counts" {
  tsem create -j 4294967295 "$SEM"
  attempt tsem take -k 4294967295 "$SEM"
  expect_silence
  expect_shown '[.available, .held] | @csv' 0,4294967295
  attempt tsem take -n "$SEM"
  expect_silence 75
  tsem post -k 4294967295 "$SEM"
  expect_at_rest 4294967295
}

@test "take: -n does not wait and changes nothing" {
  tsem create "$SEM"
  tsem take "$SEM"
  local before
  before=$(semaphore_state)
  attempt tsem take -n "$SEM"
  expect_silence 75
  attempt tsem take --nonblock "$SEM"
  expect_silence 75
  expect_equal 'the semaphore afterwards' "$(semaphore_state)" "$before"
}

@test "take: -w gives up in time, and leaves the queue" {
  tsem create "$SEM"
  tsem take "$SEM"
  local duration
  for duration in 0.05 50ms .05s 0 0.001m; do
    attempt tsem take -w "$duration" "$SEM"
    expect_in_vain
  done
  attempt tsem take --timeout=0.02 "$SEM"
  expect_in_vain
  expect_shown '[.waiting, (.waiters | length)] | @csv' 0,0
  tsem post "$SEM"
  expect_at_rest 1
}

@test "take: -w takes an available permit, and one that becomes available in time" {
  tsem create "$SEM"
  attempt tsem take -w 0 "$SEM"
  expect_silence
  enqueue tsem take -w 1h "$SEM"
  tsem post "$SEM"
  finish "$PID"
  expect_status 0
  expect_shown '[.available, .held, .waiting] | @csv' 0,1,0
}

@test "take: -E replaces the exit status of -n and -w only" {
  tsem create "$SEM"
  attempt tsem take -E 9 -n "$SEM"
  expect_silence
  attempt tsem take -E 9 -n "$SEM"
  expect_silence 9
  attempt tsem take -w 0.01 --conflict-exit-code 0 "$SEM"
  expect_in_vain 0
  expect_shown .held 1
  attempt tsem take -n -E 255 "$SEM"
  expect_silence 255
  refuses "^$SEM: " take -E 9 -n -k 2 "$SEM"
}

@test "take: waits without a deadline by default, and is shown as not owned" {
  tsem create "$SEM"
  tsem take "$SEM"
  enqueue tsem take "$SEM"
  expect_shown '.waiters[0] | [.pid, .count, .owned, .alive, .position] | @csv' "$PID,1,false,\"yes\",1"
  tsem post "$SEM"
  finish "$PID"
  expect_status 0
}

@test "take: a newcomer does not overtake a waiter, even if there are enough permits for it" {
  tsem create -j 3 "$SEM"
  tsem take -k 2 "$SEM"
  enqueue tsem take -k 2 "$SEM"
  attempt tsem take -n "$SEM"
  expect_silence 75
  tsem post "$SEM"
  finish "$PID"
  expect_status 0
  expect_shown '[.available, .held, .waiting] | @csv' 0,3,0
}

@test "take: when the first waiter gives up, the next one gets the available permits" {
  tsem create -j 3 "$SEM"
  tsem take -k 2 "$SEM"
  enqueue tsem take -k 2 "$SEM"
  local first=$PID
  enqueue tsem take "$SEM"
  kill -TERM "$first"
  finish "$PID"
  expect_status 0
  expect_shown '[.available, .held, .waiting] | @csv' 0,3,0
}

@test "take: a signal kills the waiter, and gives the place up" {
  tsem create "$SEM"
  tsem take "$SEM"
  local signal
  for signal in TERM INT HUP QUIT; do
    enqueue tsem take "$SEM"
    kill -"$signal" "$PID"
    finish "$PID"
    expect_status $((128 + $(kill -l "$signal")))
    expect_shown '[.waiting, (.waiters | length)] | @csv' 0,0
  done
  tsem post "$SEM"
  expect_at_rest 1
}

@test "take: -k up to what was posted, and not more" {
  tsem create "$SEM"
  tsem post -k 3 "$SEM"
  refuses "^$SEM: 5 permits are more than there are \\(ask for 1 to 4\\)" take -k 5 "$SEM"
  attempt tsem take -k 3 "$SEM"
  expect_silence
  refuses "^$SEM: 2 permits are more than there are \\(ask for 1 to 1\\)" take -k 2 "$SEM"
  attempt tsem take "$SEM"
  expect_silence
}

@test "take: -v prints why it failed" {
  tsem create "$SEM"
  tsem take "$SEM"
  attempt tsem take -v -n "$SEM"
  expect_status 75
  expect_match 'standard error' "$ERR" "^tsem: $SEM: "
  attempt tsem take --verbose -w 0.02 "$SEM"
  expect_status 75
  expect_match 'standard error' "$ERR" "^tsem: $SEM: "
}

@test "take: without a name, or with further words, is refused" {
  refuses 'NAME' take
  refuses "'surplus'" take "$SEM" surplus
}

# A waiter that gives up removes its own ticket, so that no other process has to find it: each ticket of a waiter that
# gave up has its grant, and the ticket of the holder has not.
@test "take: a waiter that gives up leaves nothing in the queue" {
  tsem create "$SEM"
  tsem take "$SEM"
  attempt tsem take -w 0.05 "$SEM"
  expect_in_vain
  expect_shown '[.ticket, .grant] | @csv' 2,1
  attempt tsem acquire -w 0.05 --owner $$ "$SEM"
  expect_in_vain
  expect_shown '[.ticket, .grant] | @csv' 3,2
  enqueue tsem run "$SEM" true
  kill -TERM "$PID"
  finish "$PID"
  expect_status 143
  expect_shown '[.ticket, .grant] | @csv' 4,3

  # Behind another waiter, as soon as that one is at the front of the queue.
  enqueue tsem take "$SEM"
  attempt tsem take -w 0.05 "$SEM"
  expect_in_vain
  expect_shown '[.ticket, .grant, .waiting] | @csv' 6,3,1
  tsem post "$SEM"
  finish "$PID"
  expect_status 0
  expect_shown '[.ticket, .grant, .waiting] | @csv' 6,5,0
}
