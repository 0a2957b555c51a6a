# SPDX-License-Identifier: MIT
# Requests for several semaphores of a store. After each test, every revision of both semaphores is checked.
# shellcheck disable=SC2016,SC2153 # the inner shells expand these; the helper sets PID
load helper

# BOTH names two semaphores with one permit each; the second one is OTHER.
prepare_both() {
  prepare "$@"
  OTHER=$SEM-b
  BOTH=$SEM,${OTHER#etcd:}
  tsem create -j "${1:-1}" "$OTHER" 2>/dev/null
}

teardown() {
  end_all
  check_revisions
  KEYS=$KEYS-b check_revisions
}

# of_other COMMAND...: for functions that ask about SEM.
of_other() {
  local first=$SEM
  SEM=$OTHER
  "$@" || { SEM=$first && return 1; }
  SEM=$first
}

is_in_line_of() {
  [[ $(etcdctl get --prefix --keys-only "$KEYS$1/waiters/" | grep -c .) == "$2" ]]
}

@test "etcd several: the command holds one permit of each, and no request overtakes" {
  prepare_both 2
  attempt tsem run "$BOTH" -- sh -c 'echo "$TSEM_NAME $TSEM_COUNT $TSEM_SLOT $TSEM_SLOTS ${TSEM_RECOVERED-no}"; for name in "$0" "$1"; do tsem show --noheadings --raw -o FENCE,COUNT "$name"; done; echo "$TSEM_FENCE"' "$SEM" "$OTHER"
  expect_status 0
  mapfile -t lines <<<"$OUT"
  expect_equal 'the environment' "${lines[0]}" "$BOTH 1 0 0,0 no"
  expect_equal 'the holder of one' "${lines[1]}" "${lines[3]} 1"
  expect_equal 'the holder of the other' "${lines[2]}" "${lines[3]} 1"
  expect_at_rest 2
  of_other expect_at_rest 2
  hold -k 2
  local holder=$PID
  enqueue tsem run "$BOTH" -- sh -c 'echo both >>order'
  local both=$PID
  start tsem run "$OTHER" -- sh -c 'echo other >>order' # stands behind it, although a permit is free
  eventually is_in_line_of -b 2
  kill "$holder"
  finish "$both"
  expect_status 0
  finish "$PID"
  expect_status 0
  expect_equal 'order' "$(tr '\n' ' ' <order)" 'both other '
}

@test "etcd several: requests in opposite orders, and for one of them, do not wait for each other" {
  prepare_both
  local pids=() names=("$BOTH" "$OTHER,${SEM#etcd:}" "$SEM" "$OTHER")
  for i in {0..11}; do
    start sh -c 'for n in 1 2 3; do tsem run -w 60 "$1" -- sh -c "echo \$TSEM_NAME >>ran" || exit; done' sh "${names[i % 4]}"
    pids+=("$PID")
  done
  all_succeed "${pids[@]}"
  expect_equal 'runs' "$(grep -c . ran)" 36
  expect_at_rest 1
  of_other expect_at_rest 1
}

@test "etcd several: --any holds the one that is free, or that comes free first, and leaves the other line" {
  prepare_both
  attempt tsem run --any "$BOTH" -- sh -c 'echo "$TSEM_NAME $TSEM_SLOTS"'
  expect_out "$SEM 0"
  hold
  local first=$PID
  attempt tsem run --any "$BOTH" -- sh -c 'echo "$TSEM_NAME"'
  expect_out "$OTHER"
  of_other hold
  attempt tsem run --any -n "$BOTH" -- true
  expect_silence 75
  enqueue tsem run --any "$BOTH" -- sh -c 'echo "$TSEM_NAME" >>order; sleep 1000'
  local any=$PID
  start tsem run "$SEM" -- sh -c 'echo behind >>order'
  eventually is_in_line_of '' 2
  kill "$PID"
  finish "$PID"
  kill "$first"
  finish "$first"
  eventually grep -qx "$SEM" order
  is_in_line_of -b 0 || fail 'it still waits for the other one'
  expect_shown '.holders[].pid' "$any"
  enqueue tsem run --any "$BOTH" -- true
  kill "$any" # hands over to it
  finish "$PID"
  expect_status 0
  expect_at_rest 1
}

@test "etcd several: --any, many at once" {
  prepare_both 2
  local pids=()
  for i in {1..8}; do
    start sh -c 'for n in 1 2 3; do tsem run --any -w 60 "$1" -- sh -c "echo \$TSEM_NAME >>ran" || exit; done' sh "$BOTH"
    pids+=("$PID")
    start sh -c 'tsem run -w 60 "$1" -- sleep 0.1' sh "$SEM"
    pids+=("$PID")
  done
  all_succeed "${pids[@]}"
  expect_equal 'runs' "$(grep -c . ran)" 24
  expect_at_rest 2
  of_other expect_at_rest 2
}

@test "etcd several: -j creates all of them, or none if one has another limit" {
  prepare_both
  tsem remove "$SEM" "$OTHER"
  attempt tsem run -j 2 "$BOTH" -- true
  expect_status 0
  expect_at_rest 2
  of_other expect_at_rest 2
  tsem remove "$SEM"
  attempt tsem run -j 3 "$BOTH" -- true
  expect_failure "$OTHER: it exists with -j 2"
  attempt tsem run "$BOTH" -- true
  expect_failure "$SEM: no such semaphore"
  tsem create "$SEM"
  etcdctl put "$KEYS-c/config" nonsense >/dev/null
  attempt tsem run "$SEM,${SEM#etcd:}-c" -- true
  expect_failure "$SEM-c: keys of another program"
  expect_at_rest 1
}

@test "etcd several: lists that are refused" {
  prepare_both
  local many
  many=$(printf 'a%s,' {1..130})
  attempt tsem run "etcd:${many%,}" -- true
  expect_failure 'more than 16 names'
  attempt tsem run "$BOTH,${OTHER#etcd:}" -- true
  expect_failure "'${OTHER#etcd:}' is named twice"
  attempt tsem run "$SEM," -- true
  expect_failure 'not a name'
  for option in '-k 2' '-k all' '--nested' '--max-waiting 1'; do
    # shellcheck disable=SC2086 # an option and its argument
    attempt tsem run $option "$BOTH" -- true
    expect_failure "${option%% *} needs a single semaphore"
  done
  attempt tsem run --any --nested "$SEM" -- true
  expect_failure '--nested and --any exclude each other'
  for verb in take post 'acquire --owner 1' 'set -j 1' show remove wait; do
    # shellcheck disable=SC2086 # a verb and an option
    attempt tsem $verb "$BOTH"
    expect_failure "$BOTH: not a name"
  done
}

@test "etcd several: 16 names, in each form" {
  prepare_both
  local names
  names=$(printf '%s,' "${SEM#etcd:}"-b{,1,2,3,4,5,6,7,8,9,a,b,c,d,e,f})
  names=etcd:${names%,}
  attempt tsem run -q -j 1 "$names" -- sh -c 'echo "$TSEM_SLOTS"'
  expect_out 0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0
  hold_all() { start tsem run "$names" -- sleep 1000; }
  hold_all
  local holder=$PID
  of_other eventually is_shown .held 1
  start tsem run "$names" -- sh -c 'echo all >>order'
  local all=$PID
  eventually is_in_line_of -bf 1
  start tsem run --any "$names" -- sh -c 'echo any >>order'
  eventually is_in_line_of -bf 2
  kill "$holder"
  all_succeed "$all" "$PID"
  expect_equal 'order' "$(tr '\n' ' ' <order)" 'all any '
}

@test "etcd several: a wait that is cancelled in one line, ends with its time, or by a signal" {
  prepare_both
  hold
  local args
  for args in "$BOTH" "--any $BOTH"; do
    [[ $args != --any* ]] || of_other hold
    # shellcheck disable=SC2086 # an option and a name
    enqueue tsem run -v $args -- touch ran
    eventually is_in_line_of -b 1
    tsem cancel "$OTHER"
    finish "$PID"
    expect_status 75
    # shellcheck disable=SC2086
    attempt tsem run -w 50ms $args -- touch ran
    expect_in_vain
    # shellcheck disable=SC2086
    enqueue tsem run $args -- touch ran
    kill "$PID"
    finish "$PID"
    expect_status $((128 + 15))
    is_in_line_of '' 0 && is_in_line_of -b 0 || fail 'it has left a place'
  done
  [[ ! -e ran ]] || fail 'a command has run'
}

@test "etcd several: the reason for the wait names the semaphore that lacks permits" {
  prepare_both
  of_other hold
  attempt tsem run -w 50ms "$BOTH" -- true
  expect_in_vain
  expect_match 'the reason' "$ERR" "not enough permits of $OTHER came free in time, held by $PID"
  attempt tsem run -n -v "$BOTH" -- true
  expect_match 'the reason' "$ERR" "not enough permits of $OTHER are free, held by $PID"
}

@test "etcd several: one of them is removed, and created again, during the wait" {
  prepare_both
  hold
  local holder=$PID
  start sh -c 'exec tsem run "$0" -- touch ran 2>message' "$BOTH"
  local plain=$PID
  eventually is_in_line_of -b 1
  enqueue sh -c 'exec tsem run -j 1 "$0" -- touch created 2>other_message' "$BOTH"
  tsem remove -f "$OTHER"
  finish "$plain"
  expect_status 125
  expect_match 'the message' "$(<message)" "^tsem: $OTHER: it was removed during the wait"
  eventually is_in_line_of -b 1
  eventually is_in_line_of '' 1
  expect_match 'the message' "$(grep lost other_message)" "^tsem: $BOTH: '[^ ]*-b' was removed during the wait, so [^:]*$"
  kill "$holder"
  finish "$PID"
  expect_status 0
  [[ -e created && ! -e ran ]] || fail 'the wrong command has run'
}

@test "etcd several: the loss of one permit is the loss of the hold" {
  prepare_both
  start tsem run --ttl 2 "$BOTH" -- sleep 1000
  eventually is_shown .held 1
  etcdctl del --prefix "$KEYS-b/holders/" >/dev/null
  finish "$PID"
  expect_status 125
  expect_at_rest 1
}

@test "etcd several: an answer that is lost after the commit" {
  prepare_both
  local args pattern
  for pattern in /waiters/ /holders/; do
    for args in "$BOTH" "--any $BOTH"; do
      hold
      local holder=$PID other_holder
      of_other hold
      other_holder=$PID
      lossy "$pattern"
      # shellcheck disable=SC2086 # an option and names
      start env ETCDCTL_ENDPOINTS="127.0.0.1:$(<port)" "$TSEM" run $args -- sh -c 'echo "$TSEM_NAME" >>ran'
      eventually is_in_line_of -b 1
      kill "$holder"
      finish "$holder"
      [[ $args == --any* ]] || kill "$other_holder"
      finish "$PID"
      expect_status 0
      [[ ! -e lose ]] || fail 'the answer was not lost'
      kill "$other_holder" 2>/dev/null || true
      finish "$other_holder"
    done
  done
  expect_equal 'the commands' "$(tr '\n' ' ' <ran)" "$BOTH $SEM $BOTH $SEM "
  expect_at_rest 1
  of_other expect_at_rest 1
}

@test "etcd several: keepers that are killed, and the death of the holder" {
  prepare_both
  start tsem run --ttl 2 "$BOTH" -- sh -c 'echo "$TSEM_NAME" >>ran; sleep 1000'
  local both=$PID
  eventually is_shown .held 1
  start tsem run --ttl 2 "$BOTH" -- sh -c 'echo "${TSEM_RECOVERED-no}" >recovered'
  local waiter=$PID
  eventually is_in_line_of -b 1
  pkill -KILL -P "$waiter" -x tsem-keeper
  pkill -KILL -P "$both" -x tsem-keeper
  attempt tsem wait -w 3 "$OTHER" # more than the lifetime
  expect_in_vain
  is_in_line_of -b 1 || fail 'the waiter has lost its place'
  pkill -KILL -P "$both" -x sh
  finish "$waiter"
  expect_status 0
  expect_equal 'the notice' "$(<recovered)" 1
}

# bats test_tags=long
@test "etcd several: --any, a keeper that is killed keeps the one that was granted" {
  prepare_both
  hold
  start tsem run --ttl 2 --any "$BOTH" -- sh -c 'echo "$TSEM_NAME"; sleep 1000'
  local any=$PID
  eventually of_other is_shown .held 1
  pkill -KILL -P "$any" -x tsem-keeper
  attempt tsem wait -w 3 "$OTHER" # more than the lifetime
  expect_in_vain
  pkill -KILL -P "$any" -x sh
  finish "$any"
  expect_status $((128 + 9))
  attempt tsem run --any "$BOTH" -- sh -c 'echo "$TSEM_NAME ${TSEM_RECOVERED-no}"'
  expect_out "$OTHER 1"
}
