# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What the tests of the jobserver share, in either style. The witness is independent of tsem: each job counts how many are
# in `in`.

# Copies the programs of ./jobserver into the test's directory, for jobs of which at most $1 may run at once.
copy_programs() {
  cp "$BATS_TEST_DIRNAME"/jobserver/* .
  mkdir in ran go
  export PERMITS=$1
}

running() {
  [[ $(find in -type f | wc -l) -eq $1 ]]
}

expect_ran() {
  expect_equal 'jobs that ran' "$(find ran -type f | wc -l)" "$1"
  [[ ! -e fault ]] || fail 'more jobs ran at once than there are permits'
}

# A running job whose name begins with $1.
running_job() {
  find in -type f -name "$1*" -printf '%f\n' | head -n 1
}

# Waits until the jobserver PID has slept again: then it has handled all that happened before the call.
handles_everything() {
  local before
  before=$(sleeps "$1")
  eventually has_slept "$1" "$before"
}

sleeps() {
  awk '/^voluntary_ctxt_switches/ { print $2 }' "/proc/$1/status"
}

has_slept() {
  (($(sleeps "$1") > $2))
}

# ---- tests for either style; start_build NAME N starts one of N jobs, and the options of the style are arguments ----

builds_share_one_limit() {
  copy_programs 3
  tsem create -j 3 "$SEM"
  start_build a 8
  local a=$PID
  eventually running 3
  start_build b 8
  local b=$PID
  # Both builds want more permits, and all jobs that may run have started.
  eventually is_shown '[.held, .waiting] | @csv' 3,2
  running 3 || fail "not three run: $(ls in)"
  enqueue tsem run "$SEM" ./job single
  touch open
  finish "$PID"
  finish "$a"
  expect_status 0
  finish "$b"
  expect_status 0
  expect_ran 17
  expect_at_rest 3
}

idle_build_leaves_its_permits() {
  tsem create -j 2 "$SEM"
  mkfifo fifo
  start tsem run "$@" "$SEM" sh -c 'read -r _ <fifo'
  eventually is_shown .held 2
  attempt tsem run "$SEM" true
  expect_silence
  echo >fifo
  finish "$PID"
  expect_status 0
  expect_at_rest 2
}

# build_survives_tsem JOBS ARGUMENT...: kills tsem run with these arguments. No permit in use is released, and all jobs
# run.
build_survives_tsem() {
  copy_programs 3
  tsem create -j 3 "$SEM"
  start tsem run "${@:2}"
  eventually running 3
  kill -KILL "$PID"
  finish "$PID"
  tsem recover "$SEM"
  attempt tsem run -n "$SEM" true
  expect_silence 75
  touch open
  eventually tsem run -n -k 3 "$SEM" true # at the end of the build
  expect_ran "$1"
}

# A cargo workspace of N independent crates, to be built with RUSTC_WRAPPER=$PWD/rustc-wrapper.
crates() {
  local i
  printf '[workspace]\nmembers = ["c*"]\nresolver = "2"\n' >Cargo.toml
  for ((i = 1; i <= $1; i++)); do
    mkdir -p "c$i/src"
    printf '[package]\nname = "c%s"\nversion = "0.1.0"\nedition = "2021"\n' "$i" >"c$i/Cargo.toml"
    echo >"c$i/src/lib.rs"
  done
}

cargo_is_a_client() {
  cargo --version >/dev/null 2>&1 || skip 'cargo is not installed'
  copy_programs 2
  crates 4
  start env RUSTC_WRAPPER="$PWD/rustc-wrapper" tsem run -j 2 "$@" "$SEM" cargo build --quiet --offline -j 4
  eventually running 2
  eventually is_shown '[.held, .waiting] | @csv' 2,1
  running 2 || fail "not two run: $(ls in)"
  touch open
  finish "$PID"
  expect_status 0
  expect_ran 4
  expect_at_rest 2
}

# A client that returns more tokens than it claimed adds no permit.
return_more_than_claimed() {
  tsem create -j 3 "$SEM"
  mkfifo gate
  copy_programs 0
  start tsem run "$@" "$SEM" ./liar.py
  eventually is_shown .held 2
  : >gate
  eventually test -e returned
  handles_everything "$PID"
  : >gate
  # The command has one permit, the client has claimed one, and one is offered. If the returned bytes counted, one would
  # be missing.
  eventually is_shown .held 3
  : >gate
  finish "$PID"
  expect_status 0
  expect_at_rest 3
}
