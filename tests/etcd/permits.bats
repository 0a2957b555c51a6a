# SPDX-License-Identifier: MIT
# Take, post, acquire, release, cancel and recover on a real etcd. After each test, every revision of the semaphore is checked.
# shellcheck disable=SC2016,SC2153 # the inner shells expand these; the helper sets PID
load helper

counts() {
  is_shown '[.available, .held, (.holders | length), .waiting] | @csv' "$1"
}

has_no_keeper() {
  ! pgrep -x tsem-keeper
}

# What a test before has left ends with its lifetime.
has_no_lease() {
  [[ -z $(comm -13 leases.before <(leases)) ]]
}

through_proxy() {
  attempt env ETCDCTL_ENDPOINTS="127.0.0.1:$(<port)" "$TSEM" "$@"
}

@test "etcd take, post: permits without a recorded holder" {
  prepare 3
  attempt tsem take -k 2 "$SEM"
  expect_silence
  counts 1,2,0,0
  attempt tsem take -n -k 2 "$SEM"
  expect_silence 75
  attempt tsem take -w 50ms -k 2 "$SEM"
  expect_in_vain
  attempt tsem post -p "$SEM"
  expect_status 0
  expect_out 1
  counts 2,1,0,0
  attempt tsem post -k 2 "$SEM"
  expect_failure "$SEM: the post would exceed the limit.*nothing was posted"
  attempt tsem wait -n "$SEM"
  expect_silence 75
  attempt tsem remove "$SEM"
  expect_failure "$SEM: it is in use"
  tsem post "$SEM"
  expect_at_rest 3
  eventually has_no_lease
}

@test "etcd take, post: a post admits the first waiter, and a take waits in the same line" {
  prepare
  tsem take "$SEM"
  enqueue tsem run "$SEM" -- sh -c 'echo run >>order'
  local run=$PID
  enqueue tsem take "$SEM"
  tsem post "$SEM"
  finish "$run"
  expect_status 0
  finish "$PID"
  expect_status 0
  expect_equal 'order' "$(<order)" run
  counts 0,1,0,0
  enqueue tsem take "$SEM"
  kill "$PID"
  finish "$PID"
  expect_status $((128 + 15))
  expect_equal 'waiters' "$(keys_in waiters)" 0
}

@test "etcd take, post: an answer that is lost after the commit" {
  prepare 5
  lossy /anonymous
  through_proxy take -k 3 "$SEM"
  expect_silence
  [[ ! -e lose ]] || fail 'the answer was not lost'
  counts 2,3,0,0
  : >lose
  through_proxy post -p "$SEM"
  expect_status 0
  expect_out 2
  [[ ! -e lose ]] || fail 'the answer was not lost'
  counts 3,2,0,0
}

@test "etcd take, post: many at once, and tsem take killed at any time" {
  prepare 4
  local pids=()
  for i in {1..20}; do
    start sh -c 'for n in 1 2 3; do tsem take "$SEM" && tsem post "$SEM" || exit; done'
    pids+=("$PID")
    start tsem take "$SEM"
    sleep "0.0$((i % 10))"
    kill -KILL "$PID" 2>/dev/null || true # it may have taken them, and have ended
    finish "$PID"
  done
  # Those that were killed may have taken some before, and their keepers may do so later.
  for i in "${pids[@]}"; do
    until has_ended "$i"; do tsem set --exact "$SEM"; done
  done
  eventually has_no_keeper
  tsem set --exact "$SEM"
  attempt tsem wait -w 60 "$SEM"
  expect_silence
  expect_at_rest 4
}

@test "etcd set: --exact forgets what was taken" {
  prepare 3
  tsem take -k 3 "$SEM"
  start tsem run "$SEM" -- true
  attempt tsem set --exact -j 2 "$SEM"
  expect_silence
  finish "$PID"
  expect_status 0
  expect_at_rest 2
}

@test "etcd acquire: the hold lasts until the process ends, and is told as that of a dead one" {
  prepare 3
  owner
  attempt tsem acquire --ttl 2 --owner "$OWNER" -k 2 "$SEM"
  expect_silence
  expect_shown '.holders[] | [.pid, .count, .command] | @csv' "$OWNER,2,\"sleep 1000\""
  attempt tsem wait -w 3 "$SEM" # more than the lifetime of a lease
  expect_in_vain
  start tsem run -k 3 "$SEM" -- sh -c 'echo "${TSEM_RECOVERED-no}" >recovered'
  kill "$OWNER"
  finish "$PID"
  expect_status 0
  expect_equal 'the notice' "$(<recovered)" 1
  eventually has_no_lease
}

# The lifetime is so long that the keepers know it only because the store tells them.
@test "etcd acquire, release: the newest hold of the process is given back, and the first waiter gets it" {
  prepare 2
  owner
  tsem acquire --ttl 600 --owner "$OWNER" "$SEM"
  local first
  first=$(field '.holders[].fence')
  tsem acquire --ttl 600 --owner "$OWNER" "$SEM"
  enqueue tsem run "$SEM" -- sh -c 'echo "${TSEM_RECOVERED-no}" >recovered'
  attempt tsem release --owner "$OWNER" "$SEM"
  expect_silence
  finish "$PID"
  expect_status 0
  expect_equal 'the notice' "$(<recovered)" no
  expect_shown '.holders[].fence' "$first"
  tsem release --owner "$OWNER" "$SEM"
  expect_at_rest 2
  eventually has_no_lease
  attempt tsem release --owner "$OWNER" "$SEM"
  expect_failure "$SEM: process $OWNER does not hold permits"
  hold
  attempt tsem release --owner "$PID" "$SEM"
  expect_failure "$SEM: process $PID has no hold made by 'tsem acquire'"
}

@test "etcd acquire: the owner of a hold whose semaphore or key is removed gets the signal" {
  prepare
  owner
  tsem acquire --ttl 600 --owner "$OWNER" "$SEM"
  etcdctl del "$KEYS/holders/$(lease_of holders)" >/dev/null
  finish "$OWNER"
  expect_status $((128 + 15))
  owner
  tsem acquire --ttl 600 --owner "$OWNER" "$SEM"
  tsem remove -f "$SEM"
  finish "$OWNER"
  expect_status $((128 + 15))
  tsem create -j 1 "$SEM"
  owner
  tsem acquire --ttl 600 --on-lost ignore --owner "$OWNER" "$SEM"
  tsem remove -f "$SEM"
  eventually has_no_keeper
  kill -0 "$OWNER" || fail 'the owner has ended'
}

@test "etcd release: two at once give back two holds" {
  prepare 2
  owner
  for _ in {1..4}; do
    tsem acquire --owner "$OWNER" "$SEM"
    tsem acquire --owner "$OWNER" "$SEM"
    start tsem release --owner "$OWNER" "$SEM"
    local other=$PID
    start tsem release --owner "$OWNER" "$SEM"
    all_succeed "$other" "$PID"
    expect_shown .held 0
  done
}

@test "etcd take: a signal ends it without a permit, or comes too late" {
  prepare 20
  local taken=0
  for i in {1..20}; do
    attempt timeout --preserve-status "0.0$((20 + i * 2))" "$TSEM" take "$SEM"
    taken=$((taken + (STATUS == 0)))
  done
  expect_shown .held "$taken"
}

@test "etcd acquire: an owner that is lost, ends during the wait, or is none" {
  prepare
  owner
  tsem acquire --ttl 2 --owner "$OWNER" "$SEM"
  etcdctl lease revoke "$(lease_of holders)" >/dev/null
  finish "$OWNER"
  expect_status $((128 + 15))
  tsem take "$SEM"
  owner
  start sh -c 'exec tsem acquire --owner "$0" "$SEM" 2>message' "$OWNER"
  eventually is_shown .waiting 1
  kill "$OWNER"
  finish "$PID"
  expect_status 125
  expect_match 'the message' "$(<message)" "^tsem: $SEM: process $OWNER ended before its permits were granted"
  finish "$OWNER"
  counts 0,1,0,0
  attempt tsem acquire --owner "$OWNER" "$SEM"
  expect_failure "$SEM: there is no process $OWNER to hold for"
  attempt tsem acquire "$SEM"
  expect_failure "$SEM: acquire needs --owner PID"
  attempt tsem release --owner "$OWNER" "$SEM"
  expect_failure "$SEM: there is no process $OWNER"
  owner
  start tsem acquire --owner "$OWNER" "$SEM"
  eventually is_shown .waiting 1
  kill "$PID"
  finish "$PID"
  expect_status $((128 + 15))
  expect_equal 'waiters' "$(keys_in waiters)" 0
}

@test "etcd cancel: all waiters give up with status 75, or those of one process, and holders go on" {
  prepare
  hold
  local holder=$PID
  enqueue tsem run -v "$SEM" -- touch ran
  local first=$PID
  enqueue tsem take "$SEM"
  local second=$PID
  enqueue tsem run -E 3 "$SEM" -- touch ran
  attempt tsem cancel --owner "$first" "$SEM"
  expect_silence
  finish "$first"
  expect_status 75
  is_shown .waiting 2
  attempt tsem cancel --owner "$holder" "$SEM"
  expect_failure "$SEM: process $holder does not wait"
  attempt tsem cancel "$SEM"
  expect_silence
  finish "$PID"
  expect_status 3
  finish "$second"
  expect_status 75
  enqueue tsem run "$SEM" -- touch later # a cancellation does not concern it
  kill "$holder"
  finish "$PID"
  expect_status 0
  [[ ! -e ran && -e later ]] || fail 'a cancelled one has run, or a later one has not'
}

@test "etcd cancel: a wait that is granted its permits between the look of tsem cancel and its request" {
  prepare
  start tsem run "$SEM" -- sh -c 'until [ -e end ]; do sleep 0.01; done'
  eventually is_shown .held 1
  enqueue tsem run "$SEM" -- sleep 1000
  local waiter=$PID
  proxy .
  : >delay
  start env ETCDCTL_ENDPOINTS="127.0.0.1:$(<port)" tsem cancel --owner "$waiter" "$SEM"
  eventually test -e delayed
  : >end
  eventually is_command_of "$waiter"
  rm delay
  finish "$PID"
  expect_status 0
  expect_shown '[.holders[0].pid, .waiting] | @csv' "$waiter,0"
}

@test "etcd cancel: a waiter whose keeper is killed at the same time" {
  prepare
  hold
  enqueue tsem run -v "$SEM" -- touch ran
  pkill -STOP -P "$PID" -x tsem-keeper
  tsem cancel "$SEM"
  pkill -KILL -P "$PID" -x tsem-keeper
  finish "$PID"
  expect_status 75
}

@test "etcd recover: processes of this machine that are dead, before their lifetime is over" {
  prepare 4
  attempt tsem recover "$SEM"
  expect_out 0
  hold
  local killed=$PID keeper=$KEEPER command=$COMMAND_PID
  hold -k 2
  kill -KILL "$killed" "$keeper"
  finish "$killed"
  attempt tsem recover "$SEM"
  expect_out 0 # the command lives
  attempt tsem recover --force --owner "$killed" "$SEM"
  expect_failure "$SEM: process $killed is alive"
  kill -KILL "$command"
  eventually has_ended "$command"
  attempt tsem recover "$SEM"
  expect_status 0
  expect_out 1
  expect_shown '.holders[].pid' "$PID"
  attempt tsem run "$SEM" -- sh -c 'echo "${TSEM_RECOVERED-no}"'
  expect_out 1
}

@test "etcd recover: a process whose first thread has ended lives" {
  prepare
  start tsem run -F "$SEM" python3 -c '
import ctypes, threading, time
threading.Thread(target=time.sleep, args=[1000]).start()
ctypes.CDLL(None).pthread_exit(None)'
  eventually grep -q '^State:.Z' "/proc/$PID/status"
  attempt tsem recover "$SEM"
  expect_out 0
  expect_shown .held 1
}

@test "etcd recover: --owner --force, a process of another machine" {
  prepare 4
  local other='{"host":"alpha","machine":"other","pid":17,"uid":0,"command":"make","count":2,"since":0,"slots":[0,1],"view":0}' lease key
  for key in holders/00000000000000a1 waiters/00000000000000a2; do
    lease=$(etcdctl lease grant 100 | cut -d' ' -f2)
    etcdctl put --lease="$lease" "$KEYS/${key%/*}/$lease" "$other" >/dev/null
  done
  attempt tsem recover "$SEM"
  expect_out 0
  attempt tsem recover --owner 17 "$SEM"
  expect_failure "$SEM: whether process 17 is alive cannot be told from here \(.*--force\)"
  attempt tsem recover --owner 18 --force "$SEM"
  expect_failure "$SEM: process 18 does not hold or wait"
  attempt tsem recover --force "$SEM"
  expect_failure "$SEM: --force needs --owner"
  lease=$(etcdctl lease grant 100 | cut -d' ' -f2)
  etcdctl put --lease="$lease" "$KEYS/waiters/$lease" "${other/alpha/beta}" >/dev/null
  attempt tsem recover --owner 17 --force "$SEM"
  expect_failure "$SEM: 17 is a process on several machines"
  etcdctl lease revoke "$lease" >/dev/null
  attempt tsem recover --owner 17 --force "$SEM"
  expect_status 0
  expect_out 2
  expect_at_rest 4
}
