# SPDX-License-Identifier: MIT
# How long a hold or a place lasts: processes that are killed, leases that end, a store that is silent.
# shellcheck disable=SC2016,SC2153 # the inner shells expand these; the helper sets KEEPER
load helper

@test "etcd run: the hold lasts as long as the command, even if tsem run or its keeper is killed, or its keeper is stopped" {
  prepare 3
  hold --ttl 2
  local orphan=$PID command=$COMMAND_PID keeper=$KEEPER holders=() keepers=() fences fence
  mkfifo end
  for _ in killed stopped; do
    start tsem run --ttl 2 "$SEM" -- sh -c ': <end'
    eventually pgrep -P "$PID" -x sh
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
  : >end
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

@test "etcd run: a waiter whose keeper is killed, and whose lease ends before there is another one, says so" {
  prepare
  hold
  local holder=$PID its_keeper
  start sh -c 'exec tsem run --ttl 2 "$SEM" -- true 2>message'
  eventually is_waiting "$PID"
  its_keeper=$(pgrep -P "$PID" -x tsem-keeper)
  kill -STOP "$PID"
  kill -KILL "$its_keeper"
  eventually is_shown .waiting 0
  kill -CONT "$PID"
  eventually is_shown .waiting 1
  expect_match 'the message' "$(<message)" "^tsem: $SEM: the store has ended the lease.*waits again, at the end"
  kill "$holder"
  finish "$PID"
  expect_status 0
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
  # As a mirror of the store copies it: without the lease.
  key=$(lease_of holders)
  etcdctl get --print-value-only "$KEYS/holders/$key" | etcdctl put "$KEYS/waiters/$key" >/dev/null
  attempt tsem run "$SEM" -- touch ran
  expect_failure 'keys of another program are in its place'
  etcdctl del "$KEYS/waiters/$key" >/dev/null
  etcdctl put "$KEYS/held/" '' >/dev/null
  etcdctl put "$KEYS/held/$(printf 'a%.0s' {1..600})/" '' >/dev/null
  etcdctl put "$KEYS/holders/"$'\xff' '' >/dev/null
  etcdctl put "$KEYS/held/"$'\xff' '' >/dev/null
  start tsem run "$SEM" -- true
  eventually is_shown .waiting 1
  kill "$holder"
  finish "$PID"
  expect_status 0
  [[ ! -e ran ]]
}

@test "etcd run: the hand-over is told while the waiter waits for an older view" {
  prepare
  start tsem run "$SEM" -- sh -c 'until [ -e end ]; do sleep 0.01; done'
  eventually is_shown .held 1
  enqueue tsem run "$SEM" -- true
  local first=$PID
  proxy .
  enqueue env ETCDCTL_ENDPOINTS="127.0.0.1:$(<port)" tsem run "$SEM" -- sh -c 'echo "$TSEM_FENCE $TSEM_SLOT" >mine; exec sleep 1000'
  local second=$PID
  : >delay
  kill "$first"
  eventually test -e delayed
  : >end
  eventually is_shown '.holders[0].pid' "$second"
  rm delay
  eventually test -s mine
  expect_shown '.holders[0] | "\(.fence) \(.slot)"' "$(<mine)"
}

# bats test_tags=long
@test "etcd run: without a keeper, and without another one, the command is killed, or gets the signal of --on-lost" {
  prepare
  hold --ttl 2
  prlimit --pid "$PID" --nofile=3:3
  kill -KILL "$KEEPER"
  finish "$PID"
  expect_status 125
  eventually is_shown .held 0
  start sh -c 'exec tsem run --ttl 2 --on-lost ignore "$SEM" -- sleep 1000 2>message'
  eventually is_command_of "$PID"
  prlimit --pid "$PID" --nofile=3:3
  kill -KILL "$KEEPER"
  eventually test -s message
  kill "$COMMAND_PID"
  finish "$PID"
  expect_match 'the messages' "$(<message)" 'hold is lost: there is no keeper.*the permits cannot be given back now, so they come back later'
  hold --ttl 2 --on-lost USR1
  prlimit --pid "$PID" --nofile=3:3
  kill -KILL "$KEEPER"
  finish "$PID"
  expect_status $((128 + 10))
}

@test "etcd run: the process that would become the command is killed during the wait" {
  prepare
  hold
  enqueue sh -c 'exec tsem run "$SEM" -- true 2>message'
  pkill -KILL -P "$PID" -x tsem-etcd
  finish "$PID"
  expect_status 125
  expect_match 'the message' "$(<message)" "^tsem: $SEM: the process that was to execute the command was killed during the wait"
  expect_shown .waiting 0
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
