# SPDX-License-Identifier: MIT
# The jobserver with a named pipe. make and ninja of Debian 12 do not know this style: TSEM_MAKE and TSEM_NINJA may name
# newer ones. Clients of these tests use it as well.
load helper
load jobserver

FIFO=(--jobserver-style fifo)

start_build() {
  start tsem run "${FIFO[@]}" "$SEM" -- ./build.py "$1" "$2"
}

# newest NAME FROM PROGRAM...: sets TOOL to the first of the programs whose version is FROM or later; skips the test if
# there is none.
newest() {
  local name=$1 from=$2 version
  shift 2
  for TOOL; do
    version=$("$TOOL" --version 2>/dev/null | grep -om1 '[0-9][0-9.]*[0-9]') || continue
    [[ $(printf '%s\n' "$from" "$version" | sort -V | head -n 1) != "$from" ]] || return 0
  done
  skip "no $name from $from on"
}

@test "jobserver fifo: two builds and a command share one limit, and all jobs run" {
  builds_share_one_limit
}

@test "jobserver fifo: a permit goes to the first waiter in the queue, also when the build wants it back" {
  copy_programs 2
  tsem create -j 2 "$SEM"
  start_build a 9
  eventually running 2
  eventually is_shown .waiting 1
  enqueue tsem run "$SEM" ./job b
  # The build was in the queue before the waiter, for one more job, not for two. The first job uses the build's own
  # permit.
  local job
  for job in a2 a3; do
    touch "go/$job"
    eventually test -e "ran/$job"
    eventually running 2
  done
  [[ -e in/b ]] || fail "the build has had another turn: $(ls in)"
  touch open
  finish "$PID"
  eventually is_shown .held 0
  expect_ran 10
}

@test "jobserver fifo: a build that has nothing to do leaves its permits to others" {
  idle_build_leaves_its_permits "${FIFO[@]}"
}

@test "jobserver fifo: a client that returns more tokens than it claimed adds no permit" {
  return_more_than_claimed "${FIFO[@]}"
}

@test "jobserver fifo: tokens that a client invents add no permit" {
  tsem create "$SEM"
  copy_programs 0
  mkfifo gate
  # No token is offered, because the command has the only permit. A byte that is written to the inherited end can be
  # claimed.
  start tsem run "${FIFO[@]}" "$SEM" ./counterfeit
  eventually test -e returned
  local before
  before=$(sleeps "$PID")
  kill -CONT "$PID" # so that it reads the pipe again
  eventually has_slept "$PID" "$before"
  expect_shown '[.held, .available] | @csv' 1,0
  echo >gate
  finish "$PID"
  expect_status 0
  expect_at_rest 1
}

@test "jobserver fifo: any byte is a token" {
  tsem create -j 2 "$SEM"
  copy_programs 0
  attempt tsem run "${FIFO[@]}" "$SEM" ./any-byte.py
  expect_silence
  expect_at_rest 2
}

@test "jobserver fifo: tsem is killed: no permit in use is released, and old and new clients go on" {
  build_survives_tsem 7 "${FIFO[@]}" "$SEM" -- sh -c './build.py a 5 && ./build.py b 2'
}

@test "jobserver fifo: the command gets one path and one more descriptor" {
  tsem create "$SEM"
  attempt env MAKEFLAGS='k -j8 --jobserver-auth=3,4 -- X=1' tsem run "${FIFO[@]}" "$SEM" sh -c 'echo "$MAKEFLAGS"'
  local path
  path=$(grep -o 'fifo:[^ ]*' <<<"$OUT")
  expect_out "k -j --jobserver-auth=$path -- X=1"
  attempt tsem run "$SEM" ls /proc/self/fd
  local without=$OUT
  attempt tsem run "${FIFO[@]}" "$SEM" ls /proc/self/fd
  expect_equal 'descriptors' "$(comm -13 <(sort <<<"$without") <(sort <<<"$OUT") | grep -c '^[1-9][0-9]$')" 1
}

@test "jobserver fifo: --jobserver-style has two values" {
  tsem create "$SEM"
  attempt tsem run --jobserver --jobserver-style=pipe "$SEM" sh -c 'echo "$MAKEFLAGS" | grep -Ec "auth=[0-9]+,[0-9]+"'
  expect_out 1
  attempt tsem run --jobserver --jobserver-style=fifo "$SEM" sh -c 'echo "$MAKEFLAGS" | grep -c "auth=fifo:/"'
  expect_out 1
  refuses "--jobserver-style 'sem' is not valid \(use pipe or fifo\)" run --jobserver-style sem "$SEM" touch ran
  refuses "'--jobserver-style'" acquire --jobserver-style fifo --owner $$ "$SEM"
  refuses "one semaphore" run "${FIFO[@]}" "$SEM,$SEM.other" true
  [[ ! -e ran ]]
}

# ---- real clients ----

@test "jobserver fifo: make, and makes below it" {
  newest 'GNU make' 4.4 ${TSEM_MAKE:+"$TSEM_MAKE"} make gmake
  copy_programs 3
  start tsem run -j 3 "${FIFO[@]}" "$SEM" -- "$TOOL" subs N=4 M=4
  eventually running 3
  eventually is_shown '[.held, .waiting] | @csv' 3,1
  touch open
  finish "$PID"
  expect_status 0
  expect_ran 16
  expect_at_rest 3
}

@test "jobserver fifo: ninja is a client, and shares with others" {
  newest ninja 1.13 ${TSEM_NINJA:+"$TSEM_NINJA"} ninja
  copy_programs 3
  {
    printf 'rule job\n  command = ./job $out && touch $out\n'
    printf 'build %s: job\n' n1 n2 n3 n4 n5 n6 n7 n8
  } >build.ninja
  tsem create -j 3 "$SEM"
  start tsem run "${FIFO[@]}" "$SEM" "$TOOL" --quiet
  local ninja=$PID
  eventually running 3
  start_build b 8
  eventually is_shown '[.held, .waiting] | @csv' 3,2
  touch open
  finish "$ninja"
  expect_status 0
  finish "$PID"
  expect_status 0
  expect_ran 16
  expect_at_rest 3
}

@test "jobserver fifo: cargo is a client" {
  cargo_is_a_client "${FIFO[@]}"
}
