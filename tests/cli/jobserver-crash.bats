# SPDX-License-Identifier: MIT
# A process of a build dies, or a client breaks the rules of the jobserver: no permit is lost, and no permit in use is
# released.
load helper
load jobserver

@test "jobserver: tokens of a killed client come back; live clients keep theirs" {
  tsem create -j 5 "$SEM"
  mkfifo fifo
  copy_programs 0
  start tsem run --jobserver "$SEM" bash -c '
    ./client.py good 2 sh -c "sleep 1000 & sleep 1000 & wait" &
    ./client.py bad 2 sleep 1000 & echo $! >pid
    read -r _ <fifo'
  eventually test -e good -a -e bad
  eventually is_shown '[.held, .waiting] | @csv' 5,1
  attempt tsem run -n "$SEM" true
  expect_silence 75
  kill -KILL "$(<pid)"
  # At least one token is certainly lost, and is offered again or given to a waiter.
  eventually is_shown '[.held, .waiting] | @csv' 5,0
  attempt tsem run "$SEM" true
  expect_silence
  expect_shown '.held >= 3' true # tokens of live clients, and the permit of the command
}

@test "jobserver: a killed client's jobs keep their tokens while they live" {
  tsem create -j 6 "$SEM"
  mkfifo fifo
  copy_programs 0
  start tsem run --jobserver "$SEM" bash -c '
    ./client.py parent 2 sh -c "sleep 1000 & sleep 1000 & sleep 1000 & touch children; wait" & echo $! >pids
    ./client.py bad 3 sleep 1000 & echo $! >>pids
    read -r _ <fifo'
  eventually test -e parent -a -e bad -a -e children
  eventually is_shown '[.held, .waiting] | @csv' 6,1
  xargs kill -KILL <pids
  # Three threads and the command are left: two of five tokens are lost, and one permit is offered.
  eventually is_shown '[.available, .held, .waiting] | @csv' 1,5,0
}

@test "jobserver: tokens that a client keeps come back at the end of the command" {
  tsem create -j 3 "$SEM"
  copy_programs 0
  attempt tsem run --jobserver "$SEM" ./client.py took 2 true
  expect_silence
  expect_at_rest 3
}

@test "jobserver: a client that returns more tokens than it claimed adds no permit" {
  return_more_than_claimed --jobserver
}

@test "jobserver: tsem is killed: no permit in use is released, and the build goes on" {
  build_survives_tsem 6 --jobserver "$SEM" -- make -j N=6
}

@test "jobserver: make is killed: all permits come back" {
  copy_programs 3
  start tsem run -j 3 --jobserver "$SEM" -- make -j N=6
  eventually running 3
  pkill -KILL -P "$PID" -x make
  finish "$PID"
  expect_status 137
  expect_at_rest 3
}

@test "jobserver: tsem run does not wait for orphans of the build, and they do no harm" {
  copy_programs 2
  touch open
  attempt tsem run -j 2 --jobserver "$SEM" sh -c '(sh -c "exit 7" & sh -c "exit 8" &) ; make N=4'
  expect_status 0
  expect_ran 4
  expect_at_rest 2
}
