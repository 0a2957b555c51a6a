# SPDX-License-Identifier: MIT
load helper

@test "remove: a semaphore that no process uses" {
  tsem create -j 3 "$SEM"
  attempt tsem remove "$SEM"
  expect_silence
  [[ ! -e $FILE ]]
}

@test "remove: is refused while the semaphore is in use" {
  tsem create -j 2 "$SEM"
  hold
  refuses "^$SEM: .*in use.*-f" remove "$SEM"
  tsem take "$SEM"
  refuses "^$SEM: .*in use" remove "$SEM"
  enqueue tsem take "$SEM"
  refuses "^$SEM: .*in use" remove "$SEM"
  tsem post "$SEM"
  finish "$PID"
  expect_status 0
}

@test "remove: --idle leaves what is in use, and names what it removes" {
  tsem create "$SEM"
  tsem create "$SEM-taken"
  tsem take "$SEM-taken"
  attempt tsem remove --idle "$SEM" "$SEM-taken"
  expect_status 0
  expect_err ''
  expect_out "$SEM"
  expect_equal 'files left' "$(echo "$FILE"*)" "$FILE-taken"
  refuses "^$SEM: no such semaphore" remove --idle "$SEM" "$SEM-taken"
  refuses '^-f and --idle exclude each other' remove -f --idle
}

@test "remove: --idle without a name removes all that are not in use, and reports what is damaged" {
  need_private_shm
  # shellcheck disable=SC2016 # expanded in there
  attempt private-shm 1m bash -c 'for name in a b c d; do tsem create "$name"; done
    tsem take b
    echo damaged >/dev/shm/tsem.c
    tsem remove --idle
    echo "status $?"
    ls /dev/shm
    rm /dev/shm/tsem.c
    tsem post b
    tsem remove --idle && tsem remove --idle && ls /dev/shm'
  expect_status 0
  expect_out $'a\nd\nstatus 125\ntsem.b\ntsem.c\nb'
  expect_match 'standard error' "$ERR" '^tsem: c: not a semaphore, or damaged'
}

@test "remove: --idle passes over the semaphores of other users" {
  need_private_shm
  need_another_user
  # shellcheck disable=SC2016 # expanded in there
  attempt unshare --mount fresh-shm 1m bash -c 'tsem create theirs
    as-nobody sh -c "tsem create mine; tsem remove --idle"
    ls /dev/shm
    as-nobody tsem create mine
    tsem remove --idle
    ls /dev/shm
    tsem remove --idle --foreign
    as-nobody mkdir /dev/shm/tsem.directory; as-nobody mkfifo /dev/shm/tsem.fifo; ln -s /dev/shm/x /dev/shm/tsem.link
    tsem create theirs; tsem remove --idle
    tsem create theirs; tsem set -m 0666 theirs; as-nobody tsem remove --idle --foreign; tsem remove theirs'
  expect_status 0
  expect_out $'mine\ntsem.theirs\ntheirs\ntsem.mine\nmine\ntheirs'
  expect_err ''
}

@test "remove: holds of dead processes do not count as use" {
  tsem create "$SEM"
  leave_dead_owner
  attempt tsem remove "$SEM"
  expect_silence
  [[ ! -e $FILE ]]
}

@test "remove: with more permits than were created" {
  tsem create -j 2 "$SEM"
  tsem post -k 3 "$SEM"
  attempt tsem remove "$SEM"
  expect_silence
}

@test "remove: -f also while the semaphore is in use; every kind of waiter fails at once" {
  tsem create "$SEM"
  hold
  local i waiters=()
  enqueue bash -c 'exec tsem take "$SEM" 2>said.0'
  waiters+=("$PID")
  enqueue bash -c 'exec tsem run "$SEM" touch ran 2>said.1'
  waiters+=("$PID")
  enqueue bash -c 'exec tsem acquire --owner $PPID "$SEM" 2>said.2'
  waiters+=("$PID")
  attempt tsem remove -f "$SEM"
  expect_silence
  [[ ! -e $FILE ]]
  for i in 0 1 2; do
    finish "${waiters[i]}"
    expect_status 125
    expect_match "what waiter $i says" "$(<said."$i")" "^tsem: $SEM: .*removed.* \(.*\)$"
  done
  [[ ! -e ran ]]
}

@test "remove: a new semaphore of the same name is independent of the old one" {
  tsem create "$SEM"
  hold
  local old=$PID
  tsem remove --force "$SEM"
  tsem create "$SEM"
  expect_at_rest 1
  kill -TERM "$COMMAND_PID"
  finish "$old"
  expect_at_rest 1
}

@test "remove: a semaphore that does not exist is refused" {
  refuses "^$SEM: no such semaphore" remove "$SEM"
  refuses "^$SEM: no such semaphore" remove -f "$SEM"
}

@test "remove: a file that is damaged or of another version needs -f" {
  local what
  for what in garbage empty version; do
    rm -f "$FILE"
    case $what in
    garbage) head -c 40000 /dev/urandom >"$FILE" ;;
    empty) : >"$FILE" ;;
    version)
      tsem create "$SEM"
      printf '\x63' | dd of="$FILE" bs=1 seek=8 conv=notrunc status=none
      ;;
    esac
    cp "$FILE" before
    attempt tsem remove "$SEM"
    expect_failure "^$SEM: .*remove -f"
    cmp "$FILE" before
    attempt tsem remove -f "$SEM"
    expect_silence
    [[ ! -e $FILE ]]
  done
}

@test "remove: another user's semaphore is refused" {
  need_another_user
  as-nobody tsem create "$SEM"
  refuses "^$SEM: .*another user.*--foreign" remove "$SEM"
  refuses "^$SEM: .*another user" remove -f "$SEM"
  attempt tsem remove --foreign "$SEM"
  expect_silence
  tsem create -m 0666 "$SEM"
  attempt as-nobody tsem remove "$SEM"
  expect_failure "^$SEM: "
  expect_at_rest 1
}

@test "remove: while others run with -j, no two jobs run at once" {
  # Each job is alone in its semaphore. If a removal let another process in, two jobs would run in two semaphores.
  local i pids=()
  for i in 1 2 3; do
    start bash -c 'for i in {1..40}; do tsem run -j 1 "$SEM" bash -c "mkdir here && rmdir here || echo two >>beside"
      done'
    pids+=("$PID")
  done
  until has_ended "${pids[0]}"; do
    tsem remove "$SEM" 2>/dev/null || true
  done
  all_succeed "${pids[@]}"
  [[ ! -e beside ]]
}

@test "remove: only for its owner and root, whatever its mode and --foreign" {
  need_another_user
  tsem create -m 0666 "$SEM"
  local option
  for option in -f --foreign; do
    attempt as-nobody tsem remove $option "$SEM"
    expect_failure "^$SEM: it belongs to root \\(only that user and root can remove it\\)"
  done
  local mode
  for mode in 0666 0600; do
    tsem set -m $mode "$SEM"
    for option in '' -f; do
      # shellcheck disable=SC2086
      attempt as-nobody tsem remove $option "$SEM"
      expect_failure "^$SEM: it belongs to root \\(only that user and root can remove it\\)"
    done
  done
  expect_at_rest 1
}

@test "remove: a hard link is refused, and -f removes that name only" {
  tsem create "$SEM"
  hold
  ln "$FILE" "$FILE-link"
  local name
  for name in "$SEM-link" "$SEM"; do
    attempt tsem remove "$name"
    expect_failure "^$name: .*hard link .*find /dev/shm -samefile /dev/shm/tsem.$name'"
  done
  attempt tsem run -n "$SEM" true
  expect_failure "^$SEM: .*hard link"
  attempt tsem remove -f "$SEM-link"
  expect_silence
  [[ ! -e $FILE-link ]]
  expect_shown '[.held, .available] | @csv' 1,0
  refuses "^$SEM: .*in use" remove "$SEM"
}

@test "remove: another remover waits for a stopped one, and not for a killed one" {
  command -v strace >/dev/null || fail 'strace was not found'
  strace -o /dev/null true 2>/dev/null || skip 'strace may not trace here'
  skip_under any 'a sanitizer does not like to be traced'
  tsem create "$SEM"
  start strace -o trace -e trace=unlink,unlinkat -e inject=unlink,unlinkat:delay_enter=1000000000 tsem remove "$SEM"
  local strace=$PID remover
  eventually grep unlink trace
  remover=$(pgrep -P "$strace")
  attempt tsem remove -f "$SEM"
  expect_failure "^$SEM: another process is removing it.*continue or end"
  [[ -e $FILE ]]
  kill -KILL "$remover" "$strace"
  eventually has_ended "$remover"
  attempt tsem remove "$SEM"
  expect_silence
  [[ ! -e $FILE ]]
}
