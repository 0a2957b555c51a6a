# SPDX-License-Identifier: MIT
load helper

# The process has printed that it waits, and sleeps.
sleeps() {
  grep -q futex "/proc/$1/wchan"
}

@test "wait: returns at once without holders and waiters" {
  tsem create "$SEM"
  attempt tsem wait "$SEM"
  expect_silence
}

@test "wait: until the last holder and waiter has ended" {
  tsem create "$SEM"
  mkfifo gate
  start tsem run "$SEM" sh -c 'read -r _ <gate; echo 1 >>ended'
  local first=$PID
  eventually is_shown .held 1
  enqueue tsem run "$SEM" sh -c 'echo 2 >>ended'
  start sh -c 'tsem wait "$SEM" && cp ended seen'
  eventually pgrep -P "$PID" tsem
  echo >gate
  finish "$PID"
  expect_status 0
  expect_equal 'processes that had ended' "$(<seen)" $'1\n2'
  finish "$first"
}

@test "wait: --holders ignores waiters" {
  tsem create "$SEM"
  hold
  tsem set "$SEM" -j 0
  enqueue tsem run "$SEM" true
  start tsem wait --holders "$SEM"
  eventually sleeps "$PID"
  kill "$COMMAND_PID"
  finish "$PID"
  expect_status 0
  expect_shown '[.held, .waiting] | @csv' 0,1
  attempt tsem wait -n "$SEM"
  expect_silence 75
}

@test "wait: a holder that is killed holds no more" {
  tsem create "$SEM"
  hold
  start tsem wait "$SEM"
  eventually sleeps "$PID"
  kill -KILL "${STARTED[0]}" "$COMMAND_PID"
  finish "$PID"
  expect_status 0
}

@test "wait: permits that were taken and not posted count as held" {
  tsem create "$SEM"
  tsem take "$SEM"
  attempt tsem wait -w 50ms "$SEM"
  expect_in_vain
  attempt tsem wait -E 9 -v -n --holders "$SEM"
  expect_status 9
  expect_message "^$SEM: permits are still held, 1 permit was taken and not posted back \\("
  start tsem wait "$SEM"
  eventually sleeps "$PID"
  tsem post "$SEM"
  finish "$PID"
  expect_status 0
}

@test "wait: bad arguments are refused" {
  refuses "^$SEM: no such semaphore" wait "$SEM"
  tsem create "$SEM"
  refuses "^$SEM: -n and -w exclude each other" wait -n -w 1 "$SEM"
  hold
  start tsem wait "$SEM"
  eventually sleeps "$PID"
  tsem remove -f "$SEM"
  finish "$PID"
  expect_status 125
}
