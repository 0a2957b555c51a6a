# SPDX-License-Identifier: MIT
# Run and wait on a real etcd. After each test, every revision of the semaphore is checked.
# shellcheck disable=SC2016,SC2153 # the inner shells expand these; the helper sets KEEPER
load helper

keys_in() {
  etcdctl get --prefix --keys-only "$KEYS/$1/" | grep -c . || true
}

lease_of() {
  local key
  key=$(etcdctl get --prefix --keys-only "$KEYS/$1/" | grep . | tail -1)
  echo "${key##*/}"
}

place_of() {
  field ".waiters[] | select(.pid == $1) | .position"
}

@test "etcd run: the command holds while it runs, and no longer" {
  prepare 2
  attempt tsem run "$SEM" -- sh -c 'tsem show -J "$TSEM_NAME"; echo "$TSEM_COUNT $TSEM_SLOT $TSEM_SLOTS ${TSEM_RECOVERED-no}" >&2; exit 3'
  expect_status 3
  expect_err '1 0 0 no'
  expect_equal 'the holder' "$(jq -r '.holders[] | [.host, .count, .slot, .command | tostring] | join(" ")' <<<"$OUT")" \
    "$(uname -n) 1 0 sh -c tsem show -J \"\$TSEM_NAME\"; echo \"\$TSEM_COUNT \$TSEM_SLOT \$TSEM_SLOTS \${TSEM_RECOVERED-no}\" >&2; exit 3"
  expect_at_rest 2
  eventually test "$(etcdctl lease list | head -1)" = 'found 0 leases'
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

@test "etcd run: the hold lasts as long as the command, even if tsem run or its keeper is killed, or its keeper is stopped" {
  prepare 3
  hold --ttl 2
  local orphan=$PID command=$COMMAND_PID keeper=$KEEPER holders=() keepers=() fences fence
  for _ in killed stopped; do
    start tsem run --ttl 2 "$SEM" -- sleep 5
    eventually pgrep -P "$PID" -x sleep
    holders+=("$PID")
    keepers+=("$(pgrep -P "$PID" -x tsem-keeper)")
  done
  fences=$(field '.holders[].fence')
  kill -KILL "$orphan" "${keepers[0]}"
  kill -STOP "${keepers[1]}"
  finish "$orphan"
  # More than the lifetime of a lease that no keeper keeps alive.
  attempt tsem wait -w 3 "$SEM"
  expect_in_vain
  expect_shown '.holders[].fence' "$fences"
  for i in 0 1; do
    has_ended "${keepers[i]}" || fail 'the keeper was not replaced'
    finish "${holders[i]}"
    expect_status 0
  done
  attempt tsem run "$SEM" -- sh -c 'echo "$TSEM_FENCE ${TSEM_RECOVERED-no}"'
  expect_match 'fence and notice' "$OUT" ' no$'
  for fence in $fences; do
    ((${OUT% *} > fence)) || fail "the fence was $fence before"
  done
  enqueue tsem run -k 3 "$SEM" -- sh -c 'echo "${TSEM_RECOVERED-no}" >next'
  kill -KILL "$command"
  finish "$PID"
  expect_equal 'the notice to the next one' "$(<next)" 1
  eventually has_ended "$keeper"
}

# The keeper of a waiter with -v has at least one connection for its requests, each second, beside the one for what it is told.
is_told() {
  local keeper
  keeper=$(pgrep -P "$1" -x tsem-keeper) && (($(ss -Htnp state established | grep -c "pid=$keeper,") >= 2))
}

@test "etcd run: waiters whose keepers are killed keep their places" {
  prepare
  hold
  local holder=$PID waiters=()
  enqueue tsem run -v "$SEM" -- sh -c 'echo first >>order; kill -KILL $$' # only the end of its lease tells the next one
  waiters+=("$PID")
  enqueue tsem run -v "$SEM" -- sh -c 'echo second >>order'
  waiters+=("$PID")
  for waiter in "${waiters[@]}"; do
    eventually is_told "$waiter"
    pkill -KILL -P "$waiter" -x tsem-keeper
    eventually is_told "$waiter"
  done
  kill "$holder"
  for waiter in "${waiters[@]}"; do finish "$waiter"; done
  expect_equal 'order' "$(tr '\n' ' ' <order)" 'first second '
}

@test "etcd run: a waiter whose lease has ended waits again, at the end, and says so" {
  prepare
  hold
  local holder=$PID
  start sh -c 'exec tsem run --ttl 2 "$SEM" -- sh -c "echo first >>order" 2>message'
  local first=$PID
  eventually is_waiting "$first"
  local lease
  lease=$(lease_of waiters)
  enqueue tsem run "$SEM" -- sh -c 'echo second >>order'
  local second=$PID
  etcdctl lease revoke "$lease" >/dev/null
  eventually is_shown ".waiters[1].pid" "$first"
  expect_match 'the message' "$(<message)" "^tsem: $SEM: the store has ended the lease.*waits again, at the end"
  kill "$holder"
  finish "$first"
  finish "$second"
  expect_equal 'order' "$(tr '\n' ' ' <order)" 'second first '
}

@test "etcd run: a holder or waiter that is none of tsem's is refused, and harms no holder" {
  prepare
  hold
  local holder=$PID key
  for key in holders/x waiters/x waiters/$'\xff'; do
    etcdctl put "$KEYS/$key" '[]' >/dev/null
    attempt tsem run "$SEM" -- touch ran
    expect_failure 'keys of another program are in its place'
    etcdctl del "$KEYS/$key" >/dev/null
  done
  etcdctl put "$KEYS/holders/"$'\xff' '' >/dev/null
  etcdctl put "$KEYS/held/"$'\xff' '' >/dev/null
  start tsem run "$SEM" -- true
  eventually is_shown .waiting 1
  kill "$holder"
  finish "$PID"
  expect_status 0
  [[ ! -e ran ]]
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

@test "etcd run: without a keeper, and without another one, the command is killed, or gets the signal of --on-lost" {
  prepare
  hold --ttl 2
  prlimit --pid "$PID" --nofile=3:3
  kill -KILL "$KEEPER"
  finish "$PID"
  expect_status 125
  hold --ttl 2 --on-lost USR1
  prlimit --pid "$PID" --nofile=3:3
  kill -KILL "$KEEPER"
  finish "$PID"
  expect_status $((128 + 10))
}

@test "etcd run: the process that would become the command is killed during the wait" {
  prepare
  hold
  local holder=$PID
  enqueue tsem run "$SEM" -- true
  pkill -KILL -P "$PID" -x tsem-etcd
  kill "$holder"
  finish "$PID"
  expect_status $((128 + 9))
}

# lose OPTION...: a hold whose lease is revoked by an administrator. The command counts its signals.
lose() {
  start sh -c 'exec "$@" 2>message' - tsem run --ttl 2 "$@" "$SEM" -- \
    sh -c 'trap "echo usr1 >>got" USR1; trap "echo term >>got" TERM; : >ready; while [ ! -e end ]; do sleep 0.01; done; exit 6'
  eventually test -e ready
  etcdctl lease revoke "$(lease_of holders)" >/dev/null
  eventually test -s message
}

@test "etcd run: a command that has lost its hold gets SIGTERM, and is killed" {
  prepare
  lose
  finish "$PID"
  expect_status 125
  expect_equal 'signals' "$(<got)" term
  expect_match 'the message' "$(<message)" "^tsem: $SEM: the hold is lost: the store has ended it, or the semaphore was removed \(the command is stopped\)$"
}

@test "etcd run: without contact, the command is dead before its lifetime ends" {
  prepare
  local ttl=2 silent alive
  start sh -c 'exec "$@" 2>message' - tsem run --ttl "$ttl" "$SEM" -- \
    sh -c 'trap "echo term >>got" TERM; while :; do cut -d" " -f1 /proc/uptime >>alive; done'
  eventually test -s alive
  read -r silent _ </proc/uptime
  stop_store
  finish "$PID"
  continue_store
  expect_status 125
  expect_equal 'signals' "$(<got)" term
  expect_match 'the first message' "$(head -1 message)" "^tsem: $SEM: the hold is lost: no member of the store has answered in time"
  alive=$(last_time alive)
  jq -en "$alive - $silent < $ttl" || fail "the store was silent from $silent on, and the command lived until $alive"
  attempt tsem run "$SEM" -- true
  expect_status 0
}

@test "etcd run: --on-lost ignore and --on-lost SIGNAL leave the end to the command" {
  prepare
  lose --on-lost ignore
  : >end
  finish "$PID"
  expect_status 6
  [[ ! -e got ]] || fail 'it got a signal'
  rm -f end ready message
  lose --on-lost USR1
  eventually test -s got
  : >end
  finish "$PID"
  expect_status 6
  expect_equal 'signals' "$(<got)" usr1
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
