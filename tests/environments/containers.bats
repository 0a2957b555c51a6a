#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Processes of several containers (PID namespaces) share semaphores: a death is noticed in every namespace.
# shellcheck disable=SC2016,SC2030,SC2031 # scripts for inner shells; each test sets FIRST for itself
load environments

# Starts COMMAND in a container that holds the only permit as soon as this returns. FIRST is its process 1.
hold_in_container() {
  start "${CONTAINER[@]:-container}" "$@"
  eventually is_shown .held 1
  FIRST=$(pgrep -P "$PID")
}

kill_container() {
  kill -KILL "$FIRST"
  finish "$PID"
}

# A waiter in a container of its own, which is in the queue. WAITER is its process outside.
wait_in_container() {
  rm -f ran
  start own-pids tsem run "$SEM" touch ran
  WAITER=$PID
  eventually is_shown .waiting 1
}

expect_admitted() {
  finish "$WAITER"
  expect_status 0
  [[ -e ran ]]
}

# Kills the processes of the container whose command lines match. Its process 1 should outlive them.
kill_inside() {
  local pids
  mapfile -t pids < <(pgrep --ns "$FIRST" --nslist pid -f "$1")
  expect_equal 'processes to kill' "${#pids[@]}" "$2" || return
  kill -KILL "${pids[@]}"
  local pid
  for pid in "${pids[@]}"; do
    eventually has_ended "$pid"
  done
}

# ---- a container is killed ----

@test "containers: with run -F, the command has the lock" {
  need_own_pids
  tsem create "$SEM"
  hold_in_container tsem run -F "$SEM" sleep 1000
  expect_none_available
  expect_none_available own-pids
  kill_container
  expect_recovered own-pids
}

@test "containers: tsem run in a killed container gives its permit to a waiter in another one, ten times of ten" {
  need_own_pids
  tsem create "$SEM"
  for _ in {1..10}; do
    hold_in_container tsem run "$SEM" sleep 1000
    wait_in_container
    kill_container
    expect_admitted
  done
  expect_at_rest 1
}

@test "containers: a C program in a killed container gives its permit to a waiter in another one, ten times of ten" {
  need_own_pids
  tsem create "$SEM"
  for _ in {1..10}; do
    hold_in_container holder "$SEM"
    wait_in_container
    kill_container
    expect_admitted
  done
  expect_at_rest 1
}

@test "containers: a try notices the death, outside and in another container" {
  need_own_pids
  tsem create "$SEM"
  hold_in_container tsem run "$SEM" sleep 1000
  expect_none_available
  expect_none_available own-pids
  kill_container
  expect_recovered
  hold_in_container tsem run "$SEM" sleep 1000
  kill_container
  expect_recovered own-pids
}

@test "containers: a killed waiter leaves the queue" {
  need_own_pids
  tsem create "$SEM"
  hold
  start container tsem take "$SEM"
  eventually is_shown .waiting 1
  FIRST=$(pgrep -P "$PID")
  kill_container
  enqueue tsem run "$SEM" touch ran
  local waiter=$PID
  kill -KILL "$COMMAND_PID"
  finish "$waiter"
  expect_status 0
  expect_at_rest 1
}

@test "containers: with user namespaces of their own" {
  need_own_pids
  need 'a user namespace' unshare --user --map-root-user true
  local -x IN_USER_NAMESPACE=1
  tsem create "$SEM"
  hold_in_container tsem run "$SEM" sleep 1000
  expect_none_available own-pids
  kill_container
  expect_recovered container
}

@test "containers: without a /proc" {
  need_own_pids
  skip_under any 'a sanitizer needs /proc'
  need 'a mount namespace' unshare --mount true
  tsem create "$SEM"
  hold_in_container unshare --mount empty-proc tsem run "$SEM" sleep 1000
  expect_none_available own-pids
  expect_none_available own-pids unshare --mount empty-proc
  kill_container
  expect_recovered unshare --mount empty-proc
}

@test "containers: without a /proc and its namespace, holder and waiter with the same number" {
  need_own_pids
  skip_under any 'a sanitizer needs /proc'
  need 'a mount namespace' unshare --mount true
  tsem create "$SEM"
  start own-pids unshare --mount empty-proc refuse pidfd_open holder "$SEM"
  eventually is_shown .held 1
  FIRST=$(pgrep -P "$PID")
  local holder=$PID
  start own-pids unshare --mount empty-proc refuse pidfd_open tsem run "$SEM" true
  local waiter=$PID
  eventually is_shown '[.waiters[].nspid == .holders[].nspid] | @csv' true
  PID=$holder
  kill_container
  finish "$waiter"
  expect_status 0
}

@test "containers: a process outside of all containers is killed" {
  need_own_pids
  tsem create "$SEM"
  container tsem run "$SEM" true # so it is known that several namespaces use the semaphore
  hold
  local both=("$PID" "$COMMAND_PID")
  expect_none_available own-pids
  kill -KILL "${both[@]}"
  finish "${both[0]}"
  eventually has_ended "${both[1]}"
  expect_recovered own-pids
}

# ---- numbers ----

@test "containers: show prints numbers that kill accepts here, and those of the container" {
  need_own_pids
  tsem create -j 2 "$SEM"
  hold_in_container tsem run "$SEM" sleep 1000
  local command
  eventually is_shown '.holders[0].command' 'sleep 1000'
  command=$(field '.holders[0].pid')
  kill -0 "$command"
  expect_equal 'its numbers' "$(awk '/^NSpid/ { print $2, $3 }' "/proc/$command/status")" \
    "$command $(field '.holders[0].nspid')"
  expect_shown '.holders[0].foreign' true
  attempt tsem show --raw --noheadings -o PID,NSPID,FOREIGN "$SEM"
  expect_out "$command $(field '.holders[0].nspid') yes"
  attempt tsem show "$SEM"
  expect_match 'headings' "$OUT" ' NSPID '
  # In another container the number means nothing.
  attempt container tsem show -J "$SEM"
  expect_equal 'in another container' "$(jq -c '.holders[0] | [.pid, .foreign, .command]' attempt.out)" '[null,true,"?"]'
  attempt container tsem take -v -w 1ms -k 2 "$SEM"
  expect_match 'reason in another container' "$ERR" ", held by $(field '.holders[0].nspid') in another container( for [0-9]+ s)?\$"
  hold
  attempt tsem show --raw --noheadings -o PID,NSPID,FOREIGN "$SEM"
  expect_match 'one of each' "$OUT" "$COMMAND_PID  *no\$"
}

# ---- no live process is robbed ----

@test "containers: tsem run is killed, and its command lives and keeps the permit" {
  need_own_pids
  local -x OUTLIVES=1
  tsem create "$SEM"
  hold_in_container tsem run "$SEM" sleep 1000
  kill_inside '^tsem run' 1
  expect_none_available
  expect_none_available own-pids
  kill_inside '^sleep 1000' 1
  expect_recovered own-pids
}

@test "containers: a command that closes all descriptors keeps the permit as long as its tsem run lives" {
  need_own_pids
  tsem create "$SEM"
  local -x OUTLIVES=1
  hold_in_container tsem run "$SEM" closed-descriptors sh -c 'touch closed; exec sleep 1000'
  eventually test -e closed
  expect_none_available own-pids
  kill_inside '^sleep 1000' 1
  eventually is_shown .held 0
  hold_in_container tsem run "$SEM" closed-descriptors sh -c 'touch again; exec sleep 1000'
  eventually test -e again
  kill_inside '^tsem run' 1
  expect_recovered # the exception, of which tsem(7) warns
}

@test "containers: a daemon that a command leaves behind does not keep the permit of a command that has ended" {
  need_own_pids
  tsem create "$SEM"
  start container tsem run "$SEM" sh -c 'sleep 1000 & touch left'
  eventually test -e left
  eventually is_shown .held 0
  expect_recovered own-pids
}

@test "containers: a daemon keeps the permit of a command that was killed together with tsem run, for others only" {
  need_own_pids
  local -x OUTLIVES=1
  tsem create "$SEM"
  hold_in_container tsem run "$SEM" sh -c 'sleep 1000 & touch left; wait'
  eventually test -e left
  kill_inside '^tsem run|^sh -c sleep' 2
  expect_none_available own-pids
  expect_none_available
  attempt nsenter --target "$FIRST" --pid --mount tsem recover "$SEM" # a process that can judge by the number
  expect_out 1
}

@test "containers: a program that executes another one, or closes its handle, keeps its holds" {
  need_own_pids
  tsem create "$SEM"
  local actions
  for actions in 'ready exec' 'close ready' 'close ready exec' 'again ready' 'again ready exec'; do
    # shellcheck disable=SC2086 # several words
    hold_in_container holder "$SEM" $actions
    eventually test -e ready
    expect_none_available own-pids
    kill_container
    expect_recovered own-pids
    rm -f ready
  done
}

@test "containers: a lock that only a child has inherited is not the parent's" {
  need_own_pids
  tsem create "$SEM"
  hold_in_container holder "$SEM" release child close open acquire close ready
  eventually test -e ready
  local parent
  parent=$(pgrep -P "$FIRST" -x holder)
  kill -KILL "$(pgrep -P "$parent")"
  expect_none_available own-pids
  kill_container
  expect_recovered own-pids
}

@test "containers: a command that uses low descriptors for itself keeps its permit when tsem run is killed" {
  need_own_pids
  tsem create "$SEM"
  local -x OUTLIVES=1
  hold_in_container tsem run "$SEM" bash -c 'for ((i = 3; i < 64; i++)); do eval "exec $i>/dev/null"; done; touch ready; sleep 1000; :'
  eventually test -e ready
  kill_inside '^tsem run' 1
  expect_none_available own-pids
  kill_inside '^bash' 1
}

@test "containers: the same under a low ulimit -n" {
  need_own_pids
  local -x OUTLIVES=1
  local limit
  tsem create "$SEM"
  for limit in 20 100; do
    rm -f ready
    hold_in_container bash -c 'ulimit -n $0; exec tsem run "$SEM" bash -c "$1"' $limit \
      'for fd in {3..9}; do eval "exec $fd>/dev/null"; done; touch ready; exec sleep 1000'
    eventually test -e ready
    kill_inside '^tsem run' 1
    expect_none_available own-pids
    kill_container
    expect_recovered own-pids
  done
}

@test "containers: a program that closes the descriptors of others keeps its holds" {
  need_own_pids
  tsem create "$SEM"
  hold_in_container holder "$SEM" descriptors ready
  eventually test -e ready
  expect_none_available own-pids
  kill_container
  expect_recovered own-pids
}

@test "containers: the command of tsem run gets one descriptor more, for reading, above 99" {
  need_own_pids
  attempt own-pids sh -c 'tsem run -j 1 "$SEM" sh -c "readlink /proc/self/fd/1[0-9][0-9]; :"; tsem remove "$SEM"'
  expect_out "$FILE"
}

# ---- what keeps a dead owner's permit ----

@test "containers: a child that does nothing keeps its killed parent's permit for others, until it ends, too" {
  need_own_pids
  local -x OUTLIVES=1
  tsem create "$SEM"
  hold_in_container holder "$SEM" child ready
  eventually test -e ready
  kill -KILL "$(pgrep -P "$FIRST" -x holder)"
  expect_none_available own-pids
  kill_container
  expect_recovered own-pids
}

@test "containers: a lock of another process can keep the dead, and cannot rob the living" {
  need_own_pids
  tsem create "$SEM"
  hold_in_container tsem run "$SEM" sleep 1000
  local container_pid=$PID
  start lock-all "$FILE"
  eventually test -e locked
  local locker=$PID
  expect_none_available own-pids
  PID=$container_pid
  kill_container
  expect_none_available # not in a new namespace, which could have the number of the one that has ended
  kill -KILL "$locker"
  finish "$locker"
  expect_recovered
}
