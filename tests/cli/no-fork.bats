# SPDX-License-Identifier: MIT
# run -F: tsem becomes the command, whose end gives the permits back.
load helper

@test "no-fork: the command is the process that the caller started, and the holder" {
  tsem create -j 2 "$SEM"
  start tsem run -F -k 2 "$SEM" sh -c 'echo "$TSEM_COUNT $TSEM_SLOTS" >said; exec sleep 1000'
  eventually is_shown '[.holders[] | .pid, .command] | @csv' "$PID,\"sleep 1000\""
  expect_equal 'its environment' "$(<said)" '2 0,1'
  expect_equal 'its children' "$(pgrep -P "$PID")" ''
  attempt tsem run -n "$SEM" true
  expect_silence 75
}

@test "no-fork: its end gives the permits back to the next waiter, who is told, however it ends" {
  local signal
  tsem create "$SEM"
  for signal in TERM KILL; do
    start tsem run -F "$SEM" sleep 1000
    local holder=$PID
    eventually is_shown '[.holders[].command] | @csv' '"sleep 1000"'
    enqueue tsem run "$SEM" sh -c 'echo "$TSEM_RECOVERED" >told'
    kill -s "$signal" "$holder"
    finish "$holder"
    finish "$PID"
    expect_status 0
    expect_equal 'what it was told' "$(<told)" 1
  done
  attempt tsem run -F "$SEM" sh -c 'exit 7'
  expect_status 7
  attempt tsem run "$SEM" sh -c 'echo "${TSEM_RECOVERED-none}"'
  expect_out 1
  expect_at_rest 1
}

@test "no-fork: a wait comes before it, and a signal ends that" {
  tsem create "$SEM"
  hold
  local holder=$PID
  enqueue tsem run -F "$SEM" touch ran
  kill -TERM "$PID"
  finish "$PID"
  expect_status 143
  enqueue tsem run -F "$SEM" sh -c 'echo $$ >ran'
  kill -TERM "$holder"
  finish "$PID"
  expect_status 0
  expect_equal 'the process that ran' "$(<ran)" "$PID"
}

@test "no-fork: signals arrive as if the caller had started the command" {
  tsem create "$SEM"
  attempt tsem run -F "$SEM" grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status
  local inside=$OUT
  attempt grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status
  expect_equal 'the signals' "$inside" "$OUT"
}

@test "no-fork: without a command that can be run, nothing is held" {
  attempt tsem run -F -j 1 "$SEM" ./absent
  expect_status 127
  [[ ! -e $FILE ]]
  tsem create "$SEM"
  attempt tsem run -F "$SEM" /
  expect_status 126
  expect_at_rest 1
}

@test "no-fork: with several semaphores, and with --nested" {
  tsem create "$SEM"
  tsem create "$SEM.b"
  start tsem run -F "$SEM,$SEM.b" sleep 1000
  local holder=$PID
  eventually is_shown '[.holders[].command] | @csv' '"sleep 1000"'
  attempt tsem run -n "$SEM.b" true
  expect_silence 75
  kill "$holder"
  finish "$holder"
  attempt tsem run -F "$SEM" tsem run -F --nested "$SEM" true
  expect_silence
  attempt tsem remove "$SEM.b"
}

@test "no-fork: what needs a process beside the command is refused" {
  refuses "^$SEM: -F and --jobserver exclude" run -j 1 -F --jobserver "$SEM" touch ran
  refuses "^$SEM: -F and --on-recovered exclude" run -j 1 -F --on-recovered true "$SEM" touch ran
  [[ ! -e ran ]]
}
