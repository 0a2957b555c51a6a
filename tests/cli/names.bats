# SPDX-License-Identifier: MIT
# Several names in one command: show, wait, cancel, recover, remove.
load helper

create_three() {
  local name
  for name in a b c; do tsem create -j 2 "$SEM-$name"; done
}

@test "names: one that does not exist does not keep the others from their turn, and the status tells" {
  local verb
  for verb in show wait cancel recover remove; do
    create_three
    attempt tsem "$verb" "$SEM-a" "$SEM-none" "$SEM-b" --
    expect_status 125
    expect_equal 'lines on standard error' "$(wc -l <attempt.err)" 1
    expect_match 'standard error' "$ERR" "^tsem: $SEM-none: no such semaphore"
    attempt tsem "$verb" "$SEM-a" "$SEM-b" "$SEM-c"
    if [[ $verb != remove ]]; then
      expect_status 0
      expect_err ''
      tsem remove "$SEM-a" "$SEM-b"
    fi
    tsem remove --idle "$SEM-c" || true
    expect_equal "files left by $verb" "$(echo "$FILE"*)" "$FILE*"
  done
}

@test "names: the status is that of the first name that failed" {
  create_three
  tsem take "$SEM-b"
  attempt tsem wait -n "$SEM-a" "$SEM-b" "$SEM-none"
  expect_status 75
  attempt tsem wait -n "$SEM-a" "$SEM-none" "$SEM-b"
  expect_status 125
  attempt tsem wait -n -E 3 "$SEM-a" "$SEM-c" "$SEM-b"
  expect_status 3
}

@test "names: options may stand before, between and after them" {
  create_three
  attempt tsem show -o STATE "$SEM-a" --raw "$SEM-b" --noheadings -- "$SEM-c"
  expect_silence
}

@test "names: show prints a table for each, with an empty line between, and one JSON document for each" {
  create_three
  attempt tsem show "$SEM-b" "$SEM-a"
  expect_status 0
  expect_out "$SEM-b: 2 permits, 2 available, 0 held, 0 waiting

$SEM-a: 2 permits, 2 available, 0 held, 0 waiting"
  attempt tsem show -J "$SEM-b" "$SEM-none" "$SEM-a"
  expect_status 125
  expect_equal 'names in JSON' "$(jq -r .name attempt.out | paste -sd' ')" "$SEM-b $SEM-a"
}

@test "names: recover prints a line for each" {
  create_three
  SEM=$SEM-b leave_dead_owner
  attempt tsem recover "$SEM-a" "$SEM-b" "$SEM-c"
  expect_status 0
  expect_out $'0\n1\n0'
}

@test "names: cancel of one process in each" {
  create_three
  local name waiters=()
  for name in a b; do
    tsem take -k 2 "$SEM-$name"
    start tsem take "$SEM-$name"
    eventually waits_at "$SEM-$name"
    waiters+=("$PID")
  done
  attempt tsem cancel --owner "${waiters[1]}" "$SEM-a" "$SEM-b"
  expect_status 125
  expect_match 'standard error' "$ERR" "^tsem: $SEM-a: process ${waiters[1]} does not wait"
  finish "${waiters[1]}"
  expect_status 75
  attempt tsem cancel "$SEM-b" "$SEM-a"
  expect_silence
  finish "${waiters[0]}"
  expect_status 75
}

waits_at() {
  [[ $(tsem show -J "$1" | jq -r '.waiters | length') -eq 1 ]]
}

@test "names: the time of wait -w is for all together: the second does not sleep when the first has used it up" {
  skip_under any 'strace would count the calls of the sanitizer'
  create_three
  tsem take "$SEM-a"
  tsem take "$SEM-b"
  attempt strace -o calls -e trace=openat,/futex tsem wait -w 0s100ms "$SEM-a" "$SEM-b"
  expect_status 75
  sed "/$SEM-b/q" calls | grep -q FUTEX_WAIT
  expect_equal 'sleeps for the second' "$(sed "1,/$SEM-b/d" calls | grep -c FUTEX_WAIT)" 0
}

@test "names: a signal ends a wait for several at once" {
  create_three
  tsem take "$SEM-a"
  start tsem wait "$SEM-a" "$SEM-b"
  eventually sleeps "$PID"
  kill -TERM "$PID"
  finish "$PID"
  expect_status 143
}

sleeps() {
  [[ $(cut -d' ' -f3 "/proc/$1/stat") == S ]]
}

@test "names: wait --status is for a single name, so that no status is lost" {
  create_three
  refuses "^$SEM-a: --status is for a single name" wait --status "$SEM-a" "$SEM-b"
}

@test "names: one on etcd and one of this machine are refused, and nothing is done" {
  create_three
  refuses "^etcd:x: a name on etcd and one of this machine" remove "$SEM-a" etcd:x
  refuses "^$SEM-a: a name on etcd and one of this machine" remove etcd:x "$SEM-a"
  expect_equal 'files' "$(echo "$FILE"*)" "$FILE-a $FILE-b $FILE-c"
}

@test "names: 1,000 in one command" {
  local names
  mapfile -t names < <(seq -f "$SEM.%g" 1000)
  printf '%s\n' "${names[@]}" | xargs -n 1 tsem create
  attempt tsem remove "${names[@]}"
  expect_silence
  expect_equal 'files left' "$(echo "$FILE"*)" "$FILE*"
}
