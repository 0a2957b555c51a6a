# SPDX-License-Identifier: MIT
# Several semaphores under one command.
load helper

A() { echo "$SEM-a"; }

# The available permits of -a and -b.
free() {
  echo "$(tsem show -J "$SEM-a" | jq .available) $(tsem show -J "$SEM-b" | jq .available)"
}

@test "several: acquires all, and gives them back" {
  tsem create "$SEM-a"
  tsem create -j 2 "$SEM-b"
  attempt tsem run "$SEM-a,$SEM-b" bash -c 'echo "$TSEM_NAME $TSEM_COUNT $TSEM_SLOT $TSEM_SLOTS"
    tsem show -J "$SEM-a" | jq .available; tsem show -J "$SEM-b" | jq .available'
  expect_out "$SEM-a,$SEM-b 1 0 0,0"$'\n0\n1'
  expect_equal 'free afterwards' "$(free)" '1 2'
}

@test "several: -j creates them all" {
  attempt tsem run -j 3 "$SEM-a,$SEM-b" true
  expect_silence
  expect_equal 'free afterwards' "$(free)" '3 3'
}

@test "several: acquires none if one is missing" {
  tsem create "$SEM-a"
  tsem create "$SEM-b"
  local taken
  for taken in a b; do
    tsem take "$SEM-$taken"
    attempt tsem run -n "$SEM-b,$SEM-a" true
    expect_silence 75
    attempt tsem run -w 30ms "$SEM-a,$SEM-b" true
    expect_in_vain
    tsem post "$SEM-$taken"
    expect_equal 'free afterwards' "$(free)" '1 1'
  done
}

@test "several: no deadlock, whatever the order of the names" {
  tsem create "$SEM-a"
  tsem create "$SEM-b"
  local pids=()
  for _ in {1..10}; do
    start tsem run "$SEM-a,$SEM-b" sh -c 'echo >>ran'
    pids+=("$PID")
    start tsem run "$SEM-b,$SEM-a" sh -c 'echo >>ran'
    pids+=("$PID")
  done
  all_succeed "${pids[@]}"
  expect_equal 'commands that ran' "$(wc -l <ran)" 20
}

@test "several: after SIGKILL of tsem the command holds all, and its death frees all" {
  tsem create "$SEM-a"
  tsem create "$SEM-b"
  start tsem run "$SEM-a,$SEM-b" sleep 1000
  eventually pgrep -P "$PID" sleep
  local command
  command=$(pgrep -P "$PID" sleep)
  kill -KILL "$PID"
  finish "$PID"
  attempt tsem run -n "$SEM-a" true
  expect_silence 75
  attempt tsem run -n "$SEM-b" true
  expect_silence 75
  kill -KILL "$command"
  attempt tsem run "$SEM-b,$SEM-a" true
  expect_silence
}

@test "several: --any: the first with a permit, in the order of the names" {
  tsem create "$SEM-a"
  tsem create "$SEM-b"
  attempt tsem run --any "$SEM-a,$SEM-b" sh -c 'echo "$TSEM_NAME"; tsem run -n --any "$SEM-a,$SEM-b" sh -c "echo \$TSEM_NAME; tsem run -n --any \$SEM-a,\$SEM-b true; echo \$?"'
  expect_out "$SEM-a"$'\n'"$SEM-b"$'\n75'
  expect_equal 'free afterwards' "$(free)" '1 1'
}

@test "several: --any waits for the first permit of any" {
  tsem create "$SEM-a"
  tsem create "$SEM-b"
  local which
  for which in a b; do
    tsem take "$SEM-a"
    tsem take "$SEM-b"
    start tsem run --any "$SEM-a,$SEM-b" sh -c 'echo "$TSEM_NAME" >got'
    SEM=$SEM-a eventually is_shown .waiting 1
    SEM=$SEM-b eventually is_shown .waiting 1
    tsem post "$SEM-$which"
    finish "$PID"
    expect_status 0
    expect_equal 'the one that was granted' "$(<got)" "$SEM-$which"
    tsem take "$SEM-$which"
    expect_equal 'free' "$(free)" '0 0'
    tsem post "$SEM-a"
    tsem post "$SEM-b"
  done
}

@test "several: a bad list: nothing is taken" {
  tsem create -j 5 "$SEM-a"
  tsem create -j 5 "$SEM-b"
  local many
  many=$(printf "%s," "$SEM-a"{1..65})
  attempt tsem run "$SEM-a,$SEM-none" touch ran
  expect_failure "^$SEM-none: no such semaphore"
  attempt tsem run --any "$SEM-a,$SEM-none" touch ran
  expect_failure "^$SEM-none: no such semaphore"
  attempt tsem run "$SEM-a,$SEM-b,$SEM-a" touch ran
  expect_failure "^$SEM-a: named twice"
  attempt tsem run "$SEM-a," touch ran
  expect_failure "^'': not a name"
  attempt tsem run "${many%,}" touch ran
  expect_failure '^more than 64 names'
  attempt tsem run --any "$SEM-a,$SEM-b,$SEM-a" touch ran
  expect_failure "^$SEM-a: named twice"
  attempt tsem run --any "${many%,}" touch ran
  expect_failure '^more than 64 names'
  attempt tsem run -k 2 "$SEM-a,$SEM-b" touch ran
  expect_failure "^$SEM-a,$SEM-b: -k needs a single semaphore"
  [[ ! -e ran ]]
  expect_equal 'free' "$(free)" '5 5'
}

@test "several: the message of a waiter names the semaphore and its holder" {
  tsem create "$SEM-a"
  tsem create "$SEM-b"
  local names taken
  for taken in a b; do
    start sleep 1000
    tsem acquire --owner "$PID" "$SEM-$taken"
    for names in "$SEM-a,$SEM-b" "$SEM-b,$SEM-a"; do
      attempt tsem run -v -w 400ms "$names" touch ran
      expect_status 75
      expect_match 'standard error' "$ERR" \
        "^tsem: $names: held by $PID( for [0-9]+ s)? \(sleep 1000\), place 1 of $SEM-$taken, waiting"
    done
    kill "$PID"
    tsem wait "$SEM-$taken" # the holder is dead when tsem wait returns
  done
  start sleep 1000
  tsem take "$SEM-a"
  tsem acquire --owner "$PID" "$SEM-b"
  attempt tsem run --any -v -w 400ms "$SEM-b,$SEM-a" touch ran
  expect_match 'standard error' "$ERR" "held by $PID .*, place 1 of $SEM-b, waiting"
}

@test "several: a bad list: nothing is created" {
  tsem create -j 5 "$SEM-a"
  attempt tsem run -j 2 "$SEM-b,$SEM-a" touch ran
  expect_failure "^$SEM-a: it exists with -j 5, not -j 2"
  attempt tsem run -j 5 --any "$SEM-b,$SEM-a,up/../up" touch ran
  expect_failure "^up/../up: not a name"
  attempt tsem run -j 5 "$SEM-b,$SEM-b" touch ran
  expect_failure "^$SEM-b: named twice"
  head -c 40960 /dev/zero >"$FILE-c"
  attempt tsem run -j 5 "$SEM-b,$SEM-c" touch ran
  expect_failure "^$SEM-c: not a semaphore"
  [[ ! -e ran && ! -e $FILE-b ]]
}

@test "several: 64 semaphores, and -n is for all of them together" {
  local many
  many=$(printf "%s," "$SEM-"{1..64})
  attempt tsem run -j 1 -n "${many%,}" true
  expect_silence
  tsem take "$SEM-33"
  attempt tsem run -n "${many%,}" touch ran
  expect_silence 75
  attempt tsem run -n --any "${many%,}" sh -c 'echo "$TSEM_NAME"'
  expect_out "$SEM-1"
  expect_equal 'held' "$(tsem list -J | jq --arg name "$SEM-" '[.semaphores[] | select(.name | startswith($name)) | .held] | add')" 1
  [[ ! -e ran ]]
}

@test "several: another user's semaphore in the list: nothing is created" {
  need_another_user
  as-nobody tsem create -m 0666 "$SEM-b"
  attempt tsem run -j 1 "$SEM-a,$SEM-b" touch ran
  expect_failure "^$SEM-b: it belongs to nobody, another user"
  [[ ! -e ran && ! -e $FILE-a ]]
  attempt tsem run -j 1 --foreign "$SEM-a,$SEM-b" touch ran
  expect_silence
  [[ -e ran && -e $FILE-a ]]
}

@test "several: SIGTERM ends the wait, and leaves no place in the queue" {
  tsem create "$SEM-a"
  tsem create "$SEM-b"
  tsem take "$SEM-b"
  ends_by_sigterm "$SEM-a,$SEM-b"
  SEM=$SEM-a is_shown '[.held, .waiting] | @csv' 0,0
  tsem take "$SEM-a"
  ends_by_sigterm --any "$SEM-a,$SEM-b"
  SEM=$SEM-a is_shown '[.held, .waiting] | @csv' 1,0
  [[ ! -e ran ]]
}

ends_by_sigterm() {
  start tsem run "$@" touch ran
  SEM=$SEM-b eventually is_shown .waiting 1
  kill -TERM "$PID"
  finish "$PID"
  expect_status 143
  SEM=$SEM-b is_shown '[.held, .waiting] | @csv' 1,0
}
