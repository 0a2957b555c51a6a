# SPDX-License-Identifier: MIT
# A process of a build dies, or a client breaks the rules of the jobserver: no permit is lost, and no permit in use is
# released.
load helper
load jobserver

@test "jobserver: tokens of a killed client come back at the end of the command" {
  tsem create -j 3 "$SEM"
  copy_programs 0
  mkfifo fifo
  start tsem run --jobserver "$SEM" sh -c './client.py took 2 sh -c "kill -KILL \$\$"; touch killed; read -r _ <fifo'
  eventually test -e killed
  expect_shown .held 3
  echo >fifo
  finish "$PID"
  expect_status 0
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
