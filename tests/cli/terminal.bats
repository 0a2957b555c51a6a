# SPDX-License-Identifier: MIT
# In an interactive shell: the keys do to `tsem run` what they do to its command without it.
load helper

# The steps are those of terminal.py.
on_terminal() {
  attempt python3 "$BATS_TEST_DIRNAME/terminal.py" "see:$ " "$@"
  expect_status 0
}

# A command that notes each SIGINT, SIGQUIT and SIGUSR1 in the file `signals`.
note_signals() {
  cat >note.py <<'EOF'
import os, signal
log = os.open("signals", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
for number in signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1:
    signal.signal(number, lambda number, frame: os.write(log, b"%d\n" % number))
open("pid.new", "w").write(str(os.getppid()))
os.rename("pid.new", "pid")
while True:
    signal.pause()
EOF
}

@test "terminal: Ctrl-C and Ctrl-\\ reach the command once, not a second time through tsem" {
  note_signals
  local i steps=('type:tsem run -j1 "$SEM" python3 note.py\n' 'until:test -e pid')
  # The signal that follows each key is sent to tsem, which forwards signals in order: the key's own is not among them.
  for i in {1..10}; do
    steps+=("type:\\x03" "until:test \$(grep -c ^2 signals) = $i"
      "until:kill -USR1 \$(<pid)" "until:test \$(wc -l <signals) -ge $((3 * i - 1))"
      "type:\\x1c" "until:test \$(grep -c ^3 signals) = $i")
  done
  on_terminal "${steps[@]}" 'until:pkill -KILL -P $(<pid)'
  expect_equal 'signals' "$(grep -v 10 signals | sort | uniq -c | tr -s ' \n' ' ')" ' 10 2 10 3 '
  expect_at_rest 1
}

@test "terminal: after Ctrl-C tsem has died of it, too, so a loop of the shell stops" {
  on_terminal 'type:for i in 1 2 3; do tsem run -j1 "$SEM" sh -c "echo x >>runs; exec sleep 1000"; done\n' \
    'until:test -e runs' 'type:\x03' 'see:$ ' 'type:echo status=$?\n' 'see:status=130'
  expect_equal 'runs' "$(<runs)" x
  expect_at_rest 1
}

@test "terminal: Ctrl-C while it waits gives the place up and stops the loop" {
  tsem create "$SEM"
  tsem take "$SEM"
  on_terminal 'type:for i in 1 2 3; do tsem run "$SEM" touch ran; done\n' \
    'until:test $(tsem show -J "$SEM" | jq .waiting) = 1' 'type:\x03' 'see:$ ' 'type:echo status=$?\n' 'see:status=130'
  expect_shown '[.waiting, .held] | @csv' 0,1
  [[ ! -e ran ]]
}

# A command that ends with status 5 when there is `stop`. It is one process alone: a shell that is just starting another one
# (with vfork) cannot be stopped at that moment.
write_stopping() {
  cat >stopping.py <<'EOF'
import os, time
open("pid.new", "w").write(str(os.getpid()))
os.rename("pid.new", "pid")
while not os.path.exists("stop"):
    time.sleep(0.01)
os._exit(5)
EOF
}

@test "terminal: Ctrl-Z stops command and tsem, the permit stays; fg goes on" {
  local stopped='until:ps -o state= -p $(<pid) | grep -q T && test $(tsem show -J "$SEM" | jq .held) = 1'
  local running='until:ps -o state= -p $(<pid) | grep -q "[SR]"'
  write_stopping
  on_terminal 'type:tsem run -j1 "$SEM" python3 -IS stopping.py\n' 'until:test -e pid' \
    'type:\x1a' 'see:Stopped' 'see:$ ' "$stopped" \
    'type:fg\n' 'see:tsem run' "$running" \
    'type:\x1a' 'see:Stopped' 'see:$ ' "$stopped" \
    'type:bg\n' 'see:$ ' "$running" \
    'type:touch stop; wait\n' 'see:Exit 5' 'see:$ '
  expect_at_rest 1
}

@test "terminal: Ctrl-Z of a program that stops itself in its own time, by SIGSTOP or by SIGTSTP" {
  # As editors do, which tidy the screen first; those that read the key themselves send SIGTSTP to themselves or to the group.
  cat >editor.py <<'EOF'
import os, signal, sys, termios, time
def stop(*_):
    if how == "self":
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTSTP])
    os.kill(0 if how == "group" else os.getpid(), signal.SIGSTOP if how == "stop" else signal.SIGTSTP)
how, mode = sys.argv[1:]
while mode == "raw":
    terminal = termios.tcgetattr(0)
    terminal[3] &= ~termios.ISIG & ~termios.ICANON
    termios.tcsetattr(0, termios.TCSANOW, terminal)
    os.write(1, b"ready\n")
    if os.read(0, 1) != b"\x1a":
        os._exit(5)
    stop()
signal.signal(signal.SIGTSTP, stop)
os.write(1, b"ready\n")
while not os.path.exists("stop"):
    time.sleep(0.01)
os._exit(5)
EOF
  local how
  for how in stop self; do
    rm -f stop
    on_terminal "type:tsem run -j1 \"\$SEM\" python3 -IS editor.py $how cooked\\n" 'see:ready' \
      'type:\x1a' 'see:Stopped' 'see:$ ' 'type:fg\n' 'see:tsem run' 'until:touch stop' 'see:$ ' \
      'type:echo status=$?\n' 'see:status=5'
  done
  for how in self group; do
    on_terminal "type:tsem run -j1 \"\$SEM\" python3 -IS editor.py $how raw\\n" 'see:ready' \
      'type:\x1a' 'see:Stopped' 'see:$ ' 'type:fg\n' 'see:tsem run' 'see:ready' \
      'type:\x1a' 'see:Stopped' 'see:$ ' 'type:fg\n' 'see:tsem run' 'see:ready' 'type:q' 'see:$ ' \
      'type:echo status=$?\n' 'see:status=5'
  done
  expect_at_rest 1
}

@test "terminal: SIGSTOP and SIGCONT to the command alone leave the shell waiting for its end" {
  local stopped='until:ps -o state= -p $(<pid) | grep -q T' running='until:ps -o state= -p $(<pid) | grep -q "[SR]"'
  local again=('until:kill -STOP $(<pid)' "$stopped" 'until:kill -CONT $(<pid)' "$running")
  write_stopping
  on_terminal 'type:tsem run -j1 "$SEM" python3 -IS stopping.py; echo status=$?\n' 'until:test -e pid' \
    "${again[@]}" "${again[@]}" 'until:touch stop' 'see:status=5' 'see:$ '
  expect_at_rest 1
}

@test "terminal: Ctrl-Z gives the shell its prompt also when the command has been stopped before" {
  write_stopping
  on_terminal 'type:tsem run -j1 "$SEM" python3 -IS stopping.py\n' 'until:test -e pid' \
    'until:kill -STOP $(<pid)' 'until:ps -o state= -p $(<pid) | grep -q T' 'type:\x1a' 'see:Stopped' 'see:$ ' \
    'type:fg\n' 'see:tsem run' 'until:ps -o state= -p $(<pid) | grep -q "[SR]"' 'until:touch stop' 'see:$ ' \
    'type:echo status=$?\n' 'see:status=5'
  expect_at_rest 1
}

@test "terminal: a job in the background that is told to stop is stopped as usual" {
  write_stopping
  on_terminal 'type:tsem run -j1 "$SEM" python3 -IS stopping.py &\n' 'until:test -e pid' 'type:kill -TSTP %1\n' 'see:$ ' \
    'until:ps -o state= -p $(<pid) | grep -q T' 'until:ps -o state= -p $(ps -o ppid= -p $(<pid)) | grep -q T' \
    'type:\n' 'see:Stopped' 'type:bg\n' 'see:$ ' 'type:touch stop; wait\n' 'see:Exit 5'
  expect_at_rest 1
}

@test "terminal: Ctrl-Z and fg while it waits keep the place in line" {
  tsem create "$SEM"
  tsem take "$SEM"
  on_terminal 'type:tsem run "$SEM" touch ran\n' 'until:test $(tsem show -J "$SEM" | jq .waiting) = 1' \
    'type:\x1a' 'see:Stopped' 'see:$ ' 'until:test $(tsem show -J "$SEM" | jq .waiting) = 1' \
    'type:fg\n' 'see:tsem run' 'until:tsem post "$SEM"' 'see:$ ' 'type:echo status=$?\n' 'see:status=0'
  [[ -e ran ]]
  expect_at_rest 1
}

@test "terminal: the command may read from it" {
  on_terminal 'type:tsem run -j1 "$SEM" bash -c '"'"'read -p "name? " x; echo "got=$x"'"'"'\n' \
    'see:name? ' 'type:somebody\n' 'see:got=somebody' 'see:$ '
  expect_at_rest 1
}

@test "terminal: a job in the background that reads from it is stopped as usual" {
  on_terminal 'type:tsem run -j1 "$SEM" bash -c "read x; echo got=\\$x" &\n' \
    'until:tsem show -J "$SEM" | jq -r ".holders[].pid" | xargs ps -o state= -p | grep -q T' \
    'type:\n' 'type:fg\n' 'see:tsem run' 'type:somebody\n' 'see:got=somebody' 'see:$ '
  expect_at_rest 1
}

@test "terminal: script(1) sees the same terminal through tsem" {
  attempt script -qec 'tsem run -j1 "$SEM" sh -c "test -t 0 && test -t 1 && test -t 2 && exit 7"' /dev/null
  expect_status 7
}
