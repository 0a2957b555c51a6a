# SPDX-License-Identifier: MIT
# Deaths by SIGKILL: no permit is lost, live processes keep theirs, and the next waiter is admitted within 0.5 s.
load helper

# Starts a waiter. Its command writes the time in microseconds into the file $1, and stays: PID.
waiter() {
  enqueue tsem run "${@:2}" "$SEM" bash -c 'echo "${EPOCHREALTIME/./}" >"$0.new"; mv "$0.new" "$0"; exec sleep 1000' "$1"
}

# Runs a command, and expects the waiter $1 to be admitted within half a second. A sleep of 0.4 s that starts at the
# same time measures how late this machine wakes a process and starts another one; that much more is allowed.
expect_prompt() {
  local began=${EPOCHREALTIME/./} took late
  "${@:2}"
  start bash -c 'sleep 0.4; echo "${EPOCHREALTIME/./}" >clock.new; mv clock.new clock'
  eventually test -e "$1"
  eventually test -e clock
  took=$(($(<"$1") - began))
  late=$(($(<clock) - began - 400000))
  echo "admitted after $took us; this machine was late by $late us"
  ((took <= 500000 + late)) || fail "$1 was admitted after $took us"
}

killed() {
  kill -KILL "$@"
}

@test "crash: run and its command die while they hold: the next waiter is admitted" {
  tsem create "$SEM"
  hold
  local both=("$PID" "$COMMAND_PID")
  waiter next
  expect_prompt next killed "${both[@]}"
  expect_shown '[.held, .waiting, (.holders | length)] | @csv' 1,0,1
}

@test "crash: run dies: its live command keeps the permit until it ends" {
  tsem create "$SEM"
  hold
  local command=$COMMAND_PID
  kill -KILL "$PID"
  finish "$PID"
  waiter next
  for _ in {1..10}; do
    attempt tsem take -n "$SEM"
    expect_silence 75
    attempt tsem recover "$SEM"
    expect_out 0
  done
  expect_shown '.holders[] | [.pid, .alive] | @csv' "$command,\"yes\""
  expect_shown '[.waiters[].position] | @csv' 1
  expect_prompt next killed "$command"
}

@test "crash: run dies: the hold ends with its command, however that ends" {
  tsem create "$SEM"
  mkfifo fifo
  start tsem run "$SEM" bash -c 'touch running; read -r line <fifo'
  eventually test -e running
  kill -KILL "$PID"
  finish "$PID"
  attempt tsem run -n "$SEM" true
  expect_silence 75
  echo go >fifo
  eventually tsem run -n "$SEM" true
  expect_at_rest 1
}

@test "crash: the command dies: run exits with its status and the permit is free" {
  tsem create "$SEM"
  hold
  kill -KILL "$COMMAND_PID"
  finish "$PID"
  expect_status 137
  expect_at_rest 1
}

@test "crash: a waiter in the middle of the queue" {
  tsem create "$SEM"
  hold
  local holder=$COMMAND_PID first middle
  enqueue tsem run "$SEM" bash -c 'echo first >>order'
  first=$PID
  enqueue tsem run "$SEM" bash -c 'echo middle >>order'
  middle=$PID
  enqueue tsem run "$SEM" bash -c 'echo last >>order'
  kill -KILL "$middle"
  finish "$middle"
  kill -TERM "$holder"
  finish "$first"
  expect_status 0
  finish "$PID"
  expect_status 0
  expect_equal 'order' "$(<order)" $'first\nlast'
  expect_at_rest 1
}

@test "crash: the first waiter" {
  tsem create "$SEM"
  hold
  local holder=$COMMAND_PID first
  enqueue tsem run "$SEM" touch ran
  first=$PID
  waiter next
  kill -KILL "$first"
  finish "$first"
  expect_prompt next kill -TERM "$holder"
  [[ ! -e ran ]]
}

@test "crash: the first waiter, when the permits are enough for the next one" {
  tsem create -j 3 "$SEM"
  tsem take -k 2 "$SEM"
  enqueue tsem take -k 2 "$SEM"
  local first=$PID
  waiter next
  expect_prompt next killed "$first"
  expect_shown '[.available, .held, .waiting] | @csv' 0,3,0
}

# Kills a waiter that is enabled while it is stopped; PID is the waiter.
killed_once_enabled() {
  kill -STOP "$PID"
  tsem post "$SEM"
  attempt tsem take -n "$SEM" # the permit belongs to a live waiter
  expect_silence 75
  kill -KILL "$PID"
  finish "$PID"
}

@test "crash: an enabled waiter that has not noticed it" {
  local kind
  start sleep 1000
  local owner=$PID
  for kind in take run acquire; do
    tsem create "$SEM"
    tsem take "$SEM"
    case $kind in
    take) enqueue tsem take "$SEM" ;;
    run) enqueue tsem run "$SEM" touch ran ;;
    acquire) enqueue tsem acquire --owner "$owner" "$SEM" ;;
    esac
    killed_once_enabled
    attempt tsem take -n "$SEM"
    expect_silence
    tsem post "$SEM"
    expect_at_rest 1
    tsem remove "$SEM"
  done
  [[ ! -e ran ]]
}

@test "crash: an enabled waiter that has not noticed it, with another one behind it" {
  tsem create "$SEM"
  tsem take "$SEM"
  enqueue tsem run "$SEM" touch ran
  local first=$PID
  waiter next
  kill -STOP "$first"
  tsem post "$SEM"
  expect_shown '[.holders[].pid, .waiters[].pid] | @csv' "$first,$PID"
  expect_prompt next killed "$first"
  [[ ! -e ran ]]
}

@test "crash: five dead waiters before a live one" {
  tsem create "$SEM"
  hold
  local holder=$COMMAND_PID dead=()
  for _ in {1..5}; do
    enqueue tsem run "$SEM" touch ran
    dead+=("$PID")
  done
  waiter next
  kill -KILL "${dead[@]}"
  expect_prompt next kill -TERM "$holder"
  [[ ! -e ran ]]
  expect_shown '[.held, .waiting] | @csv' 1,0
}

@test "crash: five dead waiters before a live one, and a dead holder" {
  tsem create "$SEM"
  hold
  local dead=("$PID" "$COMMAND_PID")
  for _ in {1..5}; do
    enqueue tsem take "$SEM"
    dead+=("$PID")
  done
  waiter next
  expect_prompt next killed "${dead[@]}"
  expect_shown '[.held, .waiting] | @csv' 1,0
}

@test "crash: a try recovers before it fails" {
  tsem create -j 3 "$SEM"
  local dead=()
  for _ in 1 2 3; do
    hold
    dead+=("$PID" "$COMMAND_PID")
  done
  kill -KILL "${dead[@]}"
  eventually has_ended "${dead[-1]}"
  attempt tsem run -n -k 3 "$SEM" echo ran
  expect_status 0
  expect_out ran
  expect_at_rest 3
}

@test "crash: every kind of try recovers before it fails" {
  local try
  for try in 'take -n' 'take -w 0' "acquire -n --owner $BASHPID"; do
    tsem create "$SEM"
    hold
    kill -KILL "$PID" "$COMMAND_PID"
    eventually has_ended "$COMMAND_PID"
    # shellcheck disable=SC2086
    attempt tsem $try "$SEM"
    expect_silence
    tsem remove -f "$SEM"
  done
}

@test "crash: the owner of an acquired hold" {
  tsem create "$SEM"
  start sleep 1000
  local owner=$PID
  tsem acquire --owner "$owner" "$SEM"
  waiter next
  expect_prompt next killed "$owner"
}

@test "crash: a dead owner is recovered even if no process has waited" {
  tsem create "$SEM"
  start negligent-parent.py sleep 1000
  eventually test -e child
  tsem acquire --owner "$(<child)" "$SEM"
  attempt tsem take -n "$SEM"
  expect_silence 75
  kill -KILL "$(<child)"
  eventually has_ended "$(<child)"
  [[ -e /proc/$(<child) ]] || fail 'it was waited for'
  attempt tsem take -n "$SEM"
  expect_silence
}

@test "crash: a killed take leaves the queue and takes no permit" {
  tsem create "$SEM"
  tsem take "$SEM"
  enqueue tsem take "$SEM"
  kill -KILL "$PID"
  finish "$PID"
  tsem post "$SEM"
  attempt tsem take -n "$SEM"
  expect_silence
  tsem post "$SEM"
  expect_at_rest 1
}

@test "crash: at random moments, many times: all permits come back" {
  tsem create -j 2 "$SEM"
  local i
  for i in {1..60}; do
    start tsem run "$SEM" true
    ((i % 7 == 0)) || sleep "0.00$((i % 7))" # at different moments
    kill -KILL -- "-$PID" 2>/dev/null || true
  done
  for i in "${STARTED[@]}"; do
    finish "$i"
  done
  tsem recover "$SEM"
  expect_at_rest 2
  attempt tsem run -n -k 2 "$SEM" true
  expect_silence
}
