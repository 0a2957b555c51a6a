# SPDX-License-Identifier: MIT
# --max-waiting: one runs, and at most so many wait.
load helper

@test "max-waiting: one runs, one waits, and the others exit at once" {
  hold -j 1
  local holder=$PID
  enqueue tsem run --max-waiting 1 "$SEM" touch ran
  local waiter=$PID verb
  for verb in "run --max-waiting 1 $SEM touch ran" "take --max-waiting 1 $SEM" \
    "acquire --max-waiting 1 --owner $$ $SEM" "run --max-waiting 1 -j 1 -w 1h -q $SEM touch ran"; do
    # shellcheck disable=SC2086
    attempt tsem $verb
    expect_silence 75
  done
  attempt tsem run --max-waiting 1 -E 3 "$SEM" touch ran
  expect_silence 3
  attempt tsem run --max-waiting 1 -v "$SEM" touch ran
  expect_status 75
  expect_err "tsem: $SEM: as many wait already as --max-waiting 1 allows"
  [[ ! -e ran ]]
  enqueue tsem run --max-waiting 2 "$SEM" true
  kill -TERM "$holder"
  all_succeed "$waiter" "$PID"
  [[ -e ran ]]
  attempt tsem run --max-waiting 1 "$SEM" true
  expect_silence
  expect_at_rest 1
}

@test "max-waiting: waiters that are dead or have left do not count" {
  hold -j 1
  enqueue tsem run "$SEM" touch ran
  kill -KILL "$PID"
  finish "$PID"
  enqueue tsem run --max-waiting 1 "$SEM" touch ran
  kill -TERM "$PID"
  finish "$PID"
  enqueue tsem run --max-waiting 1 "$SEM" touch ran
  attempt tsem run --max-waiting 1 "$SEM" touch ran
  expect_silence 75
  [[ ! -e ran ]]
}

@test "max-waiting: a permit of a dead holder goes to the waiter, and its place to the next" {
  hold -j 1
  enqueue tsem run "$SEM" sleep 1000
  kill -KILL "$COMMAND_PID" "${STARTED[0]}"
  eventually is_shown .waiting 0
  enqueue tsem run --max-waiting 1 "$SEM" true
}

@test "max-waiting: of 100 that start at once, with one permit and one place, two stay" {
  local pid statuses=()
  for _ in {1..100}; do
    start tsem run -j 1 --max-waiting 1 "$SEM" sh -c 'echo >>ran; until [ -e go ]; do sleep 0.02; done'
  done
  ended() { (($(for pid in "${STARTED[@]}"; do has_ended "$pid" && echo; done | wc -l) == 98)); }
  eventually ended
  expect_shown '[.held, .waiting] | @csv' 1,1
  touch go
  for pid in "${STARTED[@]}"; do
    finish "$pid"
    statuses+=("$STATUS")
  done
  expect_equal 'how they ended' "$(printf '%s\n' "${statuses[@]}" | sort -n | uniq -c | xargs)" '2 0 98 75'
  expect_equal 'how many ran' "$(wc -l <ran)" 2
  expect_at_rest 1
}

@test "max-waiting: impossible numbers, and several semaphores" {
  local number
  tsem create "$SEM"
  for number in 0 -1 '' x 4294967296; do
    refuses "^$SEM: --max-waiting '.*1 to" run "$SEM" --max-waiting "$number" touch ran
  done
  refuses '--max-waiting needs a single semaphore' run -j 1 --any --max-waiting 1 "$SEM,$SEM.b" touch ran
  refuses '--max-waiting needs a single semaphore' run -j 1 --max-waiting 1 "$SEM,$SEM.b" touch ran
  [[ ! -e ran ]]
}
