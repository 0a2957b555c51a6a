# SPDX-License-Identifier: MIT
load helper

@test "take: a permit is gone, and nobody is recorded for it" {
  tsem create -j 3 "$SEM"
  attempt tsem take "$SEM"
  expect_silence
  expect_shown '[.available, .held, .waiting, (.holders | length)] | @csv' 2,1,0,0
}

@test "take: outlives its process: only post gives it back" {
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
  before=$(books)
  attempt tsem take -n "$SEM"
  expect_silence 75
  attempt tsem take --nonblock "$SEM"
  expect_silence 75
  expect_equal 'the semaphore afterwards' "$(books)" "$before"
}

@test "take: -w gives up in time, and its place with it" {
  tsem create "$SEM"
  tsem take "$SEM"
  local duration
  for duration in 0.05 50ms .05s 0 0.001m; do
    attempt tsem take -w "$duration" "$SEM"
    expect_silence 75
  done
  attempt tsem take --timeout=0.02 "$SEM"
  expect_silence 75
  expect_shown '[.waiting, (.waiters | length)] | @csv' 0,0
  tsem post "$SEM"
  expect_at_rest 1
}

@test "take: -w takes what is free, and what comes free in time" {
  tsem create "$SEM"
  attempt tsem take -w 0 "$SEM"
  expect_silence
  enqueue tsem take -w 1h "$SEM"
  tsem post "$SEM"
  finish "$PID"
  expect_status 0
  expect_shown '[.available, .held, .waiting] | @csv' 0,1,0
}

@test "take: -E replaces the exit status of -n and -w, of nothing else" {
  tsem create "$SEM"
  attempt tsem take -E 9 -n "$SEM"
  expect_silence
  attempt tsem take -E 9 -n "$SEM"
  expect_silence 9
  attempt tsem take -w 0.01 --conflict-exit-code 0 "$SEM"
  expect_silence 0
  expect_shown .held 1
  attempt tsem take -n -E 255 "$SEM"
  expect_silence 255
  refuses "^$SEM: " take -E 9 -n -k 2 "$SEM"
}

@test "take: the wait is without end unless told otherwise, and is shown as not owned" {
  tsem create "$SEM"
  tsem take "$SEM"
  enqueue tsem take "$SEM"
  expect_shown '.waiters[0] | [.pid, .count, .owned, .alive, .position] | @csv' "$PID,1,false,\"yes\",1"
  tsem post "$SEM"
  finish "$PID"
  expect_status 0
}

@test "take: a newcomer never overtakes a waiter, even if there is enough for it" {
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

@test "take: once a waiter in front gives up, the one behind it gets what is there" {
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

@test "take: a signal ends the wait, by that signal, and gives the place up" {
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

@test "take: -v says why it failed" {
  tsem create "$SEM"
  tsem take "$SEM"
  attempt tsem take -v -n "$SEM"
  expect_status 75
  expect_match 'standard error' "$ERR" "^tsem: $SEM: "
  attempt tsem take --verbose -w 0.02 "$SEM"
  expect_status 75
  expect_match 'standard error' "$ERR" "^tsem: $SEM: "
}

@test "take: without the name, or with too many words, is refused" {
  refuses 'NAME' take
  refuses "'surplus'" take "$SEM" surplus
}

# Whoever gives up takes the place out of the line, so that nobody has to find it there: each ticket of those who have
# gone has its grant, and the one that is held has not.
@test "take: a place that is given up is gone when its waiter is" {
  tsem create "$SEM"
  tsem take "$SEM"
  attempt tsem take -w 0.05 "$SEM"
  expect_silence 75
  expect_shown '[.ticket, .grant] | @csv' 2,1
  attempt tsem acquire -w 0.05 --owner $$ "$SEM"
  expect_silence 75
  expect_shown '[.ticket, .grant] | @csv' 3,2
  enqueue tsem run "$SEM" true
  kill -TERM "$PID"
  finish "$PID"
  expect_status 143
  expect_shown '[.ticket, .grant] | @csv' 4,3

  # Behind somebody who waits, as soon as the line has come so far.
  enqueue tsem take "$SEM"
  attempt tsem take -w 0.05 "$SEM"
  expect_silence 75
  expect_shown '[.ticket, .grant, .waiting] | @csv' 6,3,1
  tsem post "$SEM"
  finish "$PID"
  expect_status 0
  expect_shown '[.ticket, .grant, .waiting] | @csv' 6,5,0
}
