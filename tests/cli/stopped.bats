# SPDX-License-Identifier: MIT
# A command is stopped without a terminal: `tsem run` waits until it goes on or ends. terminal.bats tests Ctrl-Z.
load helper
load jobserver

# stopping SIGNAL OPTION...: starts a command that exits with status 3 when there is a file `stop`, and stops it by
# SIGNAL. COMMAND_PID is the command, RUN_PID is `tsem run`, which has noticed the stop. PID is its caller.
stopping() {
  rm -f stop ready
  start own-group.py tsem run -j 2 "${@:2}" "$SEM" \
    bash -c 'touch ready; until [[ -e stop ]]; do sleep 0.005; done; exit 3'
  eventually test -e ready
  RUN_PID=$(pgrep -P "$PID")
  COMMAND_PID=$(pgrep -o -P "$RUN_PID")
  local before
  before=$(sleeps "$RUN_PID")
  kill -"$1" "$COMMAND_PID"
  eventually in_state T "$COMMAND_PID"
  eventually has_slept "$RUN_PID" "$before"
}

in_state() {
  [[ $(ps -o state= -p "$2") =~ ^$1 ]]
}

goes_on_after() {
  stopping "$@"
  kill -CONT "$COMMAND_PID"
  touch stop
  finish "$PID"
  expect_status 3
  expect_at_rest 2
}

is_killed_after() {
  stopping "$@"
  kill -KILL "$COMMAND_PID"
  finish "$PID"
  expect_status 137
  expect_at_rest 2
}

@test "stopped: a command that is stopped and continued goes on, and so does tsem" {
  local signal
  for signal in STOP TSTP TTIN TTOU; do
    goes_on_after "$signal"
  done
}

@test "stopped: the same with a jobserver" {
  local signal
  for signal in STOP TSTP; do
    goes_on_after "$signal" --jobserver
    goes_on_after "$signal" --jobserver --jobserver-style fifo
  done
}

@test "stopped: a command that is killed while it is stopped has ended" {
  is_killed_after STOP
  is_killed_after TSTP
  is_killed_after STOP --jobserver
  is_killed_after TSTP --jobserver --jobserver-style fifo
}

@test "stopped: the permit stays with the command" {
  stopping STOP
  expect_shown '[.held, (.holders | length)] | @csv' 1,1
  expect_shown '.holders[0].pid' "$COMMAND_PID"
}

@test "stopped: the build's unused permit comes back, and the build asks for it again when it continues" {
  start tsem run -j 2 --jobserver "$SEM" sleep 1000
  eventually is_shown .held 2
  local pid
  pid=$(pgrep -P "$PID")
  for _ in {1..10}; do
    kill -STOP "$pid"
    eventually is_shown .held 1
    kill -CONT "$pid"
    eventually is_shown .held 2
  done
  kill -TERM "$pid"
  finish "$PID"
  expect_status 143
  expect_at_rest 2
}

@test "stopped: a stop of the whole group stops tsem, too, and a continued tsem continues the command" {
  stopping STOP
  kill -CONT "$RUN_PID"
  eventually in_state '[SR]' "$COMMAND_PID"
  local signal
  for signal in STOP TSTP; do
    kill -"$signal" -- "-$RUN_PID"
    eventually in_state T "$RUN_PID"
    eventually in_state T "$COMMAND_PID"
    kill -CONT -- "-$RUN_PID"
    eventually in_state '[SR]' "$COMMAND_PID"
  done
  touch stop
  finish "$PID"
  expect_status 3
}

@test "stopped: a script in the foreground that cannot see its children stop goes on" {
  attempt python3 "$BATS_TEST_DIRNAME/terminal.py" 'see:$ ' 'type:in-foreground\n' 'until:test -e pid' \
    'until:kill -TSTP $(<pid)' 'until:ps -o state= -p $(<pid) | grep -q T' \
    'until:kill -CONT $(<pid)' 'until:touch stop' 'see:status=3' 'see:$ '
  expect_status 0
  expect_at_rest 1
}
