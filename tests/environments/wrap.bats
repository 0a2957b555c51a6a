#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The counters pass 2^48 while processes wait.
# shellcheck disable=SC2016 # the scripts in quotes are for inner shells
load environments

@test "wrap: waiters on both sides of the counters' end leave in order" {
  tsem create "$SEM"
  set-counters.py "$FILE" -10 -10 # below the end
  expect_at_rest 1
  hold
  local holder=$COMMAND_PID waiters=() i
  for i in {01..20}; do
    enqueue tsem run "$SEM" bash -c 'echo "$0" >>order' "$i"
    waiters+=("$PID")
  done
  expect_shown .ticket 11
  kill -KILL "${waiters[8]}" "${waiters[9]}" "${waiters[10]}"
  kill -KILL "$holder"
  for i in "${waiters[@]}"; do
    finish "$i"
  done
  expect_equal order "$(tr '\n' ' ' <order)" '01 02 03 04 05 06 07 08 12 13 14 15 16 17 18 19 20 '
  expect_at_rest 1
}

@test "wrap: dead holders on both sides of the counters' end" {
  tsem create -j 4 "$SEM"
  set-counters.py "$FILE" -2 -2 # below the end
  local dead=()
  for _ in 1 2 3 4; do
    hold
    dead+=("$PID" "$COMMAND_PID")
  done
  expect_shown '[.ticket, .held, .available] | @csv' 2,4,0
  attempt tsem take -n "$SEM"
  expect_silence 75
  kill -KILL "${dead[@]}"
  local pid
  for pid in "${dead[@]}"; do
    eventually has_ended "$pid"
  done
  attempt tsem run -n -k 4 "$SEM" true
  expect_silence
  expect_at_rest 4
}

@test "wrap: a queue that is too long for the counters is refused" {
  tsem create "$SEM"
  set-counters.py "$FILE" $(((1 << 46) + 1)) 0 # tickets, and no grant
  local before
  before=$(semaphore_state)
  for words in "take $SEM" "acquire --owner $$ $SEM" "run $SEM touch ran"; do
    # shellcheck disable=SC2086
    refuses "^$SEM: the counters cannot go that far" $words
  done
  attempt tsem take -n "$SEM" # a try takes no ticket
  expect_silence 75
  expect_equal 'the semaphore afterwards' "$(semaphore_state)" "$before"
  [[ ! -e ran ]]
}
