# SPDX-License-Identifier: MIT
load helper

@test "run: the command holds while it runs, and no longer" {
  tsem create -j 3 "$SEM"
  attempt tsem run -k 2 "$SEM" bash -c 'echo $$; tsem show -J "$SEM"'
  expect_status 0
  local pid=${OUT%%$'\n'*}
  expect_equal 'while it ran' "$(jq -r '[.available, .held, (.holders[] | .pid, .count, .owned, .alive)] | @csv' \
    <<<"${OUT#*$'\n'}")" "1,2,$pid,2,true,\"yes\""
  expect_at_rest 3
}

@test "run: the permit is free as soon as the command has ended" {
  local i
  for i in {1..50}; do
    tsem run -n -j 1 "$SEM" true || fail "in round $i: status $?"
  done
}

@test "run: processes that the command leaves in the background hold nothing" {
  attempt tsem run -j 1 "$SEM" bash -c 'sleep 1000 >/dev/null 2>&1 3>&- 4>&- & echo $!'
  expect_status 0
  kill -0 "$OUT"
  kill -KILL "$OUT"
  expect_at_rest 1
}

@test "run: -j creates a missing semaphore, and accepts one with that number" {
  attempt tsem run -j 2 "$SEM" true
  expect_silence
  expect_at_rest 2
  local uuid
  uuid=$(field .uuid)
  attempt tsem run --permits=2 "$SEM" true
  expect_silence
  expect_shown .uuid "$uuid"
}

@test "run: -j with another number is refused; the message has both numbers" {
  tsem create -j 2 "$SEM"
  refuses "^$SEM: .*2.*3" run -j 3 "$SEM" touch ran
  [[ ! -e ran ]]
}

@test "run: without -j the semaphore must exist" {
  refuses "^$SEM: no such semaphore" run "$SEM" touch ran
  [[ ! -e ran ]]
}

@test "run: the exit status is the command's own" {
  local status
  for status in 0 1 2 75 124 125 126 127 128 137 255; do
    attempt tsem run -j 1 "$SEM" bash -c "exit $status"
    expect_silence "$status"
  done
  expect_at_rest 1
}

@test "run: 127 for a command that is not found" {
  skip_under thread 'ThreadSanitizer turns vfork() into fork(), and what the child says is lost'
  tsem create "$SEM"
  attempt tsem run -j 1 "$SEM" no-such-command-anywhere
  expect_status 127
  expect_out ''
  expect_message "^$SEM: .*'no-such-command-anywhere'"
  attempt tsem run -j 1 "$SEM" ./absent
  expect_status 127
  expect_message "^$SEM: .*'\./absent'"
  attempt tsem run -j 1 "$SEM" ''
  expect_status 127
  expect_message "^$SEM: "
  expect_at_rest 1
}

@test "run: a forgotten name is named, and leaves no semaphore" {
  skip_under thread 'ThreadSanitizer turns vfork() into fork(), and what the child says is lost'
  local taken="'$SEM' was taken as the name: tsem run -j N NAME -- COMMAND"
  refuses_to_run 127 "cannot run 'no-such': No such file or directory \\(check its name and PATH; if .*; $taken\\)" -j 2 "$SEM" no-such
  refuses_to_run 126 "cannot run '/tmp': Permission denied \\(check that it is executable; $taken\\)" -j 2 "$SEM" /tmp
  refuses_to_run 127 "cannot run 'no-such': No such file" -j 2 "$SEM,$SEM-2" no-such
  refuses_to_run 125 "5 permits are more than there are" -j 2 -k 5 "$SEM" true
  tsem create -j 2 "$SEM"
  attempt tsem run -j 2 "$SEM" no-such
  expect_message "cannot run 'no-such': No such file or directory \\(check its name and PATH; if it is a function of bash: export -f no-such; tsem run NAME bash -c no-such\\)"
  expect_at_rest 2
}

# STATUS MESSAGE WORD...: and no semaphore stays.
refuses_to_run() {
  attempt tsem run "${@:3}" &&
    expect_status "$1" &&
    expect_message "$2" &&
    expect_equal 'files left' "$(echo "$FILE"*)" "$FILE*"
}

@test "run: a function of bash as the command, as the message advises" {
  skip_under thread 'ThreadSanitizer turns vfork() into fork(), and what the child says is lost'
  # shellcheck disable=SC2016 # expanded in there
  local script='greet() { echo hello; }
    tsem run -j 1 "$SEM" greet 2>said
    advice=$(sed "s/.*of bash: \\(.*\\); tsem run NAME \\([^;]*\\);.*/\\1; tsem run -j 1 $SEM \\2/" said)
    eval "$advice"'
  attempt bash -c "$script"
  expect_status 0
  expect_out hello
}

@test "run: what others made or use by now stays when the command is not found" {
  skip_under thread 'ThreadSanitizer turns vfork() into fork(), and what the child says is lost'
  tsem create -j 2 "$SEM-b"
  tsem take -k 2 "$SEM-b"
  start tsem run -j 2 "$SEM-a,$SEM-b" no-such
  local waiter=$PID
  eventually test -e "$FILE-a"
  start tsem run -j 2 "$SEM-a" sh -c 'touch runs; sleep 1000'
  eventually test -e runs
  tsem post -k 2 "$SEM-b"
  finish "$waiter"
  expect_status 127
  expect_equal 'semaphores left' "$(tsem list --raw --noheadings -o NAME,HELD 2>/dev/null | grep "^$SEM-")" "$SEM-a 1"$'\n'"$SEM-b 0"
}

@test "run: a shell command without -c is told of it" {
  skip_under thread 'ThreadSanitizer turns vfork() into fork(), and what the child says is lost'
  refuses_to_run 127 "cannot run 'echo a; echo b': No such file or directory $(
    )\\(-c runs a shell command: tsem run NAME -c COMMAND\\)" -j 1 "$SEM" 'echo a; echo b'
}

@test "run: 126 for a command that cannot be executed" {
  skip_under thread 'ThreadSanitizer turns vfork() into fork(), and what the child says is lost'
  tsem create "$SEM"
  touch file
  mkdir directory
  local command
  for command in ./file ./directory ./file/below; do
    attempt tsem run -j 1 "$SEM" "$command"
    expect_status 126
    expect_out ''
    expect_message "^$SEM: .*'$command'"
  done
  expect_at_rest 1
}

@test "run: 126 for a command with too many arguments, and no other advice" {
  skip_under thread 'ThreadSanitizer turns vfork() into fork(), and what the child says is lost'
  tsem create "$SEM"
  # MAKEFLAGS, with the jobserver, becomes longer than the kernel allows.
  attempt env MAKEFLAGS="$(printf '%*s' 131050 '' | tr ' ' k)" tsem run -j 1 --jobserver "$SEM" true
  expect_status 126
  expect_message "^$SEM: cannot run 'true': Argument list too long \(use fewer arguments"
  expect_at_rest 1
}

@test "run: 128 + N for a command that died of signal N" {
  local signal
  for signal in HUP ABRT KILL SEGV PIPE TERM USR1; do
    attempt bash -c 'ulimit -c 0; exec tsem run -j 1 "$SEM" bash -c "kill -$0 \$\$"' "$signal"
    expect_silence $((128 + $(kill -l "$signal")))
  done
  expect_at_rest 1
}

@test "run: tsem dies of an interactive signal as well, and of no other" {
  # A shell shows 130 for an exit status and for a death; python3 tells them apart.
  local how='import os, sys
print(os.spawnvp(os.P_WAIT, "tsem", ["tsem", "run", "-j", "1"] + sys.argv[1:]))'
  attempt python3 -c "$how" "$SEM" bash -c 'kill -INT $$'
  expect_out -2
  attempt python3 -c "$how" "$SEM" sh -c 'ulimit -c 0; kill -QUIT $$'
  expect_out -3
  attempt python3 -c "$how" "$SEM" bash -c 'kill -TERM $$'
  expect_out 143
  attempt python3 -c "$how" "$SEM" bash -c 'exit 130'
  expect_out 130
  expect_at_rest 1
}

@test "run: -c passes a script to the shell" {
  attempt env SHELL=/bin/sh tsem run -j 1 "$SEM" -c 'echo "a  b" | tr a-z A-Z; exit 4'
  expect_status 4
  expect_out 'A  B'
  attempt env -u SHELL tsem run -j 1 -c 'echo $0' "$SEM"
  expect_status 0
  attempt env SHELL=/bin/sh tsem run -j 1 "$SEM" --command 'kill -TERM $$'
  expect_status 143
}

@test "run: -c with further words is refused" {
  refuses "'surplus'" run -j 1 "$SEM" -c true surplus
  refuses "'surplus'" run -j 1 -c true "$SEM" surplus
  refuses "'surplus'" run -j 1 "$SEM" -c true -- surplus
}

@test "run: is refused without a command, and creates nothing" {
  refuses "^$SEM: run needs a command" run -j 1 "$SEM"
  refuses "^$SEM: run needs a command" run -j 1 "$SEM" --
  refuses 'NAME' run -j 1
}

@test "run: -n, -w and -E; the command does not run" {
  tsem create "$SEM"
  hold
  attempt tsem run -n "$SEM" touch ran
  expect_silence 75
  attempt tsem run "$SEM" -w 0.05 touch ran
  expect_in_vain
  attempt tsem run -w 0 "$SEM" touch ran
  expect_in_vain
  attempt tsem run -E 9 -n -j 1 "$SEM" touch ran
  expect_silence 9
  [[ ! -e ran ]]
  expect_shown '[.held, .waiting, (.holders | length)] | @csv' 1,0,1
}

@test "run: -k holds several permits, and more than the capacity is refused" {
  tsem create -j 3 "$SEM"
  hold -k 2
  attempt tsem run -n -k 2 "$SEM" true
  expect_silence 75
  attempt tsem run -n -k 1 "$SEM" true
  expect_silence
  refuses "^$SEM: 4 permits.*1 to 3" run -k 4 "$SEM" true
  refuses "^$SEM: 4 permits" run -n -k 4 "$SEM" true
}

@test "run: nested runs on several semaphores" {
  attempt tsem run -j 1 "$SEM" tsem run -j 2 "$SEM.inner" tsem show -J "$SEM"
  expect_status 0
  expect_equal 'held meanwhile' "$(jq .held <<<"$OUT")" 1
  attempt tsem remove "$SEM.inner"
  expect_silence
}

@test "run: nested in itself with one permit it would wait for ever; a try fails" {
  attempt tsem run -j 1 "$SEM" tsem run -n "$SEM" true
  expect_silence 75
}

@test "run: the end of the holder admits the next waiter" {
  tsem create "$SEM"
  hold
  local holder=$COMMAND_PID
  enqueue tsem run "$SEM" touch ran
  kill -TERM "$holder"
  finish "$PID"
  expect_status 0
  [[ -e ran ]]
  expect_at_rest 1
}

@test "run: a signal during the wait kills it, and gives the place up" {
  tsem create "$SEM"
  hold
  local signal
  for signal in TERM INT HUP QUIT; do
    enqueue tsem run "$SEM" touch ran
    kill -"$signal" "$PID"
    finish "$PID"
    expect_status $((128 + $(kill -l "$signal")))
    expect_shown .waiting 0
  done
  [[ ! -e ran ]]
}

@test "run: ignored signals stay ignored: nohup works during the wait and after it" {
  tsem create "$SEM"
  hold
  local holder=$COMMAND_PID
  enqueue bash -c 'trap "" HUP; exec tsem run "$SEM" bash -c "touch ran; exec sleep 1000"'
  local waiter=$PID
  kill -HUP "$waiter"
  expect_shown .waiting 1
  kill -TERM "$holder"
  eventually test -e ran
  kill -HUP "$waiter"
  kill -TERM "$waiter"
  finish "$waiter"
  expect_status 143
}

@test "run: -v prints the place in the queue, the holder, and the admission" {
  tsem create "$SEM"
  hold
  enqueue tsem run "$SEM" true
  start bash -c 'exec tsem run -v "$SEM" true 2>said'
  eventually grep -q . said
  expect_match 'what it says' "$(head -n 1 said)" "^tsem: $SEM: held by $COMMAND_PID .*, place 2, waiting"
  kill -TERM "$COMMAND_PID"
  finish "$PID"
  expect_status 0
}

@test "run: -v prints how many more processes hold, and which permits have no holder" {
  tsem create -j 2 "$SEM"
  tsem take -k 2 "$SEM"
  start bash -c 'exec tsem run -v "$SEM" true 2>said'
  eventually grep -q . said
  expect_match 'what it says' "$(head -n 1 said)" '2 permits were taken and not posted back .*, place 1'
  tsem post -k 2 "$SEM"
  finish "$PID"
  expect_status 0

  hold
  local first=$COMMAND_PID
  hold
  start bash -c 'exec tsem run -v "$SEM" true 2>said2'
  eventually grep -q . said2
  expect_match 'what it says' "$(head -n 1 said2)" "held by $first .* and 1 more"
  kill -TERM "$first"
  finish "$PID"
  expect_status 0
}

@test "run: without -v and without a terminal it prints nothing" {
  tsem create "$SEM"
  hold
  start bash -c 'exec tsem run "$SEM" true 2>said'
  eventually is_shown .waiting 1
  kill -TERM "$COMMAND_PID"
  finish "$PID"
  expect_equal 'what it says' "$(<said)" ''
}

@test "run: a removed semaphore is created again if -j gives its number" {
  tsem create "$SEM"
  hold
  enqueue tsem run -j 1 "$SEM" bash -c 'tsem show -J "$SEM" >shown'
  local waiter=$PID
  tsem remove -f "$SEM"
  finish "$waiter"
  expect_status 0
  expect_equal 'the holders of the new one' "$(jq '.holders | length' shown)" 1
  expect_at_rest 1
}

@test "run: a hold ends also if its semaphore was removed meanwhile" {
  tsem create "$SEM"
  mkfifo fifo
  start tsem run "$SEM" bash -c 'read -r line <fifo; exit 6'
  eventually is_shown .held 1
  tsem remove -f "$SEM"
  echo go >fifo
  finish "$PID"
  expect_status 6
}
