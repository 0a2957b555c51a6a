# SPDX-License-Identifier: MIT
# Options of run, take, acquire and create on a real etcd. After each test, every revision of the semaphore is checked.
# shellcheck disable=SC2016,SC2153 # the inner shells expand these; the helper sets PID
load helper

leave_dead_holder() {
  hold
  local holder=$PID
  kill -KILL "$COMMAND_PID"
  finish "$holder"
}

@test "etcd options: --on-recovered runs before the command, under the same hold, if an earlier holder died" {
  prepare
  attempt tsem run --on-recovered 'echo repair' "$SEM" -- echo command
  expect_out command
  leave_dead_holder
  attempt tsem run --on-recovered 'echo repair $TSEM_FENCE $TSEM_RECOVERED' "$SEM" -- sh -c 'echo command $TSEM_FENCE $TSEM_RECOVERED'
  expect_status 0
  expect_match 'the output' "$OUT" $'^repair ([0-9]+) 1\ncommand ([0-9]+) 1$'
  expect_equal 'the fence' "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
  leave_dead_holder
  attempt tsem run --on-recovered 'exit 3' "$SEM" -- touch ran
  expect_failure "$SEM: the command of --on-recovered failed"
  attempt tsem run --on-recovered 'echo again' "$SEM" -- no-such-command
  expect_status 127
  expect_out again
  attempt tsem run --on-recovered 'echo once more' "$SEM" -- echo command
  expect_out $'once more\ncommand'
  attempt tsem run --on-recovered 'echo repair' "$SEM" -- echo command
  expect_out command
  [[ ! -e ran ]] || fail 'the command has run'
}

@test "etcd options: a signal ends the command of --on-recovered, and the next one repairs" {
  prepare
  leave_dead_holder
  start tsem run --on-recovered ': >begun; exec sleep 1000' "$SEM" -- touch ran
  eventually test -e begun
  kill "$PID"
  finish "$PID"
  expect_status $((128 + 15))
  attempt tsem run --on-recovered 'echo repair' "$SEM" -- true
  expect_out repair
  [[ ! -e ran ]] || fail 'the command has run'
}

@test "etcd options: --nested uses the permits of an ancestor, and acquires without one" {
  prepare 2
  attempt tsem run -k 2 "$SEM" -- sh -c 'echo $TSEM_FENCE; tsem run -v --nested "$SEM" -- sh -c "echo \$TSEM_COUNT \$TSEM_SLOTS \$TSEM_FENCE"; :'
  expect_status 0
  local fence=${OUT%%$'\n'*}
  expect_equal 'the output' "$OUT" "$fence"$'\n'"2 0,1 $fence"
  expect_match 'the message' "$ERR" "^tsem: $SEM: process [0-9]+ runs the command under the permits of process [0-9]+ \(--nested\)"
  attempt tsem run "$SEM" -- sh -c 'tsem run --nested -k all "$SEM" -n -- true'
  expect_silence 75
  attempt tsem run "$SEM" -- sh -c 'tsem run --nested -n "$SEM" -- sh -c "echo \$TSEM_SLOT"; :'
  expect_out 0
  attempt bash -c 'tsem acquire --owner $$ "$SEM"; tsem run -q --nested -n "$SEM" -- sh -c "echo \$TSEM_COUNT"; :'
  expect_out 1
  hold
  attempt tsem run --nested "$SEM" -- sh -c 'tsem show -J "$TSEM_NAME" | jq .held'
  expect_out 2
  kill "$PID"
  finish "$PID"
  tsem remove "$SEM"
  attempt tsem run -q --nested -j 1 "$SEM" -- echo created
  expect_out created
}

@test "etcd options: -F becomes the command, whose death the next holder is told of" {
  prepare 2
  start tsem run -F --ttl 2 -k 2 "$SEM" -- sh -c 'echo "$$ $TSEM_COUNT $TSEM_SLOTS $TSEM_FENCE ${TSEM_RECOVERED-no}" >mine; exec sleep 1000'
  local pid=$PID
  eventually grep -q . mine
  expect_shown '.holders[] | [.pid, (.command | endswith("sleep 1000"))] | @csv' "$pid,true"
  expect_equal 'the environment' "$(<mine)" "$pid 2 0,1 $(field '.holders[].fence') no"
  expect_equal 'children' "$(pgrep -P "$pid" || true)" ''
  attempt tsem wait -w 3 "$SEM" # more than the lifetime
  expect_in_vain
  attempt tsem release --owner "$pid" "$SEM"
  expect_failure "$SEM: process $pid has no hold made by 'tsem acquire'"
  kill "$pid"
  finish "$pid"
  expect_status $((128 + 15))
  attempt tsem run -F "$SEM" -- sh -c 'echo "${TSEM_RECOVERED-no}"; exit 3'
  expect_status 3
  expect_out 1
  eventually is_shown .held 0
  attempt tsem run -F "$SEM" -- no-such-command
  expect_status 127
  eventually is_shown .held 0
  attempt tsem run -F "$SEM" -- sh -c 'echo "${TSEM_RECOVERED-no}"'
  expect_out 1 # of the one that exited with 3: its end looks like a death
}

@test "etcd options: -F, when the process that waits for the permits is killed" {
  prepare
  hold
  start sh -c 'exec tsem run -F "$SEM" -- touch ran 2>message'
  eventually is_shown .waiting 1
  kill -KILL "$(pgrep -P "$PID" | head -1)"
  finish "$PID"
  expect_status 125
  expect_match 'the message' "$(<message)" "^tsem: $SEM: the process that waited for the permits was killed"
  eventually is_shown .waiting 0
}

@test "etcd options: -F, a wait that ends, and a hold that is lost" {
  prepare
  hold
  local holder=$PID
  attempt tsem run -F -n "$SEM" -- touch ran
  expect_silence 75
  attempt tsem run -F -w 50ms "$SEM" -- touch ran
  expect_in_vain
  start tsem run -F "$SEM" -- touch ran
  eventually is_shown .waiting 1
  kill "$PID"
  finish "$PID"
  expect_status $((128 + 15))
  expect_equal 'waiters' "$(keys_in waiters)" 0
  start tsem run -F "$SEM" -- touch ran
  eventually is_shown .waiting 1
  kill -KILL "$PID"
  finish "$PID"
  eventually is_shown .waiting 0
  attempt tsem run -F --on-recovered true "$SEM" -- touch ran
  expect_failure "-F and --on-recovered exclude each other"
  kill "$holder"
  finish "$holder"
  start tsem run -F --ttl 2 "$SEM" -- sleep 1000
  eventually is_shown .held 1
  tsem remove -f "$SEM"
  finish "$PID"
  expect_status $((128 + 15))
  [[ ! -e ran ]] || fail 'a command has run'
}

@test "etcd options: -k all, as many as the capacity is" {
  prepare 3
  tsem set -j 2 "$SEM"
  attempt tsem run -k all "$SEM" -- sh -c 'echo "$TSEM_COUNT $TSEM_SLOTS"; tsem show -J "$SEM" | jq .held'
  expect_out $'2 0,1\n2'
  owner
  attempt tsem acquire -k all --owner "$OWNER" "$SEM"
  expect_silence
  expect_shown .available 0
  start tsem run -k all "$SEM" -- sh -c 'echo "$TSEM_COUNT" >count'
  eventually is_shown '.waiters[].count' 2
  tsem set -j 3 "$SEM"
  pkill -KILL -P "$PID" -x tsem-keeper
  kill "$OWNER"
  finish "$PID"
  expect_equal 'the count' "$(<count)" 2
  tsem set -j 0 "$SEM"
  attempt tsem run -k all "$SEM" -- true
  expect_failure "$SEM: -k all is no permit, because the capacity is 0"
}

@test "etcd options: --max-waiting, also of many that come at once" {
  prepare
  hold
  local holder=$PID pids=()
  enqueue tsem run --max-waiting 1 "$SEM" -- sh -c 'echo >>ran'
  attempt tsem run --max-waiting 1 "$SEM" -- sh -c 'echo >>ran'
  expect_silence 75
  attempt tsem take -v --max-waiting 1 "$SEM"
  expect_status 75
  expect_err "tsem: $SEM: as many wait already as --max-waiting 1 allows"
  for _ in {1..20}; do
    start tsem run --max-waiting 3 "$SEM" -- sh -c 'echo >>ran'
    pids+=("$PID")
  done
  has_rejected() {
    local n=0
    for pid in "${pids[@]}"; do ! has_ended "$pid" || n=$((n + 1)); done
    ((n == 18))
  }
  eventually has_rejected
  expect_shown .waiting 3
  kill "$holder"
  for pid in "${pids[@]}"; do finish "$pid"; done
  expect_equal 'the commands that ran' "$(wc -l <ran)" 3
}

@test "etcd options: create --available" {
  prepare
  tsem remove "$SEM"
  attempt tsem create -j 3 --available 1 "$SEM"
  expect_status 0
  expect_shown '[.available, .held, .permits] | @csv' 1,2,3
  attempt tsem run -n -k 2 "$SEM" -- true
  expect_silence 75
  tsem post -k 2 "$SEM"
  expect_at_rest 3
  attempt tsem create -j 3 --available 4 "$SEM-b"
  expect_failure "$SEM-b: --available 4 is more than -j 3"
}
