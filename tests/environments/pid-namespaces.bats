#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A pid has another meaning in each PID namespace. So without a lock (containers.bats) no process counts as dead across them.
# shellcheck disable=SC2016 # the scripts in quotes are for inner shells
load environments

@test "pid namespaces: holder and waiter in two of them, both process 1" {
  need_own_pids
  tsem create "$SEM"
  start own-pids sh -c 'tsem acquire --owner $$ "$SEM" && exec sleep 1000'
  eventually is_shown '[.holders[].nspid] | @csv' 1
  local inside=$PID
  start own-pids tsem run "$SEM" touch ran
  eventually is_shown '[.waiters[].nspid] | @csv' 1
  expect_none_available
  expect_none_available own-pids
  expect_none_available own-pids-foreign-proc
  expect_shown '.holders[0].alive + " " + .waiters[0].alive' 'yes yes' # its number here is found, and tsem run has a lock
  attempt own-pids tsem show -J "$SEM"
  expect_equal 'from a third one' "$(jq -r '.holders[0].alive + " " + .waiters[0].alive' <<<"$OUT")" 'unknown yes'

  # After its death it is the same: no process here can know of it. (A process in a new namespace that got the number of
  # the old one could, and would be right: the number is free only when all processes of the old namespace have ended.)
  kill -KILL -- "-$inside"
  finish "$inside"
  expect_none_available
  expect_shown '[.held, .waiting] | @csv' 1,1
  [[ ! -e ran ]]
  tsem post "$SEM" # the remedy: a process that knows of the death posts
  finish "$PID"
  expect_status 0
  [[ -e ran ]]
}

@test "pid namespaces: inside a namespace, dead owners are recovered, and live ones are not" {
  need_own_pids
  tsem create "$SEM"
  attempt own-pids pid-namespace run_dies
  expect_out $'alive: 75\ndead: 0'
}

@test "pid namespaces: with live processes of another namespace, dead owners of this one are still recovered" {
  need_own_pids
  tsem create -j 2 "$SEM"
  hold
  local both=("$PID" "$COMMAND_PID")
  start own-pids tsem run "$SEM" sleep 1000
  eventually is_shown '.held' 2
  kill -KILL "${both[@]}"
  finish "${both[0]}"
  eventually has_ended "${both[1]}"
  attempt tsem take -n "$SEM"
  expect_silence
  attempt tsem take -n "$SEM"
  expect_silence 75
}

@test "pid namespaces: a live holder whose pid no process outside has" {
  need_chosen_pids
  tsem create "$SEM"
  local free=$BASHPID
  while ((free += 7)) && kill -0 "$free" 2>/dev/null; do :; done
  export FREE=$free
  start own-pids bash -c 'echo $((FREE - 1)) >/proc/sys/kernel/ns_last_pid
    sleep 1000 & tsem acquire --owner $! "$SEM"; wait'
  eventually is_shown '[.holders[].nspid] | @csv' "$free"
  expect_none_available
  expect_none_available own-pids
  expect_none_available own-pids-foreign-proc
}

@test "pid namespaces: without a /proc of its own, a live holder with the pid of another process outside" {
  need_chosen_pids
  tsem create "$SEM"
  start sleep 1000
  export SAME=$PID
  mkfifo fifo
  start own-pids-foreign-proc pid-namespace command_with_pid
  eventually test -e log
  expect_equal 'recovered, and the status of take' "$(<log)" $'0\n75'
  expect_equal 'pid of the holder' "$(jq '.holders[0].pid' seen)" "$SAME"
  expect_none_available
  expect_none_available own-pids
}

@test "pid namespaces: without a /proc of its own, a holder is not mistaken for the process of that number outside" {
  need 'a PID namespace' own-pids-foreign-proc true
  tsem create "$SEM"
  # Process 1 in there holds, and would be stopped if it were the process of /proc that has its number.
  attempt own-pids-foreign-proc sh -c 'tsem acquire --owner $$ "$SEM" && tsem show -J "$SEM"; tsem run "$SEM" -w 400ms -v true'
  expect_equal 'the holder' "$(jq -c '.reason, (.holders[0] | .pid, .foreign, .command)' attempt.out)" $'"unknown"\n1\nfalse\n"?"'
  expect_match 'what is waited for' "$ERR" "in time, held by 1, which cannot be checked from here \(if it is dead: 'tsem recover $(
    )--owner 1 --force $SEM'\)\$"
}

@test "pid namespaces: without a /proc of its own, dead owners are known by their absence" {
  need 'a PID namespace' own-pids-foreign-proc true
  tsem create "$SEM"
  attempt own-pids-foreign-proc pid-namespace owner_dies
  expect_out $'alive: 75\ndead: 0\nrun: 0'
  expect_at_rest 1
}

@test "pid namespaces: a command that creates one still holds outside of it" {
  need_own_pids
  tsem create "$SEM"
  attempt tsem run "$SEM" own-pids sh -c 'tsem take -n "$SEM"; echo $?'
  expect_status 0
  expect_out 75 # unshare holds the permit, outside
  expect_at_rest 1
}

# container NUMBER: starts a PID namespace whose process 1 holds, and writes the number of the namespace to a file.
container() {
  start own-pids sh -c "readlink /proc/self/ns/pid | tr -dc 0-9 >namespace$1"'
    tsem acquire --owner $$ "$SEM" && exec sleep 1000'
  eventually is_shown .held "$1"
}

@test "pid namespaces: a holder of a namespace that is gone is declared dead, and the next one is told" {
  need_own_pids
  tsem create "$SEM"
  container 1
  local inside=$PID
  start own-pids tsem run "$SEM" sh -c 'echo "$TSEM_RECOVERED" >ran'
  eventually is_shown .waiting 1
  kill -KILL -- "-$inside"
  finish "$inside"
  refuses "^$SEM: whether process 1 is alive cannot be told from here .*--force" \
    recover --owner 1 --pid-ns "$(<namespace1)" "$SEM"
  attempt tsem recover --owner 1 --pid-ns "$(<namespace1)" --force "$SEM"
  expect_status 0
  expect_out 1
  finish "$PID"
  expect_status 0
  expect_equal TSEM_RECOVERED "$(<ran)" 1
  expect_at_rest 1
}

@test "pid namespaces: a live holder below this namespace has a number here, and is not declared dead" {
  need_own_pids
  tsem create "$SEM"
  container 1
  local here
  here=$(field '.holders[0].pid')
  refuses "^$SEM: process $here is alive .end it with 'kill $here';" recover --owner "$here" --force "$SEM"
  refuses "^$SEM: process 1 is alive .end it with 'kill $here';" recover --owner 1 --pid-ns "$(<namespace1)" --force "$SEM"
  refuses "^$SEM: process 1 does not hold or wait" recover --owner 1 --force "$SEM"
  # A process that has exited, whose parent has not noticed, is as dead as any.
  kill -STOP "$PID"
  eventually grep -q '^State:.*stopped' "/proc/$PID/status"
  kill -KILL "$here"
  eventually has_ended "$here"
  attempt tsem recover --owner "$here" --force "$SEM"
  expect_out 1
  kill -CONT "$PID"
}

@test "pid namespaces: a number that two namespaces have is refused, and the message lists them" {
  need_own_pids
  tsem create -j 2 "$SEM"
  container 1
  container 2
  attempt own-pids tsem recover --owner 1 --force "$SEM" # there, neither has a number
  expect_match message "$ERR" "[(]add --pid-ns [0-9]* or --pid-ns [0-9]*; see 'tsem show -o STATE,NSPID,PIDNS,TIME,ALIVE $SEM'[)]$"
  expect_status 125
  local i
  for i in 1 2; do
    expect_match message "$ERR" "--pid-ns $(<namespace$i)"
    expect_match 'show' "$(tsem show -o PIDNS --raw --noheadings "$SEM")" "$(<namespace$i)"
  done
  expect_shown .held 2
}

@test "pid namespaces: a waiter below this namespace is cancelled by its number here" {
  need_own_pids
  tsem create "$SEM"
  tsem take "$SEM"
  start own-pids tsem run "$SEM" touch ran
  eventually is_shown .waiting 1
  attempt tsem cancel --owner "$(field '.waiters[0].pid')" "$SEM"
  expect_silence
  finish "$PID"
  expect_status 75
  expect_shown .waiting 0
}
