# SPDX-License-Identifier: MIT
# Under a jobserver somebody dies, or does not say what it does: no permit is lost, and none that is in use comes free.
load helper
load jobserver

@test "jobserver: tokens of a killed client come back; those of the living stay" {
  tsem create -j 5 "$SEM"
  mkfifo fifo
  workshop 0
  start tsem run --jobserver "$SEM" bash -c '
    ./client.py good 2 sh -c "sleep 1000 & sleep 1000 & wait" &
    ./client.py bad 2 sleep 1000 & echo $! >pid
    read -r _ <fifo'
  eventually test -e good -a -e bad
  eventually is_shown '[.held, .waiting] | @csv' 5,1
  attempt tsem run -n "$SEM" true
  expect_silence 75
  kill -KILL "$(<pid)"
  # One at least is lost for certain, and offered again; or given to who waits.
  eventually is_shown '[.held, .waiting] | @csv' 5,0
  attempt tsem run "$SEM" true
  expect_silence
  expect_shown '.held >= 3' true # those of the living, and the command's own
}

@test "jobserver: a killed client's jobs keep their tokens while they live" {
  tsem create -j 6 "$SEM"
  mkfifo fifo
  workshop 0
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
  workshop 0
  attempt tsem run --jobserver "$SEM" ./client.py took 2 true
  expect_silence
  expect_at_rest 3
}

@test "jobserver: returning more than was claimed brings nothing" {
  return_more_than_claimed --jobserver
}

@test "jobserver: tsem is killed: nothing that is in use comes free, and the build goes on" {
  build_survives_tsem 6 --jobserver "$SEM" -- make -j N=6
}

@test "jobserver: make is killed: all comes back" {
  workshop 3
  start tsem run -j 3 --jobserver "$SEM" -- make -j N=6
  eventually running 3
  pkill -KILL -P "$PID" -x make
  finish "$PID"
  expect_status 137
  expect_at_rest 3
}

@test "jobserver: orphans of the build are waited for by nobody, and do no harm" {
  workshop 2
  touch open
  attempt tsem run -j 2 --jobserver "$SEM" sh -c '(sh -c "exit 7" & sh -c "exit 8" &) ; make N=4'
  expect_status 0
  expect_ran 4
  expect_at_rest 2
}
