# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Loaded by every file of tests here. meson sets TSEM; by hand: TSEM=build/cli/tsem bats tests/cli
#
#   attempt COMMAND...        runs it to its end; then STATUS, OUT and ERR are known
#   start COMMAND...          runs it in the background, in a session of its own; its pid is PID
#   finish PID                waits for its end; then STATUS is known
#   eventually COMMAND...     waits until COMMAND succeeds
#   expect_...                compares, and prints both sides when they differ
#
# Every test has a semaphore's name of its own, SEM. What it starts is ended after it, and what it leaves in shared
# memory is removed, whether it passed or failed.

PATH=${BASH_SOURCE[0]%/*}/programs:$PATH # the programs that tests run
if [[ -n ${TSEM-} ]]; then
  TSEM=$(realpath "$TSEM") # each test has a directory of its own
  PATH=${TSEM%/*}:/usr/bin:/bin:$PATH # and the system's own tools, without wrappers around them
fi
export LC_ALL=C.UTF-8

# Seconds after which a command counts as hanging. No test waits as long unless it fails.
DEADLINE=${DEADLINE:-30}

setup() {
  SEM=bats-$$-$BATS_TEST_NUMBER-$RANDOM
  FILE=/dev/shm/tsem.$SEM
  export SEM FILE
  STARTED=()
  # Without bats tracing every command, a test takes half the time. The price: if a [[ ]] fails, bats does not name its line.
  set +o functrace
  cd "$BATS_TEST_TMPDIR" || return
  # The environment variable has the names of tests that cannot pass on this platform, one in each line.
  [[ $'\n'${TSEM_TESTS_LEFT_OUT-}$'\n' != *$'\n'"$BATS_TEST_DESCRIPTION"$'\n'* ]] || skip 'TSEM_TESTS_LEFT_OUT names it'
}

teardown() {
  end_all
}

# Ends the test's jobs, and every process with this SEM in its environment: a descendant may have left its process
# group, and the number of a group may be in use again.
end_all() {
  local pids
  mapfile -t pids < <(jobs -p)
  for _ in {1..100}; do
    ((${#pids[@]} == 0)) || kill -KILL "${pids[@]}" 2>/dev/null || true
    # Without SEM in its own environment, grep does not find itself.
    mapfile -t pids < <(variable=SEM=$SEM && unset SEM && exec grep -lsxzF "$variable" /proc/[0-9]*/environ)
    pids=("${pids[@]//[!0-9]/}")
    ((${#pids[@]} > 0)) || break
  done
  rm -rf "${FILE:?}"* /dev/shm/tsem-jobs.*."${SEM:?}"*
  wait
}

fail() {
  printf '%s\n' "$@" >&2
  return 1
}

# ---- running ----

attempt() {
  local end=$((SECONDS + DEADLINE))
  STATUS=0
  timeout --kill-after=2 "$DEADLINE" "$@" >attempt.out 2>attempt.err || STATUS=$?
  OUT=$(<attempt.out)
  ERR=$(<attempt.err)
  printf '%.800s\n' "$ ${*@Q}" ${OUT:+"$OUT"} ${ERR:+"$ERR"} "[status $STATUS]"
  if ((STATUS >= 124 && SECONDS >= end)); then
    fail "still running after $DEADLINE seconds: ${*@Q}"
  fi
}

# A shell without job control ignores SIGINT and SIGQUIT for background jobs, and nohup ignores SIGHUP for all. env
# undoes that, because a child would inherit it.
start() {
  printf '$ %s &\n' "${*@Q}"
  setsid env --default-signal=INT,QUIT,HUP "$@" 3>&- 4>&- &
  PID=$!
  STARTED+=("$PID")
}

has_ended() {
  local stat
  read -r stat 2>/dev/null <"/proc/$1/stat" || return 0
  [[ ${stat##*) } == [ZX]* ]]
}

finish() {
  eventually has_ended "$1" || return
  STATUS=0
  wait "$1" || STATUS=$?
  printf '[%s ended with status %s]\n' "$1" "$STATUS"
}

eventually() {
  local end=$((SECONDS + DEADLINE))
  until "$@" >/dev/null 2>&1; do
    if ((SECONDS > end)); then
      tsem show "$SEM" || true
      fail "not so after $DEADLINE seconds: ${*@Q}"
      return
    fi
    sleep 0.02
  done
}

all_succeed() {
  local pid
  for pid; do
    finish "$pid"
    expect_status 0
  done
}

verbs_of_help() {
  tsem help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

# ---- what a semaphore looks like ----

# Starts `tsem run` with these options; it holds until the test ends. PID is `tsem run`, COMMAND_PID its command.
hold() {
  start tsem run "$SEM" "$@" sleep 1000
  eventually is_command_of "$PID"
}

# Starts a process to acquire for: OWNER.
owner() {
  start sleep 1000
  OWNER=$PID
  eventually grep -qx sleep "/proc/$OWNER/comm"
}

# A process that had one permit has been killed: OWNER.
leave_dead_owner() {
  owner
  tsem acquire --owner "$OWNER" "$SEM"
  kill -KILL "$OWNER"
  finish "$OWNER"
}

is_command_of() {
  COMMAND_PID=$(pgrep -P "$1") &&
    is_shown "any(.holders[]; .pid == $COMMAND_PID and .command == \"sleep 1000\")" true
}

# Starts a waiter, and returns when it is in the queue.
enqueue() {
  start "$@"
  eventually is_waiting "$PID"
}

# The process, or one of its session.
is_waiting() {
  is_shown "any(.waiters[]; [.pid] | inside([$(pgrep -d, -s "$1")]))" true
}

field() {
  timeout "$DEADLINE" tsem show -J "$SEM" | jq -r "$1"
}

is_shown() {
  [[ $(field "$1") == "$2" ]]
}

expect_shown() {
  expect_equal "$1 of $SEM" "$(field "$1")" "$2"
}

# No process holds or waits, and all permits are available.
expect_at_rest() {
  expect_shown '[.available, .held, .waiting, (.holders | length), (.waiters | length)] | @csv' "$1,0,0,0,0"
}

# All of the semaphore that a refused command must not change.
semaphore_state() {
  if [[ -e $FILE ]]; then
    timeout "$DEADLINE" tsem show -J "$SEM" | sed '/"seconds"/d; /"why"/s/ for [0-9]* s\b//g'
  else
    echo absent
  fi
}

# ---- comparing ----

expect_equal() {
  [[ $2 == "$3" ]] || fail "$1" "  is:        '$2'" "  should be: '$3'"
}

expect_match() {
  [[ $2 =~ $3 ]] || fail "$1" "  is:           '$2'" "  should match: '$3'"
}

expect_status() {
  expect_equal 'exit status' "$STATUS" "$1"
}

expect_out() {
  expect_equal 'standard output' "$OUT" "$1"
}

expect_err() {
  expect_equal 'standard error' "$ERR" "$1"
}

# The command succeeded and printed nothing.
expect_silence() {
  expect_status "${1:-0}" && expect_out '' && expect_err ''
}

# The permits were not acquired in time, or the wait was cancelled, and one line says why.
expect_in_vain() {
  expect_status "${1:-75}" && expect_out '' &&
    expect_match 'standard error' "$ERR" \
      "^tsem: [^ ]+: (not enough permits|permits are still|the wait was cancelled)[^"$'\n'"]*, [^"$'\n'"]+\$"
}

# Expects one line on standard error: what happened and, in parentheses, what to do.
expect_message() {
  local lines
  mapfile lines <attempt.err
  expect_equal 'lines on standard error' "${#lines[@]}" 1 &&
    expect_match 'end of the line on standard error' "${lines[0]}" $'\n$' &&
    expect_match 'standard error' "$ERR" '^tsem: .+ \(.+\)$' &&
    expect_match 'standard error' "${ERR#tsem: }" "$1"
}

# tsem itself failed: it printed this line, and nothing else.
expect_failure() {
  expect_status 125 && expect_out '' && expect_message "$1"
}

# The same, for these arguments of tsem; and the semaphore has not changed.
refuses() {
  local before
  before=$(semaphore_state)
  attempt tsem "${@:2}" &&
    expect_failure "$1" &&
    expect_equal 'the semaphore afterwards' "$(semaphore_state)" "$before"
}

# ---- environment ----

# Skips the test if tsem is built with this sanitizer; `any`: with any sanitizer.
skip_under() {
  case $1,${TSEM_SANITIZERS:-none} in
  *,none) ;;
  any,* | *,*"$1"*) skip "$2" ;;
  esac
}

# At its end, a process of a coverage build writes its counts to files: that fails under limits.
skip_under_coverage() {
  [[ ${TSEM_COVERAGE:-false} != true ]] || skip 'what counts for coverage needs files of its own'
}

# Only root can become another user. setpriv may pass root's capabilities on to the first program, but not further.
need_another_user() {
  ((EUID == 0)) || skip 'needs root, to be another user'
  as-nobody sh -c '"$0" --version' "$(type -P tsem)" >/dev/null 2>&1 || skip 'the user nobody cannot execute tsem here'
}

# For screen.py. Asked once in each run.
need_emulator() {
  [[ ! -e $BATS_RUN_TMPDIR/emulator ]] || return 0
  python3 -c 'import pyte' 2>/dev/null || skip 'needs python3-pyte, to emulate a terminal'
  : >"$BATS_RUN_TMPDIR/emulator"
}

need_private_shm() {
  private-shm 1m true 2>/dev/null || skip 'needs a mount namespace, to have a /dev/shm of its own'
}
