# SPDX-License-Identifier: MIT
# An interactive shell: keys have the same effect on `tsem run` as on its command without it.
load helper

# terminal.py explains the steps.
on_terminal() {
  attempt python3 "$BATS_TEST_DIRNAME/terminal.py" "see:$ " "$@"
  expect_status 0
}

@test "terminal: Ctrl-C and Ctrl-\\ reach the command once, not a second time through tsem" {
  local i steps=('type:tsem run -j1 "$SEM" note-signals.py\n' 'until:test -e parent')
  # The signal after each key is sent to tsem, which forwards signals in order: so a second signal of the key would come
  # before it.
  for i in {1..10}; do
    steps+=("type:\\x03" "until:test \$(grep -c INT signals) = $i"
      "until:kill -USR1 \$(<parent)" "until:test \$(wc -l <signals) -ge $((3 * i - 1))"
      "type:\\x1c" "until:test \$(grep -c QUIT signals) = $i")
  done
  on_terminal "${steps[@]}" 'until:pkill -KILL -P $(<parent)'
  expect_equal 'signals' "$(grep -v USR1 signals | sort | uniq -c | tr -s ' \n' ' ')" ' 10 SIGINT 10 SIGQUIT '
  expect_at_rest 1
}

@test "terminal: after Ctrl-C tsem dies of SIGINT, too, so that a loop of the shell stops" {
  on_terminal 'type:for i in 1 2 3; do tsem run -j1 "$SEM" sh -c "echo x >>runs; exec sleep 1000"; done\n' \
    'until:test -s runs' 'type:\x03' 'see:$ ' 'type:echo status=$?\n' 'see:status=130'
  expect_equal 'runs' "$(<runs)" x
  expect_at_rest 1
}

@test "terminal: Ctrl-C during the wait gives the place up and stops the loop" {
  tsem create "$SEM"
  tsem take "$SEM"
  on_terminal 'type:for i in 1 2 3; do tsem run "$SEM" touch ran; done\n' \
    'until:test $(tsem show -J "$SEM" | jq .waiting) = 1' 'type:\x03' 'see:$ ' 'type:echo status=$?\n' 'see:status=130'
  expect_shown '[.waiting, .held] | @csv' 0,1
  [[ ! -e ran ]]
}

@test "terminal: Ctrl-Z stops command and tsem, the permit stays held; fg continues" {
  local stopped='until:ps -o state= -p $(<pid) | grep -q T && test $(tsem show -J "$SEM" | jq .held) = 1'
  local running='until:ps -o state= -p $(<pid) | grep -q "[SR]"'
  on_terminal 'type:tsem run -j1 "$SEM" stoppable.py\n' 'until:test -e pid' \
    'type:\x1a' 'see:Stopped' 'see:$ ' "$stopped" \
    'type:fg\n' 'see:tsem run' "$running" \
    'type:\x1a' 'see:Stopped' 'see:$ ' "$stopped" \
    'type:bg\n' 'see:$ ' "$running" \
    'type:touch stop; wait\n' 'see:Exit 5' 'see:$ '
  expect_at_rest 1
}

@test "terminal: Ctrl-Z of a program that stops itself, by SIGSTOP or by SIGTSTP" {
  local how
  for how in stop self; do
    rm -f stop
    on_terminal "type:tsem run -j1 \"\$SEM\" editor.py $how cooked\\n" 'see:ready' \
      'type:\x1a' 'see:Stopped' 'see:$ ' 'type:fg\n' 'see:tsem run' 'until:touch stop' 'see:$ ' \
      'type:echo status=$?\n' 'see:status=5'
  done
  for how in self group; do
    on_terminal "type:tsem run -j1 \"\$SEM\" editor.py $how raw\\n" 'see:ready' \
      'type:\x1a' 'see:Stopped' 'see:$ ' 'type:fg\n' 'see:tsem run' 'see:ready' \
      'type:\x1a' 'see:Stopped' 'see:$ ' 'type:fg\n' 'see:tsem run' 'see:ready' 'type:q' 'see:$ ' \
      'type:echo status=$?\n' 'see:status=5'
  done
  expect_at_rest 1
}

@test "terminal: SIGSTOP and SIGCONT to the command only: the shell waits for its end" {
  local stopped='until:ps -o state= -p $(<pid) | grep -q T' running='until:ps -o state= -p $(<pid) | grep -q "[SR]"'
  local again=('until:kill -STOP $(<pid)' "$stopped" 'until:kill -CONT $(<pid)' "$running")
  on_terminal 'type:tsem run -j1 "$SEM" stoppable.py; echo status=$?\n' 'until:test -e pid' \
    "${again[@]}" "${again[@]}" 'until:touch stop' 'see:status=5' 'see:$ '
  expect_at_rest 1
}

@test "terminal: Ctrl-Z returns to the shell also if the command was stopped before" {
  on_terminal 'type:tsem run -j1 "$SEM" stoppable.py\n' 'until:test -e pid' \
    'until:kill -STOP $(<pid)' 'until:ps -o state= -p $(<pid) | grep -q T' 'type:\x1a' 'see:Stopped' 'see:$ ' \
    'type:fg\n' 'see:tsem run' 'until:ps -o state= -p $(<pid) | grep -q "[SR]"' 'until:touch stop' 'see:$ ' \
    'type:echo status=$?\n' 'see:status=5'
  expect_at_rest 1
}

@test "terminal: a background job that is told to stop is stopped as usual" {
  on_terminal 'type:tsem run -j1 "$SEM" stoppable.py &\n' 'until:test -e pid' 'type:kill -TSTP %1\n' 'see:$ ' \
    'until:ps -o state= -p $(<pid) | grep -q T' 'until:ps -o state= -p $(ps -o ppid= -p $(<pid)) | grep -q T' \
    'type:\n' 'see:Stopped' 'type:bg\n' 'see:$ ' 'type:touch stop; wait\n' 'see:Exit 5'
  expect_at_rest 1
}

@test "terminal: Ctrl-Z and fg during the wait keep the place in the queue" {
  tsem create "$SEM"
  tsem take "$SEM"
  on_terminal 'type:tsem run "$SEM" touch ran\n' 'until:test $(tsem show -J "$SEM" | jq .waiting) = 1' \
    'type:\x1a' 'see:Stopped' 'see:$ ' 'until:test $(tsem show -J "$SEM" | jq .waiting) = 1' \
    'type:fg\n' 'see:tsem run' 'until:tsem post "$SEM"' 'see:$ ' 'type:echo status=$?\n' 'see:status=0'
  [[ -e ran ]]
  expect_at_rest 1
}

@test "terminal: the command may read from the terminal" {
  on_terminal 'type:tsem run -j1 "$SEM" bash -c '"'"'read -p "name? " x; echo "got=$x"'"'"'\n' \
    'see:name? ' 'type:name\n' 'see:got=name' 'see:$ '
  expect_at_rest 1
}

@test "terminal: a background job that reads from the terminal is stopped as usual" {
  on_terminal 'type:tsem run -j1 "$SEM" bash -c "read x; echo got=\\$x" &\n' \
    'until:tsem show -J "$SEM" | jq -r ".holders[].pid" | xargs ps -o state= -p | grep -q T' \
    'type:\n' 'type:fg\n' 'see:tsem run' 'type:name\n' 'see:got=name' 'see:$ '
  expect_at_rest 1
}

@test "terminal: script(1) has the same output with and without tsem" {
  attempt script -qec 'tsem run -j1 "$SEM" sh -c "test -t 0 && test -t 1 && test -t 2 && exit 7"' /dev/null
  expect_status 7
}
