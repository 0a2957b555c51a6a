# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For tests of what holds or waits on etcd. After each test, every revision of the semaphore is checked.
load ../cli/helper

# SEM is the name as users type it, so the functions of the helper work.
prepare() {
  leases >leases.before
  KEYS=tsem/$SEM
  SEM=etcd:$SEM
  tsem create -j "${1:-1}" "$SEM" 2>/dev/null
}

leases() {
  etcdctl lease list | tail -n +2 | sort
}

keys_in() {
  etcdctl get --prefix --keys-only "$KEYS/$1/" | grep -c . || true
}

lease_of() {
  local key
  key=$(etcdctl get --prefix --keys-only "$KEYS/$1/" | grep . | tail -1)
  echo "${key##*/}"
}

# The first revisions of this semaphore are those of the store no more.
compact() {
  etcdctl compact "$(etcdctl get other -w json | jq .header.revision)"
  COMPACTED=yes
}

check_revisions() {
  [[ -z ${COMPACTED-} ]] || return 0
  "$BATS_TEST_DIRNAME/check" "${ETCDCTL_ENDPOINTS%%,*}" "$KEYS/"
}

teardown() {
  end_all
  check_revisions
}

# The holder is `tsem run`; its children are the keeper and the command.
# shellcheck disable=SC2034 # tests use these
is_command_of() {
  KEEPER=$(pgrep -P "$1" -x tsem-keeper) && COMMAND_PID=$(pgrep -P "$1" -x sleep) &&
    is_shown "any(.holders[]; .pid == $1 and .command == \"sleep 1000\")" true
}

# For all members: a store that does not answer, and does not refuse either.
stop_store() {
  pkill -STOP -x etcd
}

continue_store() {
  pkill -CONT -x etcd
}

# The last complete time in a file to which a command wrote them until it was killed.
last_time() {
  sed '/\...$/!d' "$1" | tail -1
}

# proxy PATTERN: on the port in the file `port`, before a member.
# shellcheck disable=SC2016 # the inner shell expands it
proxy() {
  rm -f port
  start sh -c 'exec "$0" "$@" >port' "$BATS_TEST_DIRNAME/lossy" 12379 "$1"
  eventually test -s port
}

# lossy PATTERN: the answer to the next change of such a key is lost.
lossy() {
  proxy "$1"
  : >lose
}
