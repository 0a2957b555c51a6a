# SPDX-License-Identifier: MIT
# Why a request has to wait: each reason is produced, and all that tell of a wait name it.
load helper

LONG='( for [0-9]+ s)?' # from the first second on

# names WORD [REGEX]: `show`, `list` and `top` name the reason. REGEX is for people, WORD for scripts. Without REGEX, the
# table of the holders says it all.
names() {
  local end=${2+: $2}
  expect_shown .reason "$1"
  attempt tsem list -J
  expect_equal 'of list' "$(jq -r --arg name "$SEM" '.semaphores[] | select(.name == $name).reason' attempt.out)" "$1"
  attempt tsem list -o REASON,NAME --raw --noheadings
  expect_match 'column of list' "$OUT" "(^|"$'\n'")$1 $SEM("$'\n'"|$)"
  attempt tsem show "$SEM"
  expect_match 'of show' "$(head -n 1 attempt.out)" " waiting( \([^)]*\))?(, at most [0-9]+ by posting)?${end:-\$}"
  attempt tsem top -b -i 1 "$SEM"
  expect_match 'of top' "$(sed -n 2p attempt.out)" " waiting( \([^)]*\))?(, at most [0-9]+ by posting)?${end:-\$}"
}

# says REGEX COMMAND...: COMMAND waits, and this is the reason that its line begins with.
says() {
  rm -f said
  start bash -c 'exec "$@" 2>said' bash "${@:2}"
  eventually grep -q waiting said
  expect_match 'what it waits for' "$(head -n 1 said)" "^tsem: $SEM: $1, place [0-9]+, waiting( for [0-9]+ s)?\$"
}

@test "reason: none" {
  tsem create -j 2 "$SEM"
  hold
  expect_shown .reason none
  attempt tsem show "$SEM"
  expect_match 'summary' "$(head -n 1 attempt.out)" ', 0 waiting$'
  attempt tsem list -o REASON,NAME --raw --noheadings
  expect_match 'column of list' "$OUT" "none $SEM"
}

@test "reason: held, also without a waiter" {
  tsem create -j 2 "$SEM"
  hold
  local first=$COMMAND_PID
  hold
  names held
  says "held by $first$LONG \(sleep 1000\) and 1 more" tsem take -v "$SEM"
  names held
}

@test "reason: drained, with and without holders" {
  tsem create -j 2 "$SEM"
  tsem set -j 0 "$SEM"
  names drained "drained \(raise the capacity with 'tsem set -j 2 $SEM'\)\$"
  tsem set -j 2 "$SEM"
  hold
  tsem set -j 0 "$SEM"
  names drained "drained \(raise the capacity with 'tsem set -j 2 $SEM'\)\$"
  says "drained \(raise the capacity with 'tsem set -j 2 $SEM'\), held by $COMMAND_PID$LONG \(sleep 1000\)" \
    tsem acquire --owner $$ -v "$SEM"
}

@test "reason: the first in line wants more than the capacity since it was lowered" {
  tsem create -j 3 "$SEM"
  tsem set -j 1 "$SEM"
  local text="the first in line wants 3 permits of 1 \(raise the capacity with 'tsem set -j 3 $SEM'\)"
  says "$text" tsem take -v -k 3 "$SEM"
  names capacity "$text\$"
}

@test "reason: no post is advised where it is refused" {
  tsem run -j 2 "$SEM" true
  tsem set -j 5 "$SEM"
  tsem take "$SEM"
  enqueue tsem run -k 5 "$SEM" true
  tsem set -j 2 "$SEM"
  tsem post "$SEM"
  names capacity "the first in line wants 5 permits of 2 \(raise the capacity with 'tsem set -j 5 $SEM'\)\$"
}

@test "reason: permits have to be posted first" {
  tsem create -j 0 "$SEM"
  local text="no permit has been posted \(add some with 'tsem post $SEM'\)"
  names posts "$text\$"
  says "$text" tsem take -v "$SEM"
  names posts "$text\$"
  tsem remove -f "$SEM"
  finish "$PID"
  tsem create --max 3 "$SEM"
  hold
  text="too few permits have been posted \(add some with 'tsem post -k 2 $SEM'\)"
  says "$text, held by $COMMAND_PID$LONG \(sleep 1000\)" tsem take -v -k 3 "$SEM"
  names posts "$text\$"
}

@test "reason: posted permits that are too few for the first in line" {
  tsem create -j 0 --max 5 "$SEM"
  tsem post -k 2 "$SEM"
  says "too few permits have been posted \(add some with 'tsem post $SEM'\), the first in line wants 3 permits, 2 are kept for it" \
    tsem take -v -k 3 "$SEM"
}

@test "reason: taken anonymously and not posted back" {
  tsem create -j 3 "$SEM"
  tsem take -k 3 "$SEM"
  names taken "3 permits were taken and not posted back \(give them back with 'tsem post -k 3 $SEM'\)\$"
  tsem post -k 2 "$SEM"
  hold
  says "1 permit was taken and not posted back \(give it back with 'tsem post $SEM'\), the first in line wants 3 permits, $(
    )1 is kept for it, held by $COMMAND_PID$LONG \(sleep 1000\)" tsem take -v -k 3 "$SEM"
  names taken '1 permit was taken'
}

@test "reason: holders are enough, and a permit is taken beside" {
  tsem create -j 2 "$SEM"
  tsem take "$SEM"
  hold
  names held "1 permit taken and not posted back\$"
}

@test "reason: a holder is dead, and counted apart" {
  tsem create -j 2 "$SEM"
  hold
  leave_dead_owner
  names dead "held by $OWNER, dead, and 1 more\$"
  attempt tsem show "$SEM"
  expect_match 'summary' "$OUT" "^$SEM: 2 permits, 0 available, 2 held \(1 by dead holders\), 0 waiting: "
  expect_shown '[.held, .dead] | @csv' 2,1
  attempt tsem take -n "$SEM"
  expect_silence
  expect_shown '[.reason, .held, .dead] | @csv' '"held",2,0'
}

@test "reason: a dead holder is counted apart also while permits are available" {
  tsem create -j 2 "$SEM"
  leave_dead_owner
  attempt tsem show "$SEM"
  expect_match 'summary' "$(head -n 1 attempt.out)" "^$SEM: 2 permits, 1 available, 1 held \(1 by dead holders\), 0 waiting\$"
  expect_shown '[.held, .dead] | @csv' 1,1
}

@test "reason: a holder is stopped" {
  tsem create -j 2 "$SEM"
  hold
  hold
  kill -STOP "$COMMAND_PID"
  eventually is_shown .reason stopped
  names stopped "held by $COMMAND_PID, stopped, and 1 more \(continue it with 'kill -CONT $COMMAND_PID'\)\$"
  says "held by $COMMAND_PID$LONG \(sleep 1000\), stopped, and 1 more \(continue it with 'kill -CONT $COMMAND_PID'\)" tsem take -v "$SEM"
  kill -CONT "$COMMAND_PID"
  eventually is_shown .reason held
}

@test "reason: the first in line wants more than are free" {
  tsem create -j 3 "$SEM"
  hold -k 2
  says "the first in line wants 2 permits, 1 is kept for it, held by $COMMAND_PID$LONG \(sleep 1000\)" \
    tsem run -v -k 2 "$SEM" true
  names first "the first in line wants 2 permits, 1 is kept for it\$"
  says "the first in line wants 2 permits, 1 is kept for it, held by $COMMAND_PID$LONG \(sleep 1000\)" \
    tsem run -v "$SEM" true
}

@test "reason: when -w expires, it is that of the request" {
  tsem create -j 3 "$SEM"
  hold -k 2
  attempt tsem run -v -w 1ms -k 2 "$SEM" true
  expect_status 75
  expect_match 'held' "$ERR" "not enough permits came free in time, the request was for 2 permits, 1 is available, held by $(
    )$COMMAND_PID$LONG \(sleep 1000\)\$"
  kill "$COMMAND_PID"
  finish "$PID"
  tsem set -j 1 "$SEM"
  attempt tsem take -v -w 1ms -k 3 "$SEM"
  expect_status 75
  expect_match 'lowered' "$ERR" "in time, the request was for 3 permits of 1 \(raise the capacity with 'tsem set -j 3 $SEM'\)\$"
}

@test "reason: an abandoned place in front does not count" {
  tsem create -j 3 "$SEM"
  hold -k 2
  enqueue tsem take -k 3 "$SEM"
  local first=$PID
  enqueue tsem take -k 2 "$SEM"
  kill -TERM "$first"
  finish "$first"
  names first "the first in line wants 2 permits, 1 is kept for it\$"
}

in_container() {
  unshare --pid --fork --kill-child --mount-proc -- "$@"
}

@test "reason: a holder is in another container" {
  in_container true 2>/dev/null || skip 'needs a PID namespace'
  tsem create "$SEM"
  # shellcheck disable=SC2016
  start unshare --pid --fork --kill-child --mount-proc -- sh -c 'tsem acquire --owner $$ "$SEM" && exec sleep 1000'
  eventually is_shown .held 1
  local pid
  pid=$(field '.holders[0].pid') # as it is known here
  names container "held by $pid, in another container\$"
  says "held by $pid$LONG \(sleep 1000\), in another container" tsem take -v "$SEM"
  skip_under any 'a sanitizer needs /proc'
  # Without a /proc that tells its namespace, a process cannot say that.
  unshare --mount sh -c 'mount -t tmpfs none /proc && ! test -e /proc/self' || skip 'needs a mount namespace'
  kill "$PID"
  finish "$PID"
  attempt unshare --mount sh -c 'mount -t tmpfs none /proc && exec tsem take -v -w 400ms "$SEM"'
  expect_match 'without /proc' "$(head -n 1 attempt.err)" \
    "^tsem: $SEM: held by 1$LONG, which cannot be checked from here \(if it is dead: 'tsem recover --owner 1 --pid-ns $(
    )[0-9]+ --force $SEM'\), place 1, waiting\$"
}

@test "reason: a holder in another container is stopped" {
  in_container true 2>/dev/null || skip 'needs a PID namespace'
  tsem create "$SEM"
  # shellcheck disable=SC2016
  start unshare --pid --fork --kill-child --mount-proc -- sh -c 'tsem acquire --owner $$ "$SEM" && exec sleep 1000'
  eventually is_shown '.holders[0].command' 'sleep 1000'
  local pid
  pid=$(field '.holders[0].pid')
  kill -STOP "$pid"
  eventually is_shown .reason stopped
  names stopped "held by $pid, stopped \(continue it with 'kill -CONT $pid'\)\$"
  kill -CONT "$pid"
}

@test "reason: whether a holder in another container is dead cannot be told, and the command to type is" {
  in_container true 2>/dev/null || skip 'needs a PID namespace'
  tsem create -j 2 "$SEM"
  hold
  local inside
  # shellcheck disable=SC2016
  inside=$(in_container sh -c 'tsem acquire --owner $$ "$SEM" && readlink /proc/self/ns/pid')
  inside=${inside//[!0-9]/}
  local hint="tsem recover --owner 1 --pid-ns $inside --force $SEM"
  names unknown "held by 1 in another container, which cannot be checked from here, and 1 more \(if it is dead: '$hint'\)\$"
  says "held by 1 in another container$LONG, which cannot be checked from here, and 1 more \(if it is dead: '$hint'\)" \
    tsem take -v "$SEM"
  kill "$PID"
  finish "$PID"
  attempt tsem recover "$SEM"
  expect_status 0
  expect_out 0
  expect_err "tsem: $SEM: held by 1 in another container, which cannot be checked from here (if it is dead: '$hint')"
  # shellcheck disable=SC2086 # as a user types it
  attempt $hint
  expect_out 1
  attempt tsem recover "$SEM"
  expect_out 0
  expect_err ''
}

@test "reason: times and commands fit into 80 columns" {
  need_emulator
  SEM=r$RANDOM # a name as people use them
  export FILE=/dev/shm/tsem.$SEM # removed by teardown
  hold -j 1 --
  attempt python3 "$BATS_TEST_DIRNAME/screen.py" 80x10 'see:^\$' "key:tsem run $SEM echo my turn\\n" \
    "see:^$SEM: held by $COMMAND_PID for [0-9]+ s \\(sleep 1000\\), place 1, waiting for [0-9]+ s *\$" \
    "until:kill $COMMAND_PID" 'see:^my turn' 'key:exit 3\n' restored:3 -- env 'PS1=$ ' HISTFILE= bash --norc --noprofile -i
  expect_status 0
  tsem remove "$SEM"
}

@test "reason: of a wait for idleness it is what is held, also if permits are available or the semaphore drains" {
  tsem create -j 3 "$SEM"
  tsem take "$SEM"
  attempt tsem wait -n -v "$SEM"
  expect_err "tsem: $SEM: permits are still held or waited for, 1 permit was taken and not posted back (give it back with 'tsem post $SEM')"
  tsem post "$SEM"
  hold
  attempt tsem wait -n -v "$SEM"
  expect_match 'held' "$ERR" "waited for, held by $COMMAND_PID$LONG \(sleep 1000\)\$"
  tsem set -j 0 "$SEM"
  attempt tsem wait -n -v --holders "$SEM"
  expect_match 'draining' "$ERR" "permits are still held, held by $COMMAND_PID$LONG \(sleep 1000\)\$"
}

@test "reason: advice about a semaphore of another user has --foreign" {
  need_another_user
  as-nobody tsem create -j 2 -m 0666 "$SEM"
  as-nobody tsem take -k 2 "$SEM"
  attempt tsem run --foreign -n -v "$SEM" true
  expect_err "tsem: $SEM: not enough permits are free, $(
    )2 permits were taken and not posted back (give them back with 'tsem post -k 2 --foreign $SEM')"
  attempt tsem post -k 2 --foreign "$SEM"
  expect_silence
}

# shows TEXT COMMAND...: TEXT is how the table shows the waiter COMMAND. JSON has all of its words.
shows() {
  enqueue "${@:2}"
  attempt tsem show -o COMMAND --noheadings "$SEM"
  expect_equal "the command of ${*:2}" "$(tail -n 1 attempt.out)" "$1"
  expect_shown '.waiters[0].command' "${*:2}"
  kill "$PID"
  finish "$PID"
}

@test "reason: waiting commands are shown without tsem run and its options" {
  tsem create "$SEM"
  tsem take "$SEM"
  shows 'sleep 7' tsem run "$SEM" sleep 7
  shows 'sleep 7' tsem run -- "$SEM" sleep 7
  shows 'sleep -7 --' tsem run -k 1 "$SEM" -w 100 -- sleep -7 --
  shows 'sleep -j 7' tsem run --timeout=100 --cou 1 -vE3 "$SEM" sleep -j 7
  shows 'sleep 7 | cat' tsem run -w 100 "$SEM" -c 'sleep 7 | cat' -k 1
  shows 'sleep 7' tsem run '-csleep 7' "$SEM"
  shows 'tsem run x sleep 7' "$(command -v tsem)" run -vk1 "$SEM" tsem run x sleep 7
  shows "tsem take -w 100 $SEM" tsem take -w 100 "$SEM"
}
