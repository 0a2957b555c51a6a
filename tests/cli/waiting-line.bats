# SPDX-License-Identifier: MIT
# The line that a waiter shows, in an interactive shell on an emulated screen (see screen.py), and elsewhere.
load helper

LONG='( for [0-9]+ s)?' # from the first second on

# in_shell COLUMNSxROWS STEP...: runs the steps in an interactive shell, which exits at the end.
in_shell() {
  need_emulator
  attempt python3 "$BATS_TEST_DIRNAME/screen.py" "$1" 'see:^\$' "${@:2}" 'key:exit 3\n' restored:3 \
    -- env 'PS1=$ ' HISTFILE= bash --norc --noprofile -i
  expect_status 0
}

# Adds one more holder before the waiter that the steps start. It waits, then holds until it is killed. Its command is
# SECOND_PID once it holds.
enqueue_holder() {
  enqueue tsem run "$SEM" sleep 1000
  NEXT=$PID
}

@test "waiting line: place, holder and times are updated, and the line disappears" {
  tsem create "$SEM"
  hold
  enqueue_holder
  in_shell 150x10 "key:tsem run $SEM echo my turn\\n" \
    "see:^$SEM: held by $COMMAND_PID for [0-9]+ s \\(sleep 1000\\), place 2, waiting for [0-9]+ s\$" \
    "see:^$SEM: held by $COMMAND_PID .*, place 2, waiting for 2 s\$" \
    "until:kill -TERM $COMMAND_PID" 'see:held by .*, place 1, waiting' \
    "until:tsem show $SEM -o PID --raw --noheadings | head -n 1 >holder; [[ \$(<holder) != $COMMAND_PID ]]" \
    "until:[[ \$(ps -o ppid= -p \$(<holder)) -eq $NEXT ]]" \
    "gone:held by $COMMAND_PID" 'see:held by [0-9]+ for [0-9]+ s \(sleep 1000\), place 1, waiting for [0-9]+ s$' \
    "until:pkill -TERM -P $NEXT" 'see:^my turn' 'gone:waiting' 'see:^\$$'
}

@test "waiting line: the reason fits into 80 columns, also with a long name" {
  SEM=w$RANDOM # a name as people use them
  export FILE=/dev/shm/tsem.$SEM # removed by teardown
  tsem create -j 2 "$SEM"
  tsem set -j 0 "$SEM"
  local long=$SEM.a-name-that-says-what-it-is-for-at-length
  tsem create "$long"
  tsem take "$long"
  in_shell 80x12 "key:tsem run $SEM echo my turn\n" \
    "see:^$SEM: drained \(.*tsem set -j 2 $SEM'?\), place 1, [0-9]+ s" "until:tsem set -j 2 $SEM" 'see:^my turn' \
    "key:clear; tsem run $long echo my turn\n" \
    "see:^$SEM.a-name[a-z-]*[.]{3}: 1 permit taken, not posted back, place 1, [0-9]+ s *\$" \
    "until:tsem post $long" 'see:^my turn'
}

@test "waiting line: with a name of 20 letters, 80 columns have the reason, the place and the time" {
  SEM=$(printf 'w%05d%014d' "$RANDOM" 0)
  export FILE=/dev/shm/tsem.$SEM # removed by teardown
  tsem create -j 3 "$SEM"
  hold
  enqueue tsem take -k 3 "$SEM"
  in_shell 80x12 "key:tsem run $SEM echo my turn\n" "see:^$SEM: first wants 3, 2 kept, place 2, [0-9]+ s" \
    "until:kill -TERM $PID" 'see:^my turn' \
    "key:clear; tsem run -k 3 $SEM echo my turn\n" "see:^$SEM: first wants 3, 2 kept, place 1, [0-9]+ s" \
    "until:kill -STOP $COMMAND_PID" "see:^$SEM: held by $COMMAND_PID, stopped, place 1, [0-9]+ s" \
    "until:kill -CONT $COMMAND_PID; kill -TERM $COMMAND_PID" 'see:^my turn'
}

@test "waiting line: it fits into one line of the screen, however narrow that becomes" {
  tsem create "$SEM"
  hold
  # Twice on the screen: the text would have wrapped.
  in_shell 60x12 "key:tsem run $SEM echo my turn\\n" "see:^$SEM: held by [0-9]+, place 1, [0-9]+ s" 'see:place 1, ([3-9]|[1-9][0-9]) s' \
    'gone:(?s)bats[^ ]*: held.*bats[^ ]*: held' \
    size:45x12 'see:held by [0-9]+' 'gone:(?s)bats[^ ]*: held.*bats[^ ]*: held' 'gone:waiting|sleep' \
    size:1x1 size:3x2 "until:tsem show -J $SEM | jq -e '.waiters[0].seconds > 6' >jq.out" size:150x12 'see:held by' \
    "until:kill -TERM $COMMAND_PID" 'see:^my turn' 'gone:waiting' 'see:^\$$'
}

@test "waiting line: Ctrl-C removes it" {
  tsem create "$SEM"
  tsem take "$SEM"
  in_shell 90x10 "key:tsem run $SEM touch ran\\n" 'see:place 1, [1-9]' 'key:\x03' 'see:^\$$' 'gone:place 1|taken'
  expect_shown .waiting 0
  [[ ! -e ran ]]
}

@test "waiting line: Ctrl-Z removes it, fg shows it again, at the same place" {
  tsem create "$SEM"
  tsem take "$SEM"
  in_shell 90x10 "key:tsem run $SEM echo my turn\\n" 'see:place 1, [1-9]' 'key:\x1a' 'see:Stopped' 'see:^\$$' \
    'gone:place 1|taken' "until:[[ \$(tsem show -J $SEM | jq .waiting) = 1 ]]" \
    'key:clear; fg\n' 'see:place 1, [1-9]' 'key:\x1a' 'see:Stopped' 'gone:place 1|taken' 'key:fg\n' 'see:place 1, [1-9]' \
    "until:tsem post $SEM" 'see:^my turn' 'gone:waiting' 'see:^\$$'
  expect_shown '[.held, .waiting] | @csv' 0,0
}

@test "waiting line: a background job does not write over the foreground job" {
  tsem create "$SEM"
  tsem take "$SEM"
  attempt python3 "$BATS_TEST_DIRNAME/terminal.py" 'see:$ ' 'type:tsem run "$SEM" true &\n' \
    'until:test $(tsem show -J "$SEM" | jq .waiting) = 1' 'type:tsem run "$SEM" true\n' 'see:place 2, 2 s' \
    'type:\x03' 'see:$ ' 'type:tsem run -v "$SEM" true &\n' 'see:place 2' 'until:tsem post "$SEM"' 'see:admitted after' 'type:wait\n' 'see:$ '
  expect_status 0
  [[ $OUT != *'place 1, '[0-9]*'place 2, 2 s'* ]] || fail 'the job in the background wrote'
  expect_at_rest 1
}

@test "waiting line: an unknown terminal, or none, gets no control sequence" {
  tsem create "$SEM"
  tsem take "$SEM"
  local term
  for term in TERM= TERM=dumb TERM=no-such-terminal -uTERM; do
    attempt script -qec "env $term tsem take -v -w 400ms $SEM" /dev/null
    expect_status 75
    expect_match 'what it says' "$OUT" "$SEM: 1 permit taken, not posted back, place 1"
    [[ $OUT != *$'\e'* ]] || fail 'a control sequence'
  done
  attempt tsem take -v -w 400ms "$SEM"
  expect_status 75
  local taken="1 permit was taken and not posted back (give it back with 'tsem post $SEM')"
  expect_err "tsem: $SEM: $taken, place 1, waiting"$'\n'"tsem: $SEM: not enough permits came free in time, $taken"
}

# says TEXT COMMAND...: the first line that COMMAND prints while it waits begins with TEXT. COMMAND goes on waiting, as
# PID.
says() {
  rm -f said
  start bash -c 'exec "$@" 2>said' bash "${@:2}"
  eventually grep -q waiting said
  expect_equal 'what it waits for' "$(sed -n "1s/^tsem: $SEM: \(.*\), place [0-9]*, waiting.*/\1/p" said)" "$1"
}

@test "waiting line: a drained semaphore" {
  tsem create -j 2 "$SEM"
  tsem set -j 0 "$SEM"
  says "drained (raise the capacity with 'tsem set -j 2 $SEM')" tsem run -v "$SEM" true
  local waiter=$PID
  says "drained (raise the capacity with 'tsem set -j 2 $SEM')" tsem take -v "$SEM"
  tsem set -j 2 "$SEM"
  finish "$waiter"
  expect_status 0
  finish "$PID"
  expect_status 0
}

@test "waiting line: a semaphore that drains, and is still held" {
  tsem create -j 2 "$SEM"
  hold
  tsem set -j 0 "$SEM"
  start bash -c 'exec tsem run -v "$SEM" true 2>said'
  eventually grep -q waiting said
  expect_match 'what it waits for' "$(<said)" \
    ": drained \(raise the capacity with 'tsem set -j 2 $SEM'\), held by $COMMAND_PID$LONG \(sleep 1000\), place"
}

@test "waiting line: a semaphore without permits, which are to be posted" {
  tsem create -j 0 "$SEM"
  says "no permit has been posted (add some with 'tsem post $SEM')" tsem take -v "$SEM"
  tsem post "$SEM"
  finish "$PID"
  expect_status 0
  attempt tsem take -v -w 1ms "$SEM"
  expect_status 75
  expect_err "tsem: $SEM: not enough permits came free in time, too few permits have been posted (add some with 'tsem post $SEM')"
}

@test "waiting line: more permits are wanted than the capacity has now" {
  tsem create -j 3 "$SEM"
  tsem set -j 1 "$SEM"
  says "the first in line wants 3 permits of 1 (raise the capacity with 'tsem set -j 3 $SEM')" tsem run -v -k 3 "$SEM" true
  says "the first in line wants 3 permits of 1 (raise the capacity with 'tsem set -j 3 $SEM')" tsem run -v "$SEM" true
}

@test "waiting line: permits that were taken without a recorded holder" {
  tsem create "$SEM"
  tsem take "$SEM"
  says "1 permit was taken and not posted back (give it back with 'tsem post $SEM')" tsem run -v "$SEM" true
  says "1 permit was taken and not posted back (give it back with 'tsem post $SEM')" tsem take -v "$SEM"
}

@test "waiting line: more permits are held than the capacity has now" {
  tsem create -j 3 "$SEM"
  hold -k 2
  tsem set -j 1 "$SEM"
  start bash -c 'exec tsem run -v "$SEM" true 2>said'
  eventually grep -q waiting said
  expect_match 'what it waits for' "$(<said)" \
    ": held by $COMMAND_PID$LONG \(sleep 1000\), 2 permits are held, 1 exists now, place 1, waiting"
}
