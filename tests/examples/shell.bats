# SPDX-License-Identifier: MIT
# The examples in shell. Those in C check themselves.
load ../cli/helper

EXAMPLES=$BATS_TEST_DIRNAME/../../examples

# start_with TEXT COMMAND...: the same as start, with TEXT on standard input.
start_with() {
  local input
  input=$(mktemp input.XXXXXX)
  printf '%s\n' "$1" >"$input"
  # shellcheck disable=SC2016 # for that bash to expand
  start bash -c 'exec "${@:2}" <"$1"' - "$input" "${@:2}"
}

# ---- job_pool.sh ----

# Copies the program job into the test's directory, and creates its directory.
prepare_job() {
  cp "$BATS_TEST_DIRNAME/job" .
  mkdir running
}

@test "job pool: a limited number at a time, all in the end, each with its own slot" {
  prepare_job
  start_with "$(printf './job %s\n' {1..7})" "$EXAMPLES/job_pool.sh" "$SEM" 3
  eventually is_shown '[.held, .waiting] | @csv' 3,4
  eventually three_run
  expect_equal 'slots' "$(cd running && echo *)" '0 1 2'
  touch go
  finish "$PID"
  expect_status 0
  expect_equal 'finished jobs' "$(sort -n finished | tr '\n' ' ')" '1 2 3 4 5 6 7 '
  expect_equal 'most at once' "$(sort -n seen | tail -n 1)" 3
  expect_at_rest 3
}

three_run() {
  [[ $(find running -mindepth 1 | wc -l) == 3 ]]
}

@test "job pool: two pools of the same name share the limit" {
  prepare_job
  start_with $'./job a\n./job b\n./job c' "$EXAMPLES/job_pool.sh" "$SEM" 2
  local first=$PID
  eventually is_shown '[.held, .waiting] | @csv' 2,1
  start_with $'./job d\n./job e' "$EXAMPLES/job_pool.sh" "$SEM" 2
  eventually is_shown '[.held, .waiting] | @csv' 2,3
  touch go
  finish "$PID"
  expect_status 0
  finish "$first"
  expect_status 0
  expect_equal 'finished jobs' "$(sort finished | tr -d '\n')" abcde
}

@test "job pool: prints which commands failed; a killed one costs no permit" {
  attempt "$EXAMPLES/job_pool.sh" "$SEM" 1 < <(printf '%s\n' 'exit 3' true 'kill -KILL $$' 'echo out')
  expect_status 1
  expect_out out
  expect_equal 'standard error' "$ERR" $'job_pool: status 3: exit 3\njob_pool: status 137: kill -KILL $$'
  expect_at_rest 1
}

@test "job pool: a signal that ends it ends its jobs" {
  start_with $'exec sleep 1000\nexec sleep 1000' "$EXAMPLES/job_pool.sh" "$SEM" 1
  eventually is_shown '[.held, .waiting] | @csv' 1,1
  kill -TERM "$PID"
  finish "$PID"
  expect_status 143
  eventually is_shown '[.held, .waiting] | @csv' 0,0
}

# ---- spool.sh ----

# With a deadline, because the wait for an item that never comes would not end.
spool() {
  timeout 30 "$EXAMPLES/spool.sh" "$1" "$SEM" spool "${@:2}"
}

put_numbers() {
  local i
  for ((i = $1; i < $1 + 10; i++)); do
    spool put <<<"$i"
  done
}

get_ten() {
  local i
  for i in {1..10}; do
    spool get >>"got.$1"
  done
}

@test "spool: the items come out in the order in which they went in" {
  spool make 4
  local i
  for i in one two three; do
    spool put <<<"$i"
  done
  expect_equal 'items' "$(spool get; spool get; spool get)" $'one\ntwo\nthree'
  spool remove
  [[ ! -e $FILE.items && ! -e $FILE.places ]]
}

@test "spool: a full one makes producers wait, an empty one consumers" {
  spool make 2
  spool put <<<1
  spool put <<<2
  start_with 3 "$EXAMPLES/spool.sh" put "$SEM" spool
  local producer=$PID
  eventually waits_at places 1
  expect_equal 'first item' "$(spool get)" 1
  finish "$producer"
  expect_status 0
  expect_equal 'the others' "$(spool get; spool get)" $'2\n3'
  start "$EXAMPLES/spool.sh" get "$SEM" spool >got
  eventually waits_at items 1
  spool put <<<4
  finish "$PID"
  expect_equal 'what it waited for' "$(tail -n 1 got)" 4
  expect_equal 'what is left in the directory' "$(ls -A spool)" ''
}

waits_at() {
  [[ $(tsem show -J "$SEM.$1" | jq .waiting) == "$2" ]]
}

@test "spool: each item of several producers goes to one of several consumers" {
  spool make 3
  local pids=() pid i
  for i in 1 2 3; do
    get_ten "$i" 3>&- 4>&- &
    pids+=("$!")
    put_numbers "${i}0" 3>&- 4>&- &
    pids+=("$!")
  done
  for pid in "${pids[@]}"; do
    finish "$pid"
    expect_status 0
  done
  expect_equal 'items' "$(sort -n got.* | tr '\n' ' ')" "$(seq 10 39 | tr '\n' ' ')"
  expect_equal 'what is left in the directory' "$(ls -A spool)" ''
  expect_equal 'free places' "$(tsem show -J "$SEM.places" | jq .available)" 3
}

@test "spool: usage" {
  attempt "$EXAMPLES/spool.sh" peek "$SEM" spool
  expect_status 2
  expect_match 'standard error' "$ERR" '^spool.sh make NAME DIRECTORY PLACES'
}

# ---- once.sh ----

@test "once: skips while the earlier one runs, and prints its command" {
  attempt "$EXAMPLES/once.sh" "$SEM" echo hello
  expect_status 0
  expect_out hello
  start "$EXAMPLES/once.sh" "$SEM" sleep 1000
  eventually is_shown .held 1
  eventually is_shown '.holders[0].command' 'sleep 1000'
  attempt "$EXAMPLES/once.sh" "$SEM" touch ran
  expect_status 0
  expect_match 'standard error' "$ERR" "^once: $SEM: skipped, still running:"$'\n'".*sleep 1000"
  [[ ! -e ran ]]
}

@test "once: the exit status is the command's; a killed one does not block the next" {
  attempt "$EXAMPLES/once.sh" "$SEM" sh -c 'exit 75'
  expect_status 75
  start "$EXAMPLES/once.sh" "$SEM" sh -c 'exec sleep 1000'
  eventually is_shown '.holders[0].command' 'sleep 1000'
  kill -KILL "$(field '.holders[0].pid')"
  finish "$PID"
  expect_status 137
  attempt "$EXAMPLES/once.sh" "$SEM" echo again
  expect_status 0
  expect_out again
}
