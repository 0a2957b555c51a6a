#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A pid that has been given to another process: the start time tells the two apart.
# shellcheck disable=SC2016 # the scripts in quotes are for shells inside
load strangers

# For shells inside: `reuse PID START` makes a process with that pid, at least two clock ticks later than the last one that had it.
REUSE='start_time() { awk "{ sub(/.*\\) /, \"\"); print \$20 }" "/proc/$1/stat"; }
reuse() {
  local other
  until
    echo $(($1 - 1)) >/proc/sys/kernel/ns_last_pid
    sleep 1000 &
    other=$!
    [[ $other == "$1" ]] && (($(start_time "$1") > $2 + 1))
  do
    kill -KILL "$other"
    wait "$other"
  done
} 2>/dev/null
until_shown() { until tsem show "$SEM" --raw --noheadings -o STATE,PID | grep -q "$1"; do :; done; }
'

inside() {
  attempt "${OWN_PIDS[@]}" bash -c "$REUSE$1"
}

@test "pid reuse: of the owner of an acquired hold" {
  need_chosen_pids
  tsem create "$SEM"
  inside 'sleep 1000 & owner=$!
    tsem acquire --owner "$owner" "$SEM"
    then=$(start_time "$owner")
    kill -KILL "$owner"; wait "$owner" 2>/dev/null
    reuse "$owner" "$then"
    tsem show "$SEM" --raw --noheadings -o ALIVE
    tsem release --owner "$owner" "$SEM" 2>/dev/null; echo "release: $?"
    tsem take -n "$SEM"; echo "take: $?"'
  expect_out $'no\nrelease: 125\ntake: 0'
  tsem post "$SEM"
  expect_at_rest 1
}

@test "pid reuse: of the command of run" {
  need_chosen_pids
  tsem create "$SEM"
  inside 'tsem run "$SEM" sleep 999 & run=$!
    until owner=$(pgrep -x sleep); do :; done
    then=$(start_time "$owner")
    kill -KILL "$run" "$owner"
    wait "$run" 2>/dev/null
    while [[ -e /proc/$owner ]]; do wait -n 2>/dev/null; done
    reuse "$owner" "$then"
    tsem take -n "$SEM"; echo "take: $?"'
  expect_out 'take: 0'
  tsem post "$SEM"
  expect_at_rest 1
}

@test "pid reuse: of a waiter, whose place is skipped" {
  need_chosen_pids
  tsem create "$SEM"
  tsem take "$SEM"
  inside 'tsem take "$SEM" & waiter=$!
    until_shown "^waits $waiter"
    then=$(start_time "$waiter")
    kill -KILL "$waiter"; wait "$waiter" 2>/dev/null
    reuse "$waiter" "$then"
    tsem post "$SEM"
    tsem take -n "$SEM"; echo "take: $?"'
  expect_out 'take: 0'
  tsem post "$SEM"
  expect_at_rest 1
}

@test "pid reuse: the one that has the pid now holds nothing, and can acquire for itself" {
  need_chosen_pids
  tsem create -j 2 "$SEM"
  inside 'sleep 1000 & owner=$!
    tsem acquire --owner "$owner" "$SEM"
    then=$(start_time "$owner")
    kill -KILL "$owner"; wait "$owner" 2>/dev/null
    reuse "$owner" "$then"
    tsem acquire --owner "$owner" "$SEM"
    tsem recover "$SEM"
    tsem release --owner "$owner" "$SEM"; echo "release: $?"
    tsem release --owner "$owner" "$SEM" 2>/dev/null; echo "again: $?"'
  expect_out $'1\nrelease: 0\nagain: 125'
  expect_at_rest 2
}

# Inside: a waiter of `tsem acquire` for a process, whose number goes to another one before the permit comes.
WAIT_FOR_ANOTHER='sleep 1000 & owner=$!
    tsem acquire --owner "$owner" "$SEM" & waiter=$!
    until_shown "^waits $waiter"
    then=$(start_time "$owner")
    kill -KILL "$owner"; wait "$owner" 2>/dev/null
    reuse "$owner" "$then"
    tsem post "$SEM"
    wait "$waiter"; echo "acquire: $?"
    tsem show "$SEM" --raw --noheadings -o STATE
    tsem take -n "$SEM"; echo "take: $?"'

@test "pid reuse: of the owner, while acquire waits" {
  need_chosen_pids
  tsem create "$SEM"
  tsem take "$SEM"
  inside "$WAIT_FOR_ANOTHER"
  expect_out $'acquire: 125\ntake: 0'
  expect_message "^$SEM: process [0-9]+ ended before its permits were granted \\("
  tsem post "$SEM"
  expect_at_rest 1
}

@test "pid reuse: release leaves alone what an earlier process of that number has" {
  need_chosen_pids
  tsem create -j 2 "$SEM"
  inside 'sleep 1000 & owner=$!
    tsem acquire --owner "$owner" "$SEM"
    then=$(start_time "$owner")
    kill -KILL "$owner"; wait "$owner" 2>/dev/null
    reuse "$owner" "$then"
    tsem release --owner "$owner" "$SEM" 2>/dev/null; echo "release: $?"
    tsem acquire --owner "$owner" "$SEM"
    tsem release --owner "$owner" "$SEM"; echo "release: $?"
    tsem recover "$SEM"'
  expect_out $'release: 125\nrelease: 0\n1'
  expect_at_rest 2
}

@test "pid reuse: of an owner in another time namespace" {
  need_chosen_pids
  need_own_time
  tsem create "$SEM"
  inside 'unshare --time --boottime 100000 sh -c "tsem acquire --owner \$\$ \$SEM && exec sleep 1000" & owner=$!
    until_shown "^holds $owner"
    then=$(start_time "$owner")
    tsem recover "$SEM"
    unshare --time --fork --boottime 200000 tsem recover "$SEM"
    kill -KILL "$owner"; wait "$owner" 2>/dev/null
    reuse "$owner" "$then"
    tsem recover "$SEM"'
  expect_out $'0\n0\n1'
  expect_at_rest 1
}
