# SPDX-License-Identifier: MIT
# Run on a real etcd whose members are killed, stopped and cut off.
# shellcheck disable=SC2016 # the inner shells expand these
load helper

teardown() {
  end_all
  nft delete table ip cut 2>/dev/null || true
  umount /etc/resolv.conf 2>/dev/null || true
  continue_store
  rm -f "$CLUSTER"/down.*
  eventually etcdctl endpoint health
  etcdctl alarm disarm
  check_revisions
}

# The number of the member that leads.
leader() {
  etcdctl --command-timeout=1s endpoint status -w json 2>/dev/null |
    jq -er '.[] | select(.Status.leader == .Status.header.member_id) | .Endpoint[10:11]'
}

another_leads() {
  local now
  now=$(leader) && [[ $now != "$1" ]]
}

# take_down MEMBER...: they stay down while their files exist.
take_down() {
  for member in "$@"; do
    : >"$CLUSTER/down.$member"
    pkill "-${SIGNAL-KILL}" -f "^etcd --name member$member "
  done
}

# cut_off MEMBER [MATCH]...: its packets are dropped: all, or those that match one of these.
cut_off() {
  [[ -n ${CLUSTER_UID-} ]] || skip 'only root can drop the packets of one member'
  nft 'add table ip cut; add chain ip cut out { type filter hook output priority 0; }'
  [[ $# -gt 1 ]] || set -- "$1" ''
  for match in "${@:2}"; do
    nft "add rule ip cut out meta skuid $((CLUSTER_UID + $1)) $match drop"
  done
}

# Drops what a member says to the other members, and lets it talk to its clients.
cut_off_from_members() {
  cut_off "$1" 'tcp dport { 12380, 22380, 32380 }' "tcp sport ${1}2380"
}

# Without the leader, the others would need an election first, and that may take longer than the lifetime.
talk_to_a_follower() {
  FOLLOWER=$(($(leader) % 3 + 1))
  ETCDCTL_ENDPOINTS=127.0.0.1:${FOLLOWER}2379,$ETCDCTL_ENDPOINTS
}

# queue TTL: a holder and two waiters.
queue() {
  TTL=$1
  prepare
  hold --ttl "$TTL"
  HOLDER=$PID
  FENCE=$(field '.holders[0].fence')
  WAITERS=()
  for place in first second; do
    enqueue sh -c 'exec tsem run --ttl "$1" "$SEM" -- sh -c "echo $2 >>order" 2>>messages' - "$TTL" $place
    WAITERS+=("$PID")
  done
}

# Nothing is lost within more than the lifetime of the leases, and the order is kept.
expect_kept() {
  attempt tsem wait -w "$((TTL + 1))" "$SEM"
  expect_in_vain
  expect_shown '[.holders[].fence, .waiting] | @csv' "$FENCE,2"
  kill "$HOLDER"
  for pid in "${WAITERS[@]}"; do finish "$pid"; done
  expect_equal 'order' "$(tr '\n' ' ' <order)" 'first second '
  expect_equal 'messages' "$(grep -v 'waiting for it' messages || true)" ''
}

# An election takes 1 s to 2 s, and another one if two members want to lead at the same time.
@test "etcd fault: the leader is killed" {
  queue 8
  local old
  old=$(leader)
  take_down "$old"
  eventually another_leads "$old"
  expect_kept
}

# In a state D or T, it answers nobody, and its connections stay.
@test "etcd fault: the leader is stopped" {
  queue 8
  local old
  old=$(leader)
  pkill -STOP -f "^etcd --name member$old "
  eventually another_leads "$old"
  expect_kept
}

is_member() {
  ETCDCTL_ENDPOINTS=127.0.0.1:${1}2379 etcdctl endpoint health
}

@test "etcd fault: one member after the other is shut down and started again" {
  queue 8
  SIGNAL=TERM
  for member in 1 2 3; do
    take_down "$member"
    rm "$CLUSTER/down.$member"
    eventually is_member "$member"
  done
  expect_kept
}

@test "etcd fault: the leader is cut off" {
  queue 8
  local old
  old=$(leader)
  cut_off "$old"
  eventually another_leads "$old"
  expect_kept
}

@test "etcd fault: the member that a keeper talks to is cut off" {
  talk_to_a_follower
  queue 3
  cut_off "$FOLLOWER"
  expect_kept
}

@test "etcd fault: the member that a keeper talks to is cut off from the others" {
  talk_to_a_follower
  queue 3
  cut_off_from_members "$FOLLOWER"
  expect_kept
}

@test "etcd fault: the port for clients of the member that a keeper talks to is cut" {
  talk_to_a_follower
  queue 3
  cut_off "$FOLLOWER" "tcp sport ${FOLLOWER}2379"
  expect_kept
}

@test "etcd fault: a store that is down for less than the lifetime" {
  queue 8
  take_down 1 2 3
  rm "$CLUSTER"/down.*
  eventually leader
  expect_kept
}

has_no_quorum() {
  ! etcdctl --command-timeout=500ms get other
}

@test "etcd fault: two members are down for less than the lifetime" {
  queue 12
  take_down 1 2
  eventually has_no_quorum
  rm "$CLUSTER"/down.*
  eventually leader
  expect_kept
}

# stall LEADER: its disk takes a second for each block that it is to keep.
stall() {
  start strace --quiet=all -f -o stalled -p "$(pgrep -f "^etcd --name member$1 ")" -e trace=fdatasync,fsync \
    -e inject=fdatasync,fsync:delay_enter=1s
  STALL=$PID
}

# It stays the leader, and nothing can be written.
@test "etcd fault: the disk of the leader stalls for longer than the lifetime" {
  queue 3
  stall "$(leader)"
  attempt tsem wait -w "$((TTL + 1))" "$SEM"
  expect_in_vain
  kill "$STALL"
  finish "$STALL"
  [[ -s stalled ]] || fail 'the disk has not stalled'
  expect_kept
}

# The waiter becomes the first one, looks, and then watches from a revision that the store does not have any more.
@test "etcd fault: a compaction between the look and the watch of a waiter" {
  prepare
  hold
  local holder=$PID first
  enqueue tsem run "$SEM" -- true
  first=$PID
  proxy .
  enqueue env ETCDCTL_ENDPOINTS="127.0.0.1:$(<port)" tsem run "$SEM" -- touch ran
  : >delay
  kill "$first"
  eventually test -e delayed
  for value in 1 2; do etcdctl put other "$value"; done
  compact
  rm delay
  kill "$holder"
  finish "$PID"
  expect_status 0
  [[ -e ran ]] || fail 'the command has not run'
}

@test "etcd fault: all members are defragmented during a wait" {
  queue 3
  etcdctl defrag
  expect_kept
}

# follow [VARIABLE=VALUE]...: a holder with this environment, whose command ignores SIGTERM and writes the time into `mine` until it is
# killed, and a waiter that writes the time of its admission into `next`.
follow() {
  prepare
  start env "$@" sh -c 'exec "$@" 2>message' - tsem run --ttl 2 "$SEM" -- \
    sh -c 'trap "" TERM; while :; do cut -d" " -f1 /proc/uptime >>mine; done'
  HOLDER=$PID
  eventually test -s mine
  enqueue tsem run -q --ttl 2 "$SEM" -- sh -c 'cut -d" " -f1 /proc/uptime >next'
  NEXT=$PID
}

expect_loss() {
  finish "$HOLDER"
  expect_status 125
  expect_match 'the first message' "$(head -1 message)" "^tsem: $SEM: the hold is lost: no member of the store has answered in time"
}

expect_no_overlap() {
  finish "$NEXT"
  expect_status 0
  jq -en "$(last_time mine) < $(<next)" || fail "the next command began at $(<next), and the first lived until $(last_time mine)"
}

@test "etcd fault: the only member of a holder, the leader, is cut off from the others" {
  local leader
  leader=$(leader)
  follow ETCDCTL_ENDPOINTS="127.0.0.1:${leader}2379"
  cut_off_from_members "$leader"
  expect_loss
  expect_no_overlap
}

# A name server that does not answer. That of libc waits for it for at least 10 s.
@test "etcd fault: the member of a holder is cut off, and so is the name server" {
  follow ETCDCTL_ENDPOINTS=127.0.0.1:12379,other.test:22379
  kill -KILL "$HOLDER"
  start python3 -c '
import signal, socket
names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
names.bind(("127.0.0.1", 53))
print("bound", flush=True)
signal.pause()' >bound
  eventually test -s bound
  echo 'nameserver 127.0.0.1' >resolv.conf
  mount --bind resolv.conf /etc/resolv.conf
  cut_off 1
  expect_no_overlap
}

# As if it had reached its quota: 1 is ACTIVATE, and NOSPACE.
fill_store() {
  python3 -c '
import urllib.request
urllib.request.urlopen("http://127.0.0.1:12379/v3/maintenance/alarm", b"{\"action\": 1, \"alarm\": 1}")'
}

@test "etcd fault: a full store takes permits back, and the waiter waits for room" {
  prepare
  hold
  local holder=$PID
  enqueue tsem run "$SEM" -- true
  fill_store
  kill "$holder"
  finish "$holder"
  eventually is_shown .held 0
  attempt tsem run "$SEM" -- touch ran
  expect_failure 'no lease.*space exceeded.*etcdctl alarm list'
  etcdctl alarm disarm
  finish "$PID"
  expect_status 0
}

@test "etcd fault: a store that is down for longer than the lifetime" {
  follow
  take_down 1 2 3
  expect_loss
  rm "$CLUSTER"/down.*
  expect_no_overlap
}

@test "etcd fault: two members are down for longer than the lifetime" {
  follow
  take_down 2 3
  expect_loss
  rm "$CLUSTER"/down.*
  expect_no_overlap
}

@test "etcd fault: tsem run and its keeper are killed" {
  prepare
  hold --ttl 2
  local holder=$PID command=$COMMAND_PID
  enqueue tsem run "$SEM" -- sh -c 'echo "${TSEM_RECOVERED-no}" >next'
  kill -KILL "$holder" "$KEEPER"
  finish "$PID"
  expect_equal 'the notice to the next one' "$(<next)" 1
  [[ -d /proc/$command ]] || fail 'the command has ended'
}

has_no_keeper() {
  ! pgrep -x tsem-keeper
}

@test "etcd fault: the member that a keeper talks to is killed just before the release" {
  prepare
  start sleep 1000
  tsem acquire --ttl 1d --owner "$PID" "$SEM"
  take_down 1
  tsem release --owner "$PID" "$SEM"
  eventually has_no_keeper
  expect_shown .held 0
}

@test "etcd fault: a waiter that is stopped while it is admitted does not run beside the next holder" {
  prepare
  hold
  local holder=$PID stopped its_keeper
  enqueue tsem run -q --ttl 2 "$SEM" -- touch ran
  stopped=$PID
  its_keeper=$(pgrep -P "$stopped" -x tsem-keeper)
  enqueue tsem run "$SEM" -- sleep 1000
  local next=$PID
  kill -STOP "$stopped" "$its_keeper"
  kill "$holder"
  eventually is_command_of "$next"
  kill -CONT "$stopped" "$its_keeper"
  eventually is_waiting "$stopped"
  [[ ! -e ran ]] || fail 'the command has run'
  kill "$next"
  finish "$stopped"
  [[ -e ran ]] || fail 'the command has not run'
}

seconds_have_passed() {
  (($(date +%s%N) - $2 >= $1 * 1000000000))
}

@test "etcd fault: a new keeper finds the permits granted, and little of their lifetime left" {
  prepare
  start tsem run "$SEM" -- sh -c 'until [ -e end ]; do sleep 0.01; done'
  eventually is_shown .held 1
  local waiter its_keeper begin
  enqueue tsem run --ttl 4 "$SEM" -- touch ran
  waiter=$PID
  its_keeper=$(pgrep -P "$waiter" -x tsem-keeper)
  kill -STOP "$waiter" "$its_keeper"
  begin=$(date +%s%N)
  : >end
  eventually is_shown '.holders[0].pid' "$waiter"
  eventually seconds_have_passed 3 "$begin"
  kill -KILL "$its_keeper"
  kill -CONT "$waiter"
  finish "$waiter"
  expect_status 0
  [[ -e ran ]] || fail 'the command has not run'
}

# The grant is too old for the command to begin, and the store does not confirm it.
@test "etcd fault: a waiter that is stopped while it is admitted gives up in time if the store is silent then" {
  prepare
  start tsem run "$SEM" -- sh -c 'until [ -e end ]; do sleep 0.01; done'
  eventually is_shown .held 1
  local waiter its_keeper begin
  enqueue tsem run -q --ttl 4 -w 3 "$SEM" -- touch ran
  waiter=$PID
  its_keeper=$(pgrep -P "$waiter" -x tsem-keeper)
  kill -STOP "$waiter" "$its_keeper"
  begin=$(date +%s%N)
  : >end
  eventually is_shown '.holders[0].pid' "$waiter"
  eventually seconds_have_passed 3 "$begin"
  stop_store
  kill -CONT "$waiter" "$its_keeper"
  finish "$waiter"
  continue_store
  expect_status 75
  [[ ! -e ran ]] || fail 'the command has run'
  attempt tsem wait -w 20 "$SEM"
  expect_status 0
}

@test "etcd fault: a waiter waits for a store that is silent for longer than its lifetime, also with another keeper" {
  prepare
  start tsem run "$SEM" -- sleep 4
  eventually is_shown .held 1
  local holder=$PID
  start sh -c 'exec tsem run --ttl 2 "$SEM" -- touch ran 2>message'
  local waiter=$PID
  eventually is_waiting "$waiter"
  stop_store
  eventually grep -q 'no member of the store answers at .*waiting for it' message
  pkill -KILL -P "$waiter" -x tsem-keeper
  eventually grep -qz 'waiting for it.*waiting for it' message
  eventually seconds_have_passed 6 "$(date +%s%N)" # a new wait for a silent store would end after 5 s
  continue_store
  finish "$holder"
  expect_status 0
  finish "$waiter"
  expect_status 0
  [[ -e ran ]] || fail 'the command has not run'
}
