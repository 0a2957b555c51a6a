# SPDX-License-Identifier: MIT
# Why a request has to wait: each reason is produced, and all that tell of a wait name it.
load helper

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

# says REGEX COMMAND...: COMMAND waits, and this is what its line says after the place in the queue.
says() {
  rm -f said
  start bash -c 'exec "$@" 2>said' bash "${@:2}"
  eventually grep -q waiting said
  expect_match 'what it waits for' "$(sed -n '1s/^.* in the queue//p' said)" "^, $1\$"
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
  says "held by $first for [0-9]+ s \(sleep 1000\) and 1 more" tsem take -v "$SEM"
  names held
}

@test "reason: drained, with and without holders" {
  tsem create -j 2 "$SEM"
  tsem set -j 0 "$SEM"
  names drained "drained \(raise the capacity with 'tsem set'\)\$"
  tsem set -j 2 "$SEM"
  hold
  tsem set -j 0 "$SEM"
  names drained "drained \(raise the capacity with 'tsem set'\)\$"
  says "drained \(raise the capacity with 'tsem set'\), held by $COMMAND_PID for [0-9]+ s \(sleep 1000\)" \
    tsem acquire --owner $$ -v "$SEM"
}

@test "reason: the first in line wants more than the capacity since it was lowered" {
  tsem create -j 3 "$SEM"
  tsem set -j 1 "$SEM"
  local text="the first in line wants 3 permits of 1 \(raise the capacity with 'tsem set'\)"
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
  names capacity "the first in line wants 5 permits of 2 \(raise the capacity with 'tsem set'\)\$"
}

@test "reason: permits have to be posted first" {
  tsem create -j 0 "$SEM"
  local text="no permit has been posted \(add some with 'tsem post'\)"
  names posts "$text\$"
  says "$text" tsem take -v "$SEM"
  names posts "$text\$"
  tsem remove -f "$SEM"
  finish "$PID"
  tsem create --max 3 "$SEM"
  hold
  text="too few permits have been posted \(add some with 'tsem post'\)"
  says "$text, held by $COMMAND_PID for [0-9]+ s \(sleep 1000\)" tsem take -v -k 3 "$SEM"
  names posts "$text\$"
}

@test "reason: posted permits that are too few for the first in line" {
  tsem create -j 0 --max 5 "$SEM"
  tsem post -k 2 "$SEM"
  says "too few permits have been posted \(add some with 'tsem post'\), the first in line wants 3 permits, 2 are free" \
    tsem take -v -k 3 "$SEM"
}

@test "reason: taken anonymously and not posted back" {
  tsem create -j 3 "$SEM"
  tsem take -k 3 "$SEM"
  names taken "3 permits were taken and not posted back \(give them back with 'tsem post'\)\$"
  tsem post -k 2 "$SEM"
  hold
  says "1 permit was taken and not posted back \(give it back with 'tsem post'\), the first in line wants 3 permits, $(
    )1 is free, held by $COMMAND_PID for [0-9]+ s \(sleep 1000\)" tsem take -v -k 3 "$SEM"
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
  owner
  tsem acquire --owner "$OWNER" "$SEM"
  kill -KILL "$OWNER"
  finish "$OWNER"
  names dead "held by $OWNER, dead, and 1 more\$"
  attempt tsem show "$SEM"
  expect_match 'summary' "$OUT" "^$SEM: 2 permits, 0 available, 1 held, 1 of dead holders, 0 waiting: "
  expect_shown '[.held, .dead] | @csv' 2,1
  attempt tsem take -n "$SEM"
  expect_silence
  expect_shown '[.reason, .held, .dead] | @csv' '"held",2,0'
}

@test "reason: a dead holder is counted apart also while permits are available" {
  tsem create -j 2 "$SEM"
  owner
  tsem acquire --owner "$OWNER" "$SEM"
  kill -KILL "$OWNER"
  finish "$OWNER"
  attempt tsem show "$SEM"
  expect_match 'summary' "$(head -n 1 attempt.out)" "^$SEM: 2 permits, 1 available, 0 held, 1 of dead holders, 0 waiting\$"
  expect_shown '[.held, .dead] | @csv' 1,1
}

@test "reason: a holder is stopped" {
  tsem create -j 2 "$SEM"
  hold
  hold
  kill -STOP "$COMMAND_PID"
  eventually is_shown .reason stopped
  names stopped "held by $COMMAND_PID, stopped, and 1 more\$"
  says "held by $COMMAND_PID, stopped, for [0-9]+ s \(sleep 1000\) and 1 more" tsem take -v "$SEM"
  kill -CONT "$COMMAND_PID"
  eventually is_shown .reason held
}

@test "reason: the first in line wants more than are free" {
  tsem create -j 3 "$SEM"
  hold -k 2
  says "the first in line wants 2 permits, 1 is free, held by $COMMAND_PID for [0-9]+ s \(sleep 1000\)" \
    tsem run -v -k 2 "$SEM" true
  names first "the first in line wants 2 permits, 1 is free\$"
  says "the first in line wants 2 permits, 1 is free, held by $COMMAND_PID for [0-9]+ s \(sleep 1000\)" \
    tsem run -v "$SEM" true
}

@test "reason: when -w expires, it is that of the request" {
  tsem create -j 3 "$SEM"
  hold -k 2
  attempt tsem run -v -w 1ms -k 2 "$SEM" true
  expect_status 75
  expect_match 'held' "$ERR" "not enough permits came free in time, the request was for 2 permits, 1 is free, held by $(
    )$COMMAND_PID for [0-9]+ s \(sleep 1000\)\$"
  kill "$COMMAND_PID"
  finish "$PID"
  tsem set -j 1 "$SEM"
  attempt tsem take -v -w 1ms -k 3 "$SEM"
  expect_status 75
  expect_match 'lowered' "$ERR" "in time, the request was for 3 permits of 1 \(raise the capacity with 'tsem set'\)\$"
}

@test "reason: an abandoned place in front does not count" {
  tsem create -j 3 "$SEM"
  hold -k 2
  enqueue tsem take -k 3 "$SEM"
  local first=$PID
  enqueue tsem take -k 2 "$SEM"
  kill -TERM "$first"
  finish "$first"
  names first "the first in line wants 2 permits, 1 is free\$"
}

@test "reason: a holder is in another container" {
  local container=(unshare --pid --fork --kill-child --mount-proc --)
  "${container[@]}" true 2>/dev/null || skip 'needs a PID namespace'
  tsem create "$SEM"
  # shellcheck disable=SC2016
  start "${container[@]}" sh -c 'tsem acquire --owner $$ "$SEM" && exec sleep 1000'
  eventually is_shown .held 1
  local pid
  pid=$(field '.holders[0].pid') # as it is known here
  names container "held by $pid, in another container\$"
  says "held by $pid, in another container, for [0-9]+ s.*" tsem take -v "$SEM"
  skip_under any 'a sanitizer needs /proc'
  # Without a /proc that tells its namespace, a process cannot say that.
  unshare --mount sh -c 'mount -t tmpfs none /proc && ! test -e /proc/self' || skip 'needs a mount namespace'
  kill "$PID"
  finish "$PID"
  attempt unshare --mount sh -c 'mount -t tmpfs none /proc && exec tsem take -v -w 400ms "$SEM"'
  expect_match 'without /proc' "$(head -n 1 attempt.err)" "place 1 in the queue, held by [0-9]+ for [0-9]+ s\$"
}

@test "reason: times and commands fit into 80 columns" {
  python3 -c 'import pyte' 2>/dev/null || skip 'needs python3-pyte, to emulate a terminal'
  SEM=r$RANDOM # a name as people use them
  hold -j 1 --
  attempt python3 "$BATS_TEST_DIRNAME/screen.py" 80x10 'see:^\$' "key:tsem run $SEM echo my turn\\n" \
    "see:^tsem: $SEM: waiting for [0-9]+ s, place 1, held by $COMMAND_PID for [0-9]+ s \\(sleep 1000\\) *\$" \
    "until:kill $COMMAND_PID" 'see:^my turn' 'key:exit 3\n' restored:3 -- env 'PS1=$ ' HISTFILE= bash --norc --noprofile -i
  expect_status 0
  tsem remove "$SEM"
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
