#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Limits of shared memory, file size, descriptors and address space. A process that meets a limit reports an error; others
# are not affected, and nothing is taken, lost or left.
# shellcheck disable=SC2016 # the scripts in quotes are for inner shells
load environments

@test "limits: shared memory that is too small for a semaphore: ENOSPC, and no file is left" {
  need_private_shm
  local size verb
  for size in 4k 20k; do
    for verb in create run; do
      attempt private-shm "$size" too-small "$verb"
      expect_failure "^$SEM: shared memory is full"
    done
  done
  [[ ! -e ran ]]
}

@test "limits: shared memory with space for one semaphore only" {
  need_private_shm
  attempt private-shm 32k sh -c 'tsem create "$SEM" && tsem run "$SEM" echo ran && tsem create other; echo $?
    tsem take -n "$SEM"; tsem take -n "$SEM"; echo $?'
  expect_out $'ran\n125\n75'
  expect_message 'other: shared memory is full'
}

@test "limits: the table of records cannot grow: an error for processes that need a record only" {
  need_private_shm
  # A segment begins with 64 records, and 32 KiB have space for no more. Verbs that need no record must succeed.
  attempt private-shm 32k full-table
  expect_out 'acquire: 125
acquire -n: 125
run: 125
take: 0
wait: 125
post: 0
[36,64,0,64]
release: 0
run: 0
acquire: 0
[35,65,0,65]'
  expect_equal 'standard error' "$(sort <<<"$ERR" | uniq -c | sed 's/^ *//')" \
    "4 tsem: $SEM: shared memory is full (free some space in /dev/shm)"
  [[ ! -e ran ]]
}

@test "limits: RLIMIT_FSIZE: no SIGXFSZ, and an existing semaphore can be used" {
  skip_under_coverage
  attempt limited -f 16 tsem create "$SEM"
  expect_failure "^$SEM: .*file size limit.*ulimit -f"
  attempt limited -f 1 tsem run -j 1 "$SEM" touch ran
  expect_failure "^$SEM: .*file size limit.*ulimit -f"
  [[ ! -e ran && ! -e $FILE ]]
  tsem create "$SEM"
  attempt limited -f 1 tsem take -n "$SEM"
  expect_silence
  attempt limited -f 1 tsem post "$SEM"
  expect_silence
  attempt limited -f 1 tsem run "$SEM" echo ran
  expect_out ran
  expect_at_rest 1
  skip_under thread 'ThreadSanitizer makes a file of its own'
  attempt limited -f 0 tsem take -n "$SEM"
  expect_silence
  attempt limited -f 0 tsem post "$SEM"
  expect_silence
  expect_at_rest 1
}

@test "limits: RLIMIT_FSIZE: the table of records cannot grow" {
  skip_under_coverage
  tsem create -j 100 "$SEM"
  for _ in {1..64}; do
    tsem acquire --owner "$BASHPID" "$SEM"
  done
  local before
  before=$(semaphore_state)
  attempt limited -f 24 tsem acquire --owner "$BASHPID" "$SEM"
  expect_failure "^$SEM: .*file size limit.*ulimit -f"
  attempt limited -f 24 tsem run "$SEM" touch ran
  expect_failure "^$SEM: .*file size limit.*ulimit -f"
  expect_equal 'the semaphore afterwards' "$(semaphore_state)" "$before"
  expect_shown '[.available, .held] | @csv' 36,64
  attempt tsem run "$SEM" true
  expect_silence
  attempt tsem acquire --owner "$BASHPID" "$SEM"
  expect_silence
  [[ ! -e ran ]]
}

@test "limits: RLIMIT_NOFILE: too few descriptors to open a semaphore, and to check an owner" {
  skip_under_coverage
  skip_under any 'a sanitizer needs descriptors of its own'
  tsem create "$SEM"
  attempt limited -n 3 tsem take -n "$SEM"
  expect_failure 'too many open files'
  # The segment takes the only descriptor. kill() then finds processes that are gone; about all others nothing is known.
  hold
  kill -STOP "$PID"
  attempt limited -n 4 tsem take -n "$SEM"
  expect_silence 75
  kill -KILL "$COMMAND_PID"
  eventually is_zombie "$COMMAND_PID"
  attempt limited -n 4 tsem take -n "$SEM"
  expect_silence 75
  kill -KILL "$PID"
  finish "$PID"
  eventually has_no_entry "$COMMAND_PID"
  attempt limited -n 4 tsem take -n "$SEM"
  expect_silence
  tsem post "$SEM"
  expect_at_rest 1
}

# run_limited COUNT COMMAND...: with COUNT descriptors at most, COMMAND succeeds or says in one line which limit it has met.
run_limited() {
  attempt limited -n "$@"
  # shellcheck disable=SC2153 # attempt sets it
  case $STATUS in
  0) ;;
  125) expect_message "^[^ ]*: (too|.*: Too) many open files .*'ulimit -n'" ;;
  *) fail "status $STATUS with $1 descriptors" ;;
  esac
}

@test "limits: RLIMIT_NOFILE: each verb reports it, and every permit comes back" {
  skip_under_coverage
  skip_under any 'a sanitizer needs descriptors of its own'
  tsem create -j 2 "$SEM"
  tsem create -j 2 "$SEM.b"
  local descriptors
  for descriptors in {3..7} {10..13}; do
    run_limited "$descriptors" tsem run "$SEM" true
    ((descriptors > 4)) || expect_failure "^$SEM: too many open files"
    run_limited "$descriptors" tsem run -j 2 "$SEM" true
    run_limited "$descriptors" tsem run "$SEM,$SEM.b" true
    run_limited "$descriptors" tsem run --any "$SEM,$SEM.b" true
    run_limited "$descriptors" tsem run --jobserver "$SEM" true
    run_limited "$descriptors" tsem run --jobserver --jobserver-style fifo "$SEM" true
    run_limited "$descriptors" tsem acquire --owner $$ "$SEM"
    ((STATUS != 0)) || tsem release --owner $$ "$SEM"
    tsem acquire --owner $$ "$SEM"
    run_limited "$descriptors" tsem release --owner $$ "$SEM"
    ((STATUS == 0)) || tsem release --owner $$ "$SEM"
    run_limited "$descriptors" tsem take "$SEM"
    ((STATUS != 0)) || tsem post "$SEM"
    tsem take "$SEM"
    run_limited "$descriptors" tsem post "$SEM"
    ((STATUS == 0)) || tsem post "$SEM"
    run_limited "$descriptors" tsem set -j 2 "$SEM"
    run_limited "$descriptors" tsem cancel "$SEM"
    run_limited "$descriptors" tsem recover "$SEM"
    run_limited "$descriptors" tsem wait "$SEM"
    run_limited "$descriptors" tsem show "$SEM"
    run_limited "$descriptors" tsem list
    run_limited "$descriptors" tsem create "$SEM.c"
    ((STATUS == 0)) || tsem create "$SEM.c"
    run_limited "$descriptors" tsem remove "$SEM.c"
    ((STATUS == 0)) || tsem remove "$SEM.c"
    expect_at_rest 2
  done
}

has_no_entry() {
  ! kill -0 "$1"
}

# The command has met no limit, or has reported one in one line; in the second case, CLEAN grows by one.
expect_clean_end() {
  # shellcheck disable=SC2153 # attempt sets it
  case $STATUS in
  0) ;;
  126 | 127 | 139) ;; # the kernel or the loader could not start one of the two programs
  125)
    expect_message 'not enough memory|cannot start another process'
    CLEAN=$((CLEAN + 1))
    ;;
  *) fail "status $STATUS" ;;
  esac
}

@test "limits: RLIMIT_AS: success or a clean error" {
  skip_under any 'a sanitizer needs more address space than any limit'
  local kilobytes CLEAN=0
  tsem create -j 3 "$SEM"
  for ((kilobytes = 1024; kilobytes < 16384; kilobytes += 256)); do
    attempt limited -v "$kilobytes" tsem create "$SEM.other"
    expect_clean_end
    [[ $STATUS == 0 || ! -e $FILE.other ]] || fail 'a file is left'
    rm -f "$FILE.other"
    attempt limited -v "$kilobytes" tsem run -n "$SEM" true
    expect_clean_end
    tsem recover "$SEM" >/dev/null
    expect_at_rest 3
  done
  [[ $STATUS == 0 ]] || fail "status $STATUS with the most"
  ((CLEAN > 0)) || fail 'no limit was met by tsem itself'
}
