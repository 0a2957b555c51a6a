# SPDX-License-Identifier: MIT
load helper

@test "acquire: records the owner, which need not do anything" {
  tsem create -j 3 "$SEM"
  owner
  attempt tsem acquire --owner "$OWNER" -k 2 "$SEM"
  expect_silence
  expect_shown '[.available, .held, .waiting] | @csv' 1,2,0
  expect_shown '[.holders[] | .pid, .count, .owned, .alive, .command, .uid] | @csv' \
    "$OWNER,2,true,\"yes\",\"sleep 1000\",$(id -u)"
}

@test "acquire: a script acquires for itself and needs no clean-up" {
  tsem create "$SEM"
  attempt bash -ec '
    tsem acquire --owner $$ "$SEM"
    tsem show -J "$SEM" | jq -e --argjson pid $$ ".holders[0].pid == \$pid" >/dev/null
    tsem release --owner $$ "$SEM"
    tsem show -J "$SEM" | jq .available'
  expect_status 0
  expect_out 1
}

@test "acquire: the hold survives exec and ends with the process" {
  tsem create "$SEM"
  start bash -ec 'tsem acquire --owner $$ "$SEM"; exec sleep 1000'
  eventually is_shown '.holders[0].command' 'sleep 1000'
  attempt tsem take -n "$SEM"
  expect_silence 75
  kill -TERM "$PID"
  finish "$PID"
  attempt tsem take -n "$SEM"
  expect_silence
}

@test "acquire: there is no default owner" {
  tsem create "$SEM"
  refuses "^$SEM: .*--owner" acquire "$SEM"
}

@test "acquire: an impossible owner is refused" {
  tsem create "$SEM"
  local pid
  for pid in 0 -1 abc '' 4194304 99999999999999999999 1.5 ' 1' 0x1; do
    refuses "'$pid'" acquire --owner "$pid" "$SEM"
  done
}

@test "acquire: a thread is not accepted as a process" {
  tsem create "$SEM"
  start python3 -c 'import threading, time
threading.Thread(target=time.sleep, args=(1000,)).start()'
  eventually has_two_threads "$PID"
  kill -0 "$THREAD" # kill accepts the number of a thread
  refuses "^$SEM: there is no process $THREAD " acquire --owner "$THREAD" "$SEM"
  refuses "^$SEM: there is no process $THREAD " acquire -n --owner "$THREAD" "$SEM"
  refuses '' release --owner "$THREAD" "$SEM"
  attempt tsem acquire --owner "$PID" "$SEM"
  expect_silence
}

has_two_threads() {
  local threads=("/proc/$1/task"/*)
  THREAD=${threads[1]##*/} && [[ -n $THREAD ]]
}

@test "acquire: an owner that has ended is refused, and the permit comes back" {
  tsem create "$SEM"
  owner
  kill -KILL "$OWNER"
  finish "$OWNER"
  attempt tsem acquire --owner "$OWNER" "$SEM"
  expect_failure "^$SEM: .*$OWNER"
  expect_at_rest 1
}

@test "acquire: an owner that ends during the wait is refused, and the next waiter gets the permit" {
  tsem create "$SEM"
  tsem take "$SEM"
  owner
  enqueue tsem acquire --owner "$OWNER" "$SEM"
  local waiter=$PID
  kill -KILL "$OWNER"
  finish "$OWNER"
  tsem post "$SEM"
  finish "$waiter"
  expect_status 125
  expect_at_rest 1
}

@test "acquire: a zombie is refused" {
  tsem create "$SEM"
  start negligent-parent.py true
  eventually test -e child
  eventually has_ended "$(<child)"
  [[ -e /proc/$(<child) ]] || fail 'it was waited for'
  attempt tsem acquire --owner "$(<child)" "$SEM"
  expect_failure "^$SEM: "
  expect_at_rest 1
}

@test "acquire: -n, -w and -E" {
  tsem create "$SEM"
  owner
  tsem acquire --owner "$OWNER" "$SEM"
  local before
  before=$(semaphore_state)
  attempt tsem acquire --owner "$OWNER" -n "$SEM"
  expect_silence 75
  expect_equal 'the semaphore afterwards' "$(semaphore_state)" "$before"
  attempt tsem acquire -q --owner "$OWNER" -w 0.05 "$SEM"
  expect_silence 75
  attempt tsem acquire --owner "$OWNER" -n -E 3 "$SEM"
  expect_silence 3
  expect_shown '[.held, .waiting, (.holders | length)] | @csv' 1,0,1
}

@test "acquire: waits in the queue, as owned, until there is a permit" {
  tsem create "$SEM"
  tsem take "$SEM"
  owner
  enqueue tsem acquire --owner "$OWNER" "$SEM"
  expect_shown '.waiters[0] | [.owned, .position, .count] | @csv' true,1,1
  tsem post "$SEM"
  finish "$PID"
  expect_status 0
  expect_shown '[.holders[].pid] | @csv' "$OWNER"
}

@test "acquire: a signal ends the wait and gives the place up" {
  tsem create "$SEM"
  tsem take "$SEM"
  owner
  enqueue tsem acquire --owner "$OWNER" "$SEM"
  kill -TERM "$PID"
  finish "$PID"
  expect_status 143
  tsem post "$SEM"
  expect_at_rest 1
}

@test "acquire: one process may have several holds" {
  tsem create -j 6 "$SEM"
  owner
  local count
  for count in 1 2 3; do
    tsem acquire --owner "$OWNER" -k "$count" "$SEM"
  done
  expect_shown '[.holders[].count] | @csv' 1,2,3
  kill -KILL "$OWNER"
  finish "$OWNER"
  attempt tsem recover "$SEM"
  expect_status 0
  expect_out 6
}

@test "acquire: the messages for a missing semaphore and an impossible count" {
  owner
  refuses "^$SEM: no such semaphore" acquire --owner "$OWNER" "$SEM"
  tsem create -j 2 "$SEM"
  refuses "^$SEM: 3 permits" acquire --owner "$OWNER" -k 3 "$SEM"
}
