# SPDX-License-Identifier: MIT
# Run and wait on a real etcd. After each test, every revision of the semaphore is checked.
# shellcheck disable=SC2016,SC2153 # the inner shells expand these; the helper sets PID
load helper

has_no_lease() {
  [[ $(etcdctl lease timetolive "$1") == *'already expired' ]]
}

place_of() {
  field ".waiters[] | select(.pid == $1) | .position"
}

@test "etcd run: the command holds while it runs, and no longer" {
  prepare 2
  attempt tsem run --slot-env CARD "$SEM" -- sh -c 'tsem show -J "$TSEM_NAME"; echo "$TSEM_COUNT $TSEM_SLOT $TSEM_SLOTS $CARD ${TSEM_RECOVERED-no}" >&2; exit 3'
  expect_status 3
  expect_err '1 0 0 0 no'
  expect_equal 'the holder' "$(jq -r '.holders[] | [.host, .count, .slot, .command | tostring] | join(" ")' <<<"$OUT")" \
    "$(uname -n) 1 0 sh -c tsem show -J \"\$TSEM_NAME\"; echo \"\$TSEM_COUNT \$TSEM_SLOT \$TSEM_SLOTS \$CARD \${TSEM_RECOVERED-no}\" >&2; exit 3"
  expect_at_rest 2
  hold
  local lease
  lease=$(lease_of holders)
  kill "$PID"
  eventually has_no_lease "$lease"
}

@test "etcd run: TSEM_FENCE is the fence that show prints, and rises" {
  prepare
  local fences=()
  for _ in 1 2 3; do
    attempt tsem run "$SEM" -- sh -c 'tsem show --noheadings --raw -o FENCE "$TSEM_NAME"; echo "$TSEM_FENCE"'
    expect_status 0
    mapfile -t lines <<<"$OUT"
    expect_equal 'fence' "${lines[-1]}" "${lines[-2]}"
    fences+=("${lines[-1]}")
  done
  expect_equal 'fences' "$(printf '%s\n' "${fences[@]}" | sort -n -u | tr '\n' ' ')" "${fences[*]} "
}

@test "etcd run: the exit status is the command's, or says why there was none" {
  prepare
  attempt tsem run "$SEM" -- sh -c 'kill -USR1 $$'
  expect_status $((128 + 10))
  attempt tsem run "$SEM" -- no-such-command
  expect_status 127
  expect_message "$SEM: cannot run 'no-such-command': No such file or directory"
  attempt tsem run "$SEM" -- /dev/null
  expect_status 126
  expect_equal 'holders and waiters' "$(keys_in holders) $(keys_in waiters)" '0 0'
  attempt tsem run "$SEM" -c 'exit 4'
  expect_status 4
}

@test "etcd run: -j creates the semaphore, and another number is refused" {
  prepare
  tsem remove "$SEM"
  attempt tsem run -q -j 2 "$SEM" -- tsem run -q -j 2 "$SEM" -- true
  expect_status 0
  expect_shown .capacity 2
  attempt tsem run -j 3 "$SEM" -- true
  expect_failure "$SEM: it exists with -j 2 and has a capacity of 2 now, not -j 3"
  attempt tsem run -j 0 "$SEM" -- true
  expect_failure "$SEM: with -j 0 nothing would ever run"
  tsem remove "$SEM"
  attempt tsem run "$SEM" -- true
  expect_failure "$SEM: no such semaphore"
  expect_equal 'keys' "$(etcdctl get --prefix "$KEYS/")" ''
}

@test "etcd run: -n and -w do not wait, or not long, and leave nothing" {
  prepare 2
  hold -k 2
  attempt tsem run -n "$SEM" -- touch ran
  expect_silence 75
  attempt tsem run -n -v "$SEM" -- touch ran
  expect_in_vain
  attempt tsem run -w 50ms "$SEM" -- touch ran
  expect_in_vain
  expect_match 'the reason' "$ERR" "held by $PID on $(uname -n) .*\(sleep 1000\)"
  attempt tsem run -q -w 0 -E 9 "$SEM" -- touch ran
  expect_silence 9
  attempt tsem run -k 3 "$SEM" -- touch ran
  expect_failure "$SEM: 3 permits are more than there are \(ask for 1 to 2\)"
  expect_equal 'waiters' "$(keys_in waiters)" 0
  [[ ! -e ran ]] || fail 'the command has run'
}

@test "etcd run: first come, first served" {
  prepare
  hold
  local holder=$PID pids=()
  for i in 1 2 3 4 5; do
    enqueue tsem run "$SEM" -- sh -c "echo $i >>order"
    pids+=("$PID")
  done
  expect_equal 'place of the third' "$(place_of "${pids[2]}")" 3
  attempt tsem run -n "$SEM" -- true
  expect_silence 75
  kill "$holder"
  for pid in "${pids[@]}"; do
    finish "$pid"
    expect_status 0
  done
  expect_equal 'order' "$(tr '\n' ' ' <order)" '1 2 3 4 5 '
}

@test "etcd run: a big request is not overtaken by small ones, and a raised capacity admits all that fit" {
  prepare 2
  hold
  enqueue tsem run -k 2 "$SEM" -- sleep 1000
  local big=$PID
  enqueue tsem run "$SEM" -- sleep 1000
  tsem set -j 4 "$SEM"
  eventually is_shown '[.held, .waiting] | @csv' 4,0
  expect_equal 'slots' "$(field '[.holders[] | (.slots // [.slot])[]] | sort | @csv')" 0,1,2,3
  [[ -d /proc/$big ]] || fail 'the big one has ended'
}

@test "etcd run: the next holder learns of a command that was killed, and only of that" {
  prepare
  hold
  local holder=$PID
  kill -KILL "$COMMAND_PID"
  finish "$holder"
  expect_status $((128 + 9))
  attempt tsem run "$SEM" -- sh -c 'echo "${TSEM_RECOVERED-no}"'
  expect_out 1
  attempt tsem run "$SEM" -- sh -c 'echo "${TSEM_RECOVERED-no}"'
  expect_out no
}

@test "etcd run: a command that was not executed keeps the notice of a death for the next one" {
  prepare
  hold
  kill -KILL "$COMMAND_PID"
  finish "$PID"
  attempt tsem run "$SEM" -- no-such-command
  expect_status 127
  attempt tsem run "$SEM" -- sh -c 'echo "${TSEM_RECOVERED-no}"'
  expect_out 1
}

@test "etcd run: a signal during the wait gives the place up" {
  prepare
  hold
  local holder=$PID
  for signal in TERM HUP INT; do
    enqueue tsem run "$SEM" -- touch ran
    kill -"$signal" "$PID"
    finish "$PID"
    expect_status $((128 + $(kill -l "$signal")))
    expect_equal 'waiters' "$(keys_in waiters)" 0
  done
  kill "$holder"
  finish "$holder"
  [[ ! -e ran ]] || fail 'the command has run'
}

@test "etcd run: a signal at any time gives the permits back" {
  prepare
  local begin whole parts=15
  begin=$(date +%s%N)
  tsem run "$SEM" -- true
  whole=$(($(date +%s%N) - begin))
  for ((i = 1; i < parts; i++)); do
    start tsem run "$SEM" -- sleep 1000
    sleep "$(printf '0.%09d' $((whole * i / parts)))"
    kill "$PID"
    finish "$PID"
    expect_status $((128 + 15))
    attempt tsem run -w 1 "$SEM" -- true
    expect_status 0
  done
}

@test "etcd run: signals reach the command" {
  prepare
  start tsem run "$SEM" -- sh -c 'trap "echo usr1 >>got" USR1; trap "exit 5" TERM; : >ready; while :; do sleep 0.01; done'
  eventually test -e ready
  kill -USR1 "$PID"
  eventually test -s got
  kill -TERM "$PID"
  finish "$PID"
  expect_status 5
}

@test "etcd run: -j 0 of another process is a wait, as on one machine" {
  prepare 0
  attempt tsem run -n "$SEM" -- true
  expect_status 75
  start tsem run -k 2 "$SEM" -- true
  eventually is_shown .waiting 1
  tsem set -j 2 "$SEM"
  finish "$PID"
  expect_status 0
}

@test "etcd run: --ttl and --on-lost need sense, and a semaphore on etcd" {
  prepare
  for ttl in 0 1 1e9 25h 2500ms -1; do
    attempt tsem run --ttl "$ttl" "$SEM" -- true
    expect_failure "--ttl '$ttl' is"
  done
  attempt tsem run --on-lost stopp "$SEM" -- true
  expect_failure "--on-lost 'stopp' is not valid"
  attempt tsem run --ttl 5 -j 1 "local-$BATS_TEST_NUMBER" -- true
  expect_failure 'local-[0-9]*: --ttl works only for a semaphore on etcd'
  expect_equal 'keys' "$(keys_in holders)" 0
}

@test "etcd run: closed standard descriptors, and few descriptors" {
  prepare
  attempt sh -c 'tsem run "$SEM" -- sh -c "[ ! -e /proc/self/fd/0 ] && sleep 0.1" <&- >&- 2>&-'
  expect_status 0
  attempt sh -c 'ulimit -n 7; tsem run "$SEM" -- true'
  expect_status 125
  attempt tsem run "$SEM" -- sh -c 'echo "${TSEM_RECOVERED-no}"'
  expect_out no
}

@test "etcd run: a semaphore that is removed during the wait" {
  prepare
  hold
  start sh -c 'exec tsem run "$SEM" -- touch ran 2>message'
  local plain=$PID
  eventually is_waiting "$plain"
  enqueue tsem run -q -j 1 "$SEM" -- touch ran-too
  local creating=$PID
  tsem remove -f "$SEM"
  finish "$plain"
  expect_status 125
  expect_equal 'the message' "$(<message)" "tsem: $SEM: it was removed during the wait (create it again)"
  [[ ! -e ran ]] || fail 'the command has run'
  finish "$creating"
  expect_status 0
  [[ -e ran-too ]] || fail 'the command has not run'
}

@test "etcd run: -v tells of the wait" {
  prepare
  hold
  local holder=$PID
  start sh -c 'exec tsem run -v "$SEM" -- true 2>message'
  local waiter=$PID
  eventually grep -q "^tsem: $SEM: held by $holder on .*place 1, waiting" message
  kill "$holder"
  finish "$waiter"
  expect_match 'the messages' "$(<message)" "tsem: $SEM: admitted after [0-9.]+ s$"
}

@test "etcd wait: until what was taken is posted" {
  prepare
  tsem take "$SEM"
  start sh -c 'exec tsem wait -v "$SEM" 2>message'
  eventually test -s message
  tsem post "$SEM"
  finish "$PID"
  expect_status 0
}

@test "etcd wait: until no process holds or waits" {
  prepare
  attempt tsem wait "$SEM"
  expect_silence
  hold
  local holder=$PID
  attempt tsem wait -n "$SEM"
  expect_silence 75
  attempt tsem wait -w 50ms "$SEM"
  expect_in_vain
  start tsem wait "$SEM"
  local waiting=$PID
  start tsem wait --holders "$SEM"
  kill "$holder"
  finish "$waiting"
  expect_status 0
  finish "$PID"
  expect_status 0
}
