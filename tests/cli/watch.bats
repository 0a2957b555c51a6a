# SPDX-License-Identifier: MIT
load helper

# Watches these semaphores from now on; the events go to the file `events`.
watch() {
  # shellcheck disable=SC2016 # expanded in there
  start bash -c 'exec tsem watch -d 10ms "$@" >events' bash "$@"
  WATCH=$PID
  eventually test -s events
}

# What happens until it continues is seen at one look.
stop_watch() {
  kill -STOP "$WATCH"
  eventually grep -q '^State:.T' "/proc/$WATCH/status"
}

# told FILTER [COUNT]: whether so many of the events (default 1) match the filter of jq.
told() {
  [[ $(jq -c "select($1)" events | wc -l) -eq ${2:-1} ]]
}

told_in_order() {
  [[ $(jq -r .event events | paste -sd' ') == "$1" ]]
}

@test "watch: a job waits, is admitted and releases" {
  tsem create "$SEM"
  watch "$SEM"
  # shellcheck disable=SC2016 # expanded in there
  start tsem run "$SEM" sh -c 'echo $$ >holder; until [ -e finished ]; do sleep 0.02; done'
  eventually told '.event == "admitted" and .ticket == 0 and .count == 1'
  eventually test -s holder
  # It is the later look that finds the process itself, which tsem run may not have started when the first one was taken.
  enqueue tsem run "$SEM" sleep 2000
  eventually told ".event == \"waits\" and .pid == $PID and .ticket == 1"
  touch finished
  eventually told '.event == "admitted" and .ticket == 1 and .wait_seconds > 0'
  eventually told ".event == \"released\" and .pid == $(<holder) and .ticket == 0 and .slot == 0 and .hold_seconds > 0"
  expect_equal 'other names' "$(jq -r .name events | sort -u)" "$SEM"
  expect_equal 'times' "$(jq -r .time events | grep -cvE '^20[0-9]{2}(-[0-9]{2}){2}T([0-9]{2}:){2}[0-9]{2}\.[0-9]{3}Z$')" 0
}

@test "watch: what was there before it began" {
  tsem create "$SEM"
  hold
  enqueue tsem take "$SEM"
  local waiter=$PID
  watch "$SEM"
  told_in_order 'begin holds waits'
  told ".event == \"holds\" and .pid == $COMMAND_PID and .command == \"sleep 1000\""
  told ".event == \"waits\" and .pid == $waiter and .command == \"tsem take $SEM\""
  told ".event == \"begin\" and .capacity == 1 and .held == 1 and .waiting == 1 and .permits_asked_for == 2"
}

@test "watch: a dead holder is recovered, a wait that is interrupted or cancelled gives up, a set is told" {
  tsem create "$SEM"
  owner
  tsem acquire --owner "$OWNER" "$SEM"
  watch "$SEM"
  enqueue tsem run "$SEM" true
  local interrupted=$PID
  eventually told ".event == \"waits\" and .pid == $interrupted"
  kill -TERM "$interrupted"
  eventually told ".event == \"gave_up\" and .pid == $interrupted and .wait_seconds > 0"
  enqueue tsem take "$SEM"
  local cancelled=$PID
  eventually told ".event == \"waits\" and .pid == $cancelled"
  tsem cancel "$SEM"
  eventually told ".event == \"gave_up\" and .pid == $cancelled"
  kill -KILL "$OWNER"
  finish "$OWNER"
  tsem recover "$SEM"
  eventually told ".event == \"recovered\" and .pid == $OWNER and .hold_seconds > 0"
  tsem set -j 5 "$SEM"
  eventually told '.event == "set" and .capacity == 5 and .capacity_before == 1'
  tsem set -j 2 "$SEM"
  eventually told '.event == "set" and .capacity == 2 and .capacity_before == 5'
  told '.event == "missed"' 0
}

@test "watch: a process that neither holds nor waits any more, and whose end no count tells" {
  tsem create "$SEM"
  tsem take "$SEM"
  watch "$SEM"
  enqueue tsem take "$SEM"
  eventually told ".event == \"waits\" and .pid == $PID"
  stop_watch
  tsem post "$SEM"
  finish "$PID"
  kill -CONT "$WATCH"
  eventually told ".event == \"left\" and .pid == $PID and .wait_seconds > 0"
}

@test "watch: a semaphore that is removed and made again" {
  tsem create "$SEM"
  watch "$SEM"
  hold
  eventually told '.event == "admitted"'
  stop_watch
  tsem remove -f "$SEM"
  kill -CONT "$WATCH"
  eventually told '.event == "removed"'
  tsem create -j 7 "$SEM"
  eventually told '.event == "begin" and .capacity == 7'
  told_in_order 'begin admitted removed begin'
  # By hand, and between two looks: the file is another one.
  rm "$FILE"
  tsem create -j 8 "$SEM"
  eventually told '.event == "begin" and .capacity == 8'
  told_in_order 'begin admitted removed begin removed begin'
}

@test "watch: the last events before a removal are not lost" {
  tsem create -j 2 "$SEM"
  watch "$SEM"
  stop_watch
  tsem run "$SEM" true
  tsem run -w 0 "$SEM" sh -c 'kill -9 $PPID $$' || true
  tsem recover "$SEM"
  tsem remove "$SEM"
  kill -CONT "$WATCH"
  eventually told '.event == "removed"'
  told '.event == "missed" and .permits_asked_for == 2 and .recovered == 1'
}

@test "watch: a process is told as recovered or as having given up only if that is certain" {
  tsem create "$SEM"
  # shellcheck disable=SC2016 # expanded in there
  start tsem run "$SEM" sh -c 'until [ -e finished ]; do sleep 0.02; done'
  local good=$PID
  eventually is_shown '.holders | length' 1
  enqueue tsem run "$SEM" sh -c 'kill -SEGV $$'
  local crashed=$PID
  watch "$SEM"
  stop_watch
  touch finished
  finish "$good"
  finish "$crashed"
  tsem recover "$SEM"
  kill -CONT "$WATCH"
  eventually told '.event == "left" and .ticket == 0'
  eventually told '.event == "left" and .ticket == 1'
  eventually told '.event == "missed" and .recovered == 1'
  told_in_order 'begin holds waits left left missed'
}

@test "watch: waiters of a semaphore that is removed, and the time of a hold that its process did not notice" {
  tsem create "$SEM"
  hold
  watch "$SEM"
  enqueue tsem take "$SEM"
  local waiter=$PID
  eventually told '.event == "waits"'
  stop_watch
  tsem remove -f "$SEM"
  finish "$waiter"
  kill -CONT "$WATCH"
  eventually told '.event == "removed"'
  told '.event == "missed" and .given_up == 1 and .permits_asked_for == 0'
  told_in_order 'begin holds waits left missed removed'

  tsem create "$SEM"
  tsem take "$SEM"
  eventually told '.event == "begin"' 2
  enqueue tsem run "$SEM" true
  kill -KILL "$PID"
  finish "$PID"
  sleep 1.1 # so that the wait is longer than the hold
  tsem post "$SEM"
  tsem recover "$SEM"
  eventually told '.event == "recovered" or .event == "left"' 2
  expect_equal 'the hold is shorter than the wait' "$(jq -s '(map(select(.event == "recovered").hold_seconds) | max // 0)
    < (map(select(.event == "admitted").wait_seconds) | max // 1)' events)" true
}

@test "watch: a change of the capacity asks for no permits" {
  tsem create -j 4 "$SEM"
  watch "$SEM"
  tsem set -j 2 "$SEM"
  eventually told '.event == "set" and .capacity == 2'
  tsem set -j 0 "$SEM"
  eventually told '.event == "set" and .capacity == 0'
  tsem remove "$SEM"
  eventually told '.event == "removed"'
  told '.event == "missed"' 0
}

@test "watch: it says what it has missed" {
  tsem create -j 2 "$SEM"
  watch "$SEM"
  stop_watch
  tsem run "$SEM" true
  tsem run -k 2 "$SEM" true
  tsem take "$SEM"
  tsem run -w 0 -k 2 "$SEM" true || true
  kill -CONT "$WATCH"
  eventually told '.event == "missed" and .given_up == 1'
  eventually test "$(jq -s 'map(.permits_asked_for // 0) | add' events)" -ge 4
}

# What is told of the permits that were asked for, of those recovered, and of the waits given up, each at its first event.
totals() {
  jq -sc '[(map(.permits_asked_for // 0) | add) + (map(select(.ticket != null)) | unique_by(.ticket) | map(.count) | add // 0),
    (map(.recovered // 0) | add) + (map(select(.event == "recovered").count) | add // 0),
    (map(.given_up // 0) | add) + (map(select(.event == "gave_up")) | length)]' events
}

totals_are_those_of_the_counters() {
  [[ $(totals) == "$(tsem show -J --stats "$SEM" | jq -c '.statistics | [.permits_asked_for, .recovered, .given_up]')" ]]
}

@test "watch: what it has seen and what it has missed are together what the counters say" {
  tsem create -j 3 "$SEM"
  watch "$SEM"
  local i pids=()
  for i in {1..40}; do
    start tsem run -q "$SEM" sleep "0.0$((i % 7))"
    pids+=("$PID")
    start tsem run -q -k 2 -w "0.0$((i % 9))" "$SEM" true
    pids+=("$PID")
    ((i % 8)) || { start tsem run "$SEM" sh -c 'kill -9 $PPID $$' && pids+=("$PID"); }
  done
  for i in "${pids[@]}"; do finish "$i"; done
  tsem recover "$SEM"
  eventually totals_are_those_of_the_counters || { totals; tsem show -J --stats "$SEM" | jq -c .statistics; return 1; }
}

@test "watch: a semaphore of another user, with and without permission to read" {
  need_another_user
  tsem create -m 0644 "$SEM"
  tsem create -m 0600 "$SEM-b"
  # shellcheck disable=SC2016 # expanded in there
  touch events said && chmod a+w events said
  start as-nobody bash -c 'exec tsem watch -d 10ms "$SEM" "$SEM-b" >events 2>said'
  eventually test -s events
  hold
  eventually told '.event == "admitted"'
  expect_match 'standard error' "$(<said)" "^tsem: $SEM-b: permission denied: it belongs to root"
  tsem set -m 0600 "$SEM"
  attempt as-nobody tsem watch "$SEM"
  expect_failure "^$SEM: permission denied"
}

@test "watch: one name that does not exist, and no other" {
  refuses "^$SEM: no such semaphore" watch "$SEM"
  refuses 'watch needs the NAME' watch
  refuses "^$SEM: it is named twice" watch "$SEM" "$SEM-b" "$SEM"
  refuses "^$SEM: -d '0' is out of range \\(use .* from 1ms to 100 years\\)" watch "$SEM" -d 0
  refuses '^etcd:x: .watch. does not work for a semaphore on etcd' watch etcd:x
}

@test "watch: 1,000 semaphores, also if fewer descriptors are allowed at first" {
  local names
  mapfile -t names < <(seq -f "$SEM.%g" 1000)
  printf '%s\n' "${names[@]}" | xargs -n 1 tsem create
  ulimit -Sn 100
  watch "${names[@]}"
  eventually told '.event == "begin"' 1000
  start tsem run "$SEM.777" sh -c 'until [ -e finished ]; do sleep 0.02; done'
  eventually told ".event == \"admitted\" and .name == \"$SEM.777\""
  touch finished
  eventually told ".event == \"released\" and .name == \"$SEM.777\""
  kill "$WATCH"
  tsem remove "${names[@]}"
}

@test "watch: ends when nothing reads its output, or it cannot be written" {
  tsem create "$SEM"
  # shellcheck disable=SC2016 # expanded in there
  attempt bash -c 'tsem watch -d 10ms "$SEM" | head -n 1 >/dev/null & sleep 0.01
    until ! pgrep -s 0 -x tsem-view >/dev/null; do tsem run "$SEM" true; tsem set -j 2 "$SEM"; tsem set -j 1 "$SEM"; done'
  expect_status 0
  # Although nothing happens.
  attempt bash -c 'tsem watch -d 10ms "$SEM" | head -n 1 >/dev/null'
  expect_status 0
  attempt bash -c 'tsem watch "$SEM" >/dev/full'
  expect_failure "^$SEM: cannot write to standard output: No space left"
}
