# SPDX-License-Identifier: MIT
# Tokens of GNU make's jobserver stand for permits.
load helper
load jobserver

start_build() {
  start tsem run --jobserver "$SEM" -- make -j NAME="$1" N="$2"
}

# ---- make ----

@test "jobserver: two builds and a command share one limit, and all jobs run" {
  builds_share_one_limit
}

@test "jobserver: a semaphore of one permit: one job at a time" {
  copy_programs 1
  start tsem run -j 1 --jobserver "$SEM" -- make -j N=5
  eventually is_shown '[.held, .waiting] | @csv' 1,1
  eventually running 1
  touch open
  finish "$PID"
  expect_status 0
  expect_ran 5
  expect_at_rest 1
}

@test "jobserver: makes below make share the limit" {
  copy_programs 3
  start tsem run -j 3 --jobserver "$SEM" -- make -j subs N=4 M=4
  eventually running 3
  eventually is_shown '[.held, .waiting] | @csv' 3,1
  touch open
  finish "$PID"
  expect_status 0
  expect_ran 16
  expect_at_rest 3
}

@test "jobserver: a build that fails gives all permits back" {
  copy_programs 3
  touch open
  printf 'all: a1 a2 bad\nbad:\n\t@exit 1\n' >bad.mk
  attempt tsem run -j 3 --jobserver "$SEM" -- make -j -f bad.mk
  expect_status 2
  expect_at_rest 3
}

@test "jobserver: a permit goes to the first waiter in the queue, also when the build wants it back" {
  copy_programs 2
  tsem create -j 2 "$SEM"
  start_build a 9
  eventually running 2
  eventually is_shown .waiting 1
  enqueue tsem run "$SEM" ./job b
  # The build was in the queue before the waiter, for one more job, not for two.
  local first second
  first=$(running_job a)
  touch "go/$first"
  eventually test -e "ran/$first"
  eventually running 2
  eventually is_shown '.waiters[0].command' "tsem run $SEM ./job b"
  second=$(running_job a)
  touch "go/$second"
  eventually test -e in/b
  touch open
  finish "$PID"
  eventually is_shown .held 0
  expect_ran 10
}

@test "jobserver: a build follows a capacity that is lowered and raised" {
  copy_programs 3
  tsem create -j 3 "$SEM"
  start tsem run --jobserver "$SEM" -- make -j N=9
  eventually running 3
  tsem set -j 1 "$SEM"
  local job jobs=(in/*)
  for job in "${jobs[@]##*/}"; do
    touch "go/$job"
    eventually test -e "ran/$job"
  done
  eventually running 1
  eventually is_shown '[.held, .waiting] | @csv' 1,1
  running 1 || fail "not one runs: $(ls in)"
  tsem set -j 0 "$SEM"
  job=$(running_job a)
  touch "go/$job" # its own permit stays
  eventually test -e "ran/$job"
  eventually running 1
  tsem set -j 3 "$SEM"
  eventually running 3
  touch open
  finish "$PID"
  expect_status 0
  expect_ran 9
}

@test "jobserver: a build that has nothing to do leaves its permits to others" {
  idle_build_leaves_its_permits --jobserver
}

# ---- terminal ----

@test "jobserver: Ctrl-C ends the build and gives all permits back" {
  copy_programs 2
  attempt python3 "$BATS_TEST_DIRNAME/terminal.py" 'see:$ ' 'type:tsem run -j2 --jobserver "$SEM" make -j N=6\n' \
    'until:test $(ls in | wc -l) = 2' 'type:\x03' 'see:$ ' 'type:echo status=$?\n' 'see:status=130'
  expect_status 0
  expect_at_rest 2
}

@test "jobserver: Ctrl-Z gives the place in the queue up, and fg asks for it again" {
  copy_programs 2
  attempt python3 "$BATS_TEST_DIRNAME/terminal.py" 'see:$ ' 'type:tsem run -j2 --jobserver "$SEM" make -j N=6\n' \
    'until:test $(ls in | wc -l) = 2' 'until:test $(tsem show -J "$SEM" | jq .waiting) = 1' 'type:\x1a' 'see:Stopped' \
    'until:test $(tsem show -J "$SEM" | jq .waiting) = 0 -a $(tsem show -J "$SEM" | jq .held) = 2' \
    'type:fg\n' 'see:tsem run' 'until:test $(tsem show -J "$SEM" | jq .waiting) = 1' \
    'until:touch open' 'see:$ ' 'type:echo status=$?\n' 'see:status=0'
  expect_status 0
  expect_ran 6
  expect_at_rest 2
}

@test "jobserver: a signal to tsem is passed on to the command" {
  start tsem run -j 2 --jobserver "$SEM" sleep 1000
  eventually pgrep -P "$PID" -x sleep
  kill -TERM "$PID"
  finish "$PID"
  expect_status 143
  expect_at_rest 2
}

# ---- what the command sees ----

@test "jobserver: MAKEFLAGS keeps its content, except for other jobservers and numbers of jobs" {
  tsem create "$SEM"
  local before after
  while IFS='|' read -r before after; do
    attempt env MAKEFLAGS="$before" tsem run --jobserver "$SEM" sh -c 'echo "$MAKEFLAGS" | sed "s/=[0-9]*,[0-9]*/=R,W/"'
    expect_out "$after"
  done <<'EOF'
| -j --jobserver-auth=R,W
ks|ks -j --jobserver-auth=R,W
-k| -k -j --jobserver-auth=R,W
k -j8 --jobserver-auth=3,4|k -j --jobserver-auth=R,W
 -j --jobserver-fds=3,4 -I  dir| -I dir -j --jobserver-auth=R,W
-j 8 -k --jobs=7 --jobs 6 -l 2| -k -l 2 -j --jobserver-auth=R,W
k -j8 -- X=-j4\ -j5 --jobs=6|k -j --jobserver-auth=R,W -- X=-j4\ -j5 --jobs=6
X=1 -j4| X=1 -j --jobserver-auth=R,W
EOF
}

@test "jobserver: of make's arguments, only -j without a number is removed" {
  copy_programs 0
  mkdir bin
  ln print-arguments bin/make
  ln print-arguments bin/gmake
  ln print-arguments bin/cmake
  export PATH=$PWD/bin:$PATH
  tsem create "$SEM"
  attempt tsem run --jobserver "$SEM" -- make -j -f -j -k -kj all --jobs -C --jobs -Ij -lj -- -j
  expect_out '<-f><-j><-k><-k><all><-C><--jobs><-Ij><-lj><--><-j>'
  attempt tsem run --jobserver "$SEM" -- ./bin/gmake -j all
  expect_out '<all>'
  attempt tsem run --jobserver "$SEM" -- cmake -j -j4
  expect_out '<-j><-j4>'
  local words
  for words in '-j4' '-j 4' '-kj4' '-kj 4' '--jobs=4' '--jobs 4' 'all -j4' '-f x -j4' '-jx'; do
    # shellcheck disable=SC2086
    refuses "^$SEM: make .*-{1,2}k?j.* limit of its own" run --jobserver "$SEM" -- make $words
  done
}

@test "jobserver: the commands of a -c script use it" {
  copy_programs 2
  start tsem run -j 2 --jobserver "$SEM" -c 'make N=4; make N=4 NAME=b'
  eventually running 2
  touch open
  finish "$PID"
  expect_status 0
  expect_ran 8
}

@test "jobserver: the command gets two descriptors more, of two digits" {
  tsem create "$SEM"
  attempt tsem run "$SEM" ls /proc/self/fd
  local without=$OUT
  attempt tsem run --jobserver "$SEM" ls /proc/self/fd
  expect_equal 'descriptors' "$(comm -13 <(sort <<<"$without") <(sort <<<"$OUT") | grep -c '^[1-9][0-9]$')" 2
  expect_equal 'lines' "$(wc -l <<<"$OUT")" $(($(wc -l <<<"$without") + 2))
}

@test "jobserver: a jobserver for another semaphore may be used inside" {
  copy_programs 2
  touch open
  tsem create "$SEM"
  attempt tsem run --jobserver "$SEM" tsem run -j 2 --jobserver "$SEM.inner" -- make -j N=3
  expect_status 0
  expect_ran 3
}

@test "jobserver: a command that does not exist" {
  tsem create -j 2 "$SEM"
  attempt tsem run -j 2 --jobserver "$SEM" no-such-command-anywhere
  expect_status 127
  expect_at_rest 2
}

# ---- other clients ----

@test "jobserver: ninja builds, whether it is a client or not" {
  command -v ninja >/dev/null || skip 'ninja is not installed'
  copy_programs 9
  touch open
  {
    printf 'rule job\n  command = ./job $out && touch $out\n'
    printf 'build %s: job\n' n1 n2 n3 n4 n5
  } >build.ninja
  attempt tsem run -j 2 --jobserver "$SEM" ninja -j 3
  expect_status 0
  expect_ran 5
  expect_at_rest 2
}

@test "jobserver: cargo is a client" {
  cargo_is_a_client --jobserver
}

# ---- bad input ----

@test "jobserver: impossible arguments are refused" {
  tsem create -j 2 "$SEM"
  tsem create "$SEM.other"
  refuses "one semaphore" run --jobserver "$SEM,$SEM.other" true
  refuses "one semaphore" run --any --jobserver "$SEM,$SEM.other" true
  refuses "^$SEM: .*-k" run --jobserver -k 2 "$SEM" true
  attempt tsem run --jobserver "$SEM" tsem run --jobserver "$SEM" touch ran
  expect_failure "^$SEM: already under this jobserver"
  refuses "^$SEM.absent: no such semaphore" run --jobserver "$SEM.absent" touch ran
  refuses "unknown option|superfluous" run --jobserver=3 "$SEM" touch ran
  refuses "'--jobserver'" acquire --jobserver --owner $$ "$SEM"
  [[ ! -e ran ]]
}

@test "jobserver: without permits it waits for the first one, as any command does" {
  tsem create -j 0 "$SEM"
  attempt tsem run -n --jobserver "$SEM" touch ran
  expect_silence 75
  attempt tsem run -w 10ms --jobserver "$SEM" touch ran
  expect_in_vain
  [[ ! -e ran ]]
  enqueue tsem run --jobserver "$SEM" touch ran
  tsem post "$SEM"
  finish "$PID"
  expect_status 0
  [[ -e ran ]]
}

@test "jobserver: the semaphore is removed: the build goes on with the permits that it has" {
  copy_programs 2
  start bash -c 'exec tsem run -j 2 --jobserver "$SEM" -- make -j N=5 2>said'
  eventually running 2
  rm "$FILE"
  touch open
  finish "$PID"
  expect_status 0
  expect_ran 5
}
