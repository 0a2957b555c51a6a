# SPDX-License-Identifier: MIT
# First come, first served, and never more holders than permits. The independent check is a file to which every process
# appends.
load helper

inversions() {
  awk 'NR > 1 && $1 < last { n++ } { last = $1 } END { print n + 0 }' "$1"
}

@test "order: 40 staggered waiters leave in the order they came" {
  tsem create "$SEM"
  hold
  local holder=$COMMAND_PID i
  for i in {1..40}; do
    enqueue tsem run "$SEM" bash -c 'echo "$0" >>order' "$i"
  done
  expect_shown .waiting 40
  kill -TERM "$holder"
  all_succeed "${STARTED[@]:1}"
  expect_equal 'how many' "$(wc -l <order)" 40
  expect_equal 'inversions' "$(inversions order)" 0
  expect_at_rest 1
}

@test "order: every kind of waiter waits in the same queue" {
  tsem create "$SEM"
  tsem take "$SEM"
  start sleep 1000
  local owner=$PID i kinds
  kinds=(
    'tsem take "$SEM" && echo "$0" >>order && tsem post "$SEM"'
    'tsem acquire --owner "$1" "$SEM" && echo "$0" >>order && tsem release --owner "$1" "$SEM"'
    'tsem run "$SEM" bash -c "echo $0 >>order"'
    'tsem run -w 1h -j 1 "$SEM" -c "echo $0 >>order"'
  )
  for i in {1..20}; do
    start bash -c "${kinds[i % 4]}" "$i" "$owner"
    eventually is_shown .waiting "$i"
  done
  tsem post "$SEM"
  all_succeed "${STARTED[@]:1}"
  expect_equal 'how many' "$(wc -l <order)" 20
  expect_equal 'inversions' "$(inversions order)" 0
  expect_at_rest 1
}

@test "order: a waiter for many permits is not overtaken by waiters for few" {
  tsem create -j 4 "$SEM"
  tsem take -k 4 "$SEM"
  local i counts=(0 1 4 1 3 2 1 4 1)
  for i in {1..8}; do
    enqueue tsem run -k "${counts[i]}" "$SEM" bash -c 'echo "$0" >>order' "$i"
  done
  # There is one permit: waiters for one permit leave one by one, until the first in the queue wants four.
  tsem post "$SEM"
  finish "${STARTED[0]}"
  attempt tsem take -n "$SEM"
  expect_silence 75
  expect_shown '[.waiters[].count] | @csv' 4,1,3,2,1,4,1
  tsem post -k 3 "$SEM"
  all_succeed "${STARTED[@]}"
  # Waiters that were admitted together may write in any order. The waiter for four permits is alone.
  expect_equal 'how many' "$(wc -l <order)" 8
  expect_equal 'the first two' "$(head -n 2 order)" $'1\n2'
  expect_equal 'the last two' "$(tail -n 2 order)" $'7\n8'
  expect_at_rest 4
}

@test "order: a place that is given up leaves the order of the others unchanged" {
  tsem create "$SEM"
  tsem take "$SEM"
  local i
  for i in {1..12}; do
    enqueue tsem run "$SEM" bash -c 'echo "$0" >>order' "$i"
  done
  for i in 0 3 4 11; do
    kill -TERM "${STARTED[i]}"
    finish "${STARTED[i]}"
    expect_status 143
  done
  expect_shown '[.waiters[].position] | @csv' 1,2,3,4,5,6,7,8
  tsem post "$SEM"
  eventually is_shown .available 1
  expect_equal 'order' "$(tr '\n' ' ' <order)" '2 3 6 7 8 9 10 11 '
}

@test "order: 60 jobs at once under -j3: never 4 run at once, all 60 run, and 3 run together" {
  # A job runs from its '+' to its '-'. The first three wait for each other, so that they must run together.
  local i
  for i in {1..60}; do
    start tsem run -j 3 "$SEM" bash -c '
      echo + >>log
      until [[ $(grep -c + log) -ge 3 ]]; do sleep 0.005; done
      sleep 0.01
      echo - >>log'
  done
  all_succeed "${STARTED[@]}"
  expect_equal 'jobs, and the most at once' \
    "$(awk '{ now += $1 == "+" ? 1 : -1 } $1 == "+" { n++ } now > most { most = now } END { print n, most, now }' log)" \
    '60 3 0'
  expect_at_rest 3
}

@test "order: 60 jobs of one to three permits each: never more than 3 permits in use" {
  local i
  for i in {1..60}; do
    start tsem run -j 3 -k "$((i % 3 + 1))" "$SEM" bash -c '
      echo "$TSEM_COUNT" >>log
      sleep 0.002
      echo "-$TSEM_COUNT" >>log'
  done
  all_succeed "${STARTED[@]}"
  expect_equal 'jobs, and the most permits in use' \
    "$(awk '{ now += $1 } $1 > 0 { n++ } now > most { most = now } END { print n, most, now }' log)" '60 3 0'
  expect_at_rest 3
}
