# SPDX-License-Identifier: MIT
# How much a waiter prints: -q, TSEM_VERBOSE, and why it was not admitted. unit/test_silence.c has the line that comes
# after a minute.
load helper

LONG='( for [0-9]+ s)?' # from the first second on

# Holds one permit, the only one, until the test ends.
hold_all() {
  tsem create "$SEM"
  hold
}

@test "silence: TSEM_VERBOSE=1 prints as -v does" {
  hold_all
  owner
  local words
  for words in take 'run' "acquire --owner $OWNER"; do
    # shellcheck disable=SC2086 # several words
    attempt env TSEM_VERBOSE=1 tsem $words -w 1s "$SEM" ${words/#[at]*/}
    expect_status 75
    expect_match 'standard error' "$ERR" "^tsem: $SEM: held by $COMMAND_PID$LONG \(sleep 1000\), place 1, waiting"$'\n'"$(
      )tsem: $SEM: not enough permits came free in time, held by $COMMAND_PID$LONG \(sleep 1000\)\$"
  done
  attempt env TSEM_VERBOSE=1 tsem wait -w 1ms "$SEM"
  expect_equal 'exit status' "$STATUS" 75
  expect_match 'standard error' "$ERR" "^tsem: $SEM: permits are still held"
}

@test "silence: -n says why with -v, and nothing without" {
  hold_all
  owner
  local words
  for words in take run "acquire --owner $OWNER"; do
    # shellcheck disable=SC2086 # several words
    attempt tsem $words -n -v "$SEM" ${words/#[at]*/}
    expect_status 75
    expect_match 'standard error' "$ERR" "^tsem: $SEM: not enough permits are free, held by $COMMAND_PID$LONG \(sleep 1000\)\$"
    # shellcheck disable=SC2086
    attempt tsem $words -n "$SEM" ${words/#[at]*/}
    expect_silence 75
  done
  attempt tsem wait -n -v "$SEM"
  expect_status 75
  expect_match 'standard error' "$ERR" \
    "^tsem: $SEM: permits are still held or waited for, held by $COMMAND_PID$LONG \(sleep 1000\)\$"
  attempt tsem wait -n "$SEM"
  expect_silence 75
}

@test "silence: TSEM_VERBOSE is off if it is empty or 0, and with -q" {
  hold_all
  local value
  for value in '' 0; do
    attempt env TSEM_VERBOSE=$value tsem take -w 300ms "$SEM"
    expect_status 75
    expect_match 'standard error' "$ERR" "^tsem: $SEM: not enough permits came free in time, [^"$'\n'"]*\$"
  done
  attempt env TSEM_VERBOSE=1 tsem take -q -w 300ms "$SEM"
  expect_silence 75
  attempt env TSEM_VERBOSE=1 tsem wait -q -w 1ms "$SEM"
  expect_silence 75
}

@test "silence: a wait that expires says why, unless -q is given" {
  hold_all
  local option
  for option in '' -v; do
    # shellcheck disable=SC2086 # none, or one
    attempt tsem run $option -w 1ms "$SEM" true
    expect_status 75
    expect_match 'standard error' "$ERR" \
      "^tsem: $SEM: not enough permits came free in time, held by $COMMAND_PID$LONG \(sleep 1000\)$"
    # shellcheck disable=SC2086
    attempt tsem wait $option -w 1ms "$SEM"
    expect_status 75
    expect_match 'standard error' "$ERR" \
      "^tsem: $SEM: permits are still held or waited for, held by $COMMAND_PID$LONG \(sleep 1000\)$"
  done
  attempt tsem run -q -w 1ms "$SEM" true
  expect_silence 75
}

@test "silence: a wait that is cancelled says so, and why it waited, unless -q is given" {
  hold_all
  local option line
  for option in -q '' -v; do
    # shellcheck disable=SC2016
    start sh -c 'exec tsem run "$@" 2>said' sh ${option:+"$option"} "$SEM" true
    eventually is_shown .waiting 1
    tsem cancel "$SEM"
    finish "$PID"
    expect_status 75
    line=$(tail -n 1 said)
    [[ $option == -q ]] || expect_match 'the last line' "$line" \
      "^tsem: $SEM: the wait was cancelled, held by $COMMAND_PID$LONG \(sleep 1000\)\$"
    [[ $option != -q ]] || expect_equal 'what it says' "$line" ''
  done
}

@test "silence: with -v, a waiter prints again when the reason changes" {
  tsem create -j 2 "$SEM"
  tsem take "$SEM"
  hold
  start bash -c 'exec tsem take -v "$SEM" 2>said'
  eventually grep -q "held by $COMMAND_PID .*, place 1, waiting" said
  kill -STOP "$COMMAND_PID"
  eventually grep -q "held by $COMMAND_PID .*, stopped (continue it with 'kill -CONT $COMMAND_PID'), .*, place 1, waiting" said
  tsem set -j 0 "$SEM"
  eventually grep -q "drained (raise the capacity with 'tsem set -j 2 $SEM'), .*, place 1, waiting" said
  kill -CONT "$COMMAND_PID"
  expect_equal 'lines' "$(wc -l <said)" 3
  expect_equal 'lines that say nothing' "$(grep -c ' for 0 s' said)" 0
}

@test "silence: wait -v tells from the first second what it waits for, and when that changes" {
  hold_all
  start bash -c 'exec tsem wait -v "$SEM" 2>said'
  eventually grep -q "^tsem: $SEM: held by $COMMAND_PID .*, waiting" said
  enqueue tsem take "$SEM"
  eventually grep -q "^tsem: $SEM: held by $COMMAND_PID .*, 1 in the queue, waiting" said
  kill -TERM "$PID"
  kill -TERM "$COMMAND_PID"
  finish "${STARTED[1]}"
  expect_status 0
  expect_match 'the last line' "$(tail -n 1 said)" "^tsem: $SEM: idle after [0-9.]+ s\$"
  expect_equal 'lines that say nothing' "$(grep -c ' for 0 s' said)" 0
}

@test "silence: of several semaphores, a wait that expires names the one without a permit" {
  hold_all
  tsem create "$SEM.free"
  local names
  for names in "$SEM,$SEM.free" "$SEM.free,$SEM"; do
    attempt tsem run -v -w 1ms "$names" true
    expect_status 75
    expect_match 'standard error' "$ERR" "^tsem: $names: not enough permits of $SEM came free in time, held by $COMMAND_PID "
  done
  rm -f "$FILE.free"
}

@test "silence: on a terminal, -w says why it failed when it expires" {
  hold_all
  owner
  local words
  for words in take run "acquire --owner $OWNER"; do
    attempt script -qec "tsem $words -w 1ms $SEM ${words/#[at]*/}" /dev/null
    expect_status 75
    expect_equal 'lines' "$(wc -l <attempt.out)" 1
    expect_match 'what it says' "$OUT" \
      "^tsem: $SEM: not enough permits came free in time, held by $COMMAND_PID$LONG \(sleep 1000\)"
  done
  attempt script -qec "tsem wait -w 1ms $SEM" /dev/null
  expect_status 75
  expect_match 'what it says' "$OUT" "^tsem: $SEM: permits are still held or waited for, held by $COMMAND_PID"
}

@test "silence: on a terminal, -q prints nothing, and neither does -n" {
  hold_all
  local words
  for words in 'take -q -w 1100ms' 'take -q -n' 'take -n' 'wait -q -w 1ms' 'wait -n'; do
    attempt script -qec "tsem $words $SEM" /dev/null
    expect_silence 75
  done
}

@test "silence: with -q, Ctrl-Z, fg and Ctrl-C work during the wait" {
  hold_all
  attempt python3 "$BATS_TEST_DIRNAME/terminal.py" 'see:$ ' 'type:tsem run -q "$SEM" touch ran\n' \
    'until:test $(tsem show -J "$SEM" | jq .waiting) = 1' 'type:\x1a' 'see:Stopped' 'see:$ ' \
    'until:test $(tsem show -J "$SEM" | jq .waiting) = 1' 'type:fg\n' 'see:tsem run' \
    'until:ps -o stat= -p $(tsem show -J "$SEM" | jq .waiters[0].pid) | grep -q "^S.*+"' 'type:\x03' 'see:$ ' \
    'type:echo status=$?\n' 'see:status=130'
  expect_status 0
  [[ ! -e ran ]]
}

@test "silence: -q hides no error, and excludes -v" {
  refuses "^$SEM: no such semaphore" run -q "$SEM" true
  tsem create "$SEM"
  refuses "^$SEM: -q and -v exclude each other" take -q -v "$SEM"
  refuses "^$SEM: -q and -v exclude each other" run --verbose --quiet "$SEM" true
  refuses "^$SEM: 2 permits" take -q -k 2 "$SEM"
  refuses "'-q'" post -q "$SEM"
}
