# SPDX-License-Identifier: MIT
load helper

@test "set: a raise admits waiters at once, in order" {
  tsem create "$SEM"
  hold
  enqueue tsem run "$SEM" sh -c 'echo first >>order; sleep 1000'
  enqueue tsem run "$SEM" sh -c 'echo second >>order; sleep 1000'
  enqueue tsem run "$SEM" sh -c 'echo third >>order; sleep 1000'
  attempt tsem set "$SEM" -j 3
  expect_silence
  eventually is_shown '[.capacity, .held, .waiting, .permits] | @csv' 3,3,1,1
  eventually grep -q second order
  expect_equal 'commands that run' "$(sort order)" $'first\nsecond'
}

@test "set: a lowering takes no permit away, and admits no waiter before there is room" {
  tsem create -j 3 "$SEM"
  hold
  local first=$PID first_command=$COMMAND_PID
  hold
  hold
  attempt tsem set "$SEM" -j 1
  expect_silence
  expect_shown '[.capacity, .available, .held] | @csv' 1,0,3
  kill "$COMMAND_PID"
  finish "$PID"
  attempt tsem run -n "$SEM" true
  expect_silence 75
  kill "$first_command"
  finish "$first"
  attempt tsem run -n "$SEM" true
  expect_silence 75
  expect_shown '[.capacity, .available, .held] | @csv' 1,0,1
}

@test "set: 0 drains, and scripts with the creator's number wait, and go on" {
  tsem create -j 2 "$SEM"
  tsem set "$SEM" -j 0
  attempt tsem run -n -j 2 "$SEM" true
  expect_silence 75
  refuses "^$SEM: it exists with -j 2, not -j 3" run -j 3 "$SEM" true
  refuses "^$SEM: 3 permits are more than there are \(ask for 1 to 2\)" run -k 3 "$SEM" true
  enqueue tsem run -j 2 -k 2 "$SEM" touch ran
  tsem set "$SEM" -j 2
  finish "$PID"
  expect_status 0
  [[ -e ran ]]
  expect_at_rest 2
}

@test "set: a percentage of the processors" {
  tsem create "$SEM"
  attempt tsem set -j 100% "$SEM"
  expect_silence
  expect_shown .capacity "$(nproc)"
}

@test "set: bad arguments are refused, and change nothing" {
  tsem create -j 2 --max 5 "$SEM"
  refuses "^$SEM: -j 6 is more than its maximum" set -j 6 "$SEM"
  refuses "^$SEM: set needs -j N" set "$SEM"
  refuses "^$SEM: -j '-1' is not valid" set "$SEM" -j -1
  refuses "^$SEM: -j '4294967296' is out of range" set "$SEM" -j 4294967296
  refuses "^$SEM-none: no such semaphore" set -j 1 "$SEM-none"
  attempt tsem set -j 5 "$SEM"
  expect_silence
}

@test "set: more permits than the creator's number can be acquired after a raise" {
  tsem create -j 2 "$SEM"
  refuses "^$SEM: 4 permits are more than there are" take -k 4 "$SEM"
  tsem set "$SEM" -j 4
  attempt tsem take -k 4 "$SEM"
  expect_silence
  tsem post -k 4 "$SEM"
  tsem set "$SEM" -j 2
  refuses "^$SEM: 4 permits are more than there are" take -k 4 "$SEM"
}

@test "set: a waiter for more than the lowered capacity keeps its place, until the capacity is raised" {
  tsem create -j 2 "$SEM"
  tsem set "$SEM" -j 4
  tsem take -k 4 "$SEM"
  enqueue tsem take -k 4 "$SEM"
  local four=$PID
  enqueue tsem take "$SEM"
  tsem set "$SEM" -j 2
  tsem post -k 4 "$SEM"
  expect_shown '[.available, .waiting] | @csv' 0,2
  tsem set "$SEM" -j 5
  finish "$four"
  expect_status 0
  finish "$PID"
  expect_status 0
}

@test "set: --exact withdraws what was posted in excess, and gives back what was lost" {
  tsem create -j 2 "$SEM"
  tsem post -k 3 "$SEM"
  expect_shown '[.available, .excess] | @csv' 5,3
  attempt tsem set --exact "$SEM"
  expect_silence
  expect_shown .excess null
  expect_at_rest 2
  tsem take -k 2 "$SEM"
  attempt tsem set --exact "$SEM"
  expect_silence
  expect_at_rest 2
  attempt tsem set --exact -j 4 "$SEM"
  expect_silence
  expect_at_rest 4
}

@test "set: --exact leaves holders alone, and withdraws an excess that they hold when they give it back" {
  tsem create "$SEM"
  tsem post "$SEM"
  hold
  local first=$PID first_command=$COMMAND_PID
  hold
  attempt tsem set --exact "$SEM"
  expect_silence
  expect_shown '[.available, .held, .excess] | @csv' 0,2,
  kill "$first_command"
  finish "$first"
  attempt tsem run -n "$SEM" true
  expect_silence 75
  kill "$COMMAND_PID"
  finish "$PID"
  expect_at_rest 1
}

# VERDICT NUMBER: accepts or refuses it, alone and in a list.
run_and_create() {
  local verdict=$1 number=$2 words
  for words in "run -n -j $number $SEM true" "run -n -j $number --any $SEM-other,$SEM true" "create --exist-ok -j $number $SEM"; do
    # shellcheck disable=SC2086
    if [[ $verdict == accepts ]]; then
      attempt tsem $words && expect_silence || return
      rm -f "$FILE-other"
    else
      refuses "^$SEM: it exists with -j 3, not -j $number $3" $words || return
      [[ ! -e $FILE-other ]] || return
    fi
  done
}

@test "set: after it, run -j and --exist-ok accept the creator's number and the capacity, and no other" {
  tsem run -j 3 "$SEM" true
  tsem set -j 5 "$SEM"
  run_and_create accepts 3
  run_and_create accepts 5
  run_and_create refuses 4 "\\(its capacity is 5 now: use -j 3 or -j 5; 'tsem set -j 4 $SEM' changes the capacity, $(
    )'tsem remove $SEM' lets -j create it anew\\)"
  attempt tsem run -n -j 5 -k 5 "$SEM" true
  expect_silence
  tsem set -j 0 "$SEM"
  attempt tsem run -n -j 3 "$SEM" true
  expect_silence 75
  local drained="\\(it is drained: use -j 3, which waits; 'tsem set -j"
  run_and_create refuses 5 "$drained 5 $SEM' changes the capacity, 'tsem remove $SEM' lets -j create it anew\\)"
  refuses "^$SEM: it exists with -j 3, not -j 0 $drained 0 $SEM' changes" create --exist-ok -j 0 "$SEM"
  tsem set -j 3 "$SEM"
  local remedies="\\(use -j 3, or another name; 'tsem set -j 5 $SEM' .*'tsem remove $SEM' lets -j create it anew\\)"
  refuses "^$SEM: it exists with -j 3, not -j 5 $remedies" run -j 5 "$SEM" true
  refuses "^$SEM: it exists with -j 3, not -j 5 $remedies" create --exist-ok -j 5 "$SEM"
}

@test "set: create --exist-ok without -j asks for one permit" {
  tsem create -j 3 "$SEM"
  refuses "^$SEM: it exists with -j 3, not -j 1 \\(use -j 3," create --exist-ok "$SEM"
}

@test "set: a capacity above the maximum is refused before mode and group are changed" {
  tsem create -j 2 --max 3 -m 0600 "$SEM"
  tsem take "$SEM"
  local before
  before=$(stat -c '%a %g' "$FILE")
  refuses "^$SEM: -j 5 is more than its maximum, 3 \\(nothing was changed\\)" set -j 5 -m 0666 -g "$(id -g)" --exact "$SEM"
  expect_equal 'mode and group' "$(stat -c '%a %g' "$FILE")" "$before"
}

@test "set: a step that fails after others says what these have changed" {
  tsem create "$SEM"
  set-counters.py "$FILE" 0 $(((1 << 46) - 2)) # grants may be 2^46 ahead of tickets at most
  attempt tsem set -j 9 -m 0640 "$SEM"
  expect_failure "^$SEM: its permissions were changed, but the counters cannot go that far \\("
  expect_equal 'mode' "$(stat -c %a "$FILE")" 640
  expect_shown .capacity 1
  attempt tsem set -j 9 "$SEM"
  expect_failure "^$SEM: the counters cannot go that far \\("
}

@test "set: -m and -g change the file's mode and group" {
  tsem create "$SEM"
  attempt tsem set -m 0640 "$SEM"
  expect_silence
  expect_equal 'mode' "$(stat -c %a "$FILE")" 640
  expect_shown .capacity 1
  attempt tsem set -g "$(id -g)" -m 0660 -j 2 "$SEM"
  expect_silence
  expect_equal 'mode and group' "$(stat -c '%a %g' "$FILE")" "660 $(id -g)"
  expect_at_rest 2
  refuses "-g 'no such group' is not valid" set -g 'no such group' "$SEM"
  refuses "-g '4294967295' is out of range" set -g 4294967295 "$SEM"
  refuses "-m '0' is out of range" set -m 0 "$SEM"
}

@test "set: -m and -g, to a group by its name, and only by the owner" {
  need_another_user
  tsem create -m 0666 "$SEM"
  attempt tsem set -g daemon "$SEM"
  expect_silence
  expect_equal 'group' "$(stat -c %G "$FILE")" daemon
  expect_equal 'in the list' "$(tsem list --raw --noheadings -o name,group,gid 2>/dev/null | grep "^$SEM ")" \
    "$SEM daemon $(getent group daemon | cut -d: -f3)"
  local mode
  for mode in 0666 0600; do
    tsem set -m $mode "$SEM"
    attempt as-nobody tsem set -m 0644 "$SEM"
    expect_failure "^$SEM: it belongs to root \\(only that user and root can change its mode and its group\\)"
    attempt as-nobody tsem set -g nogroup "$SEM"
    expect_failure "^$SEM: it belongs to root \\(only that user and root can change its mode and its group\\)"
  done
  attempt as-nobody tsem set -j 3 "$SEM"
  expect_failure "^$SEM: permission denied: it belongs to root, and its mode is 0600 \\(ask root"
  tsem remove "$SEM"
  as-nobody tsem create "$SEM"
  attempt as-nobody tsem set -g root -j 3 "$SEM"
  expect_failure "^$SEM: this user is not in group 0 \\("
  expect_shown .capacity 1
}
