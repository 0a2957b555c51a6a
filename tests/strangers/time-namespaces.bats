#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Time namespaces: clocks that run ahead. Deadlines are right, and nobody is taken for dead because of a start time.
# shellcheck disable=SC2016 # the scripts in quotes are for shells inside
load strangers

# In nanoseconds, by a clock that is the same in all time namespaces.
now() {
  date +%s%N
}

@test "time namespaces: a deadline is neither early nor missed" {
  need_own_time
  tsem create "$SEM"
  tsem take "$SEM"
  local began
  for verb in 'take' "acquire --owner $BASHPID"; do
    began=$(now)
    # shellcheck disable=SC2086
    attempt "${OWN_TIME[@]}" tsem $verb -w 0.3 "$SEM"
    expect_silence 75
    (($(now) - began >= 300000000)) || fail "gave up before its time: $verb"
  done
  tsem post "$SEM"
  expect_at_rest 1
}

@test "time namespaces: holders in one and here, alive" {
  need_own_time
  tsem create "$SEM"
  start "${OWN_TIME[@]}" tsem run "$SEM" sleep 1000
  eventually is_shown .held 1
  expect_not_robbed HERE OWN_TIME
  kill -KILL -- "-$PID"
  finish "$PID"
  eventually tsem run -n "$SEM" true

  hold
  expect_not_robbed HERE OWN_TIME
}

@test "time namespaces: the dead of another one are recovered, by their absence" {
  need_own_time
  tsem create "$SEM"
  start "${OWN_TIME[@]}" sh -c 'tsem acquire --owner $$ "$SEM" && exec sleep 1000'
  eventually is_shown .held 1
  expect_not_robbed HERE OWN_TIME
  kill -KILL -- "-$PID"
  finish "$PID"
  eventually expect_recovered

  start sleep 1000
  tsem acquire --owner "$PID" "$SEM"
  kill -KILL "$PID"
  finish "$PID"
  expect_recovered "${OWN_TIME[@]}"
}

@test "time namespaces: waiters in both are admitted in order" {
  need_own_time
  tsem create "$SEM"
  hold
  local holder=$COMMAND_PID last i
  for i in 1 2 3 4; do
    if ((i % 2)); then
      start "${OWN_TIME[@]}" tsem run "$SEM" sh -c 'echo "$0" >>order' "$i"
    else
      start tsem run "$SEM" sh -c 'echo "$0" >>order' "$i"
    fi
    last=$PID
    eventually is_shown .waiting "$i"
  done
  kill -TERM "$holder"
  finish "$last"
  expect_status 0
  expect_equal 'order' "$(tr '\n' ' ' <order)" '1 2 3 4 '
  eventually expect_at_rest 1
}

@test "time namespaces: an owner that moved into one after it acquired" {
  need_own_time
  tsem create "$SEM"
  # The command of run is unshare itself, which holds on while it turns into sleep, in another time.
  start tsem run "$SEM" unshare --time --boottime 100000 --monotonic 50000 sleep 1000
  eventually is_shown .held 1
  expect_not_robbed HERE OWN_TIME
  kill -KILL -- "-$PID"
  finish "$PID"
  eventually expect_recovered
}
