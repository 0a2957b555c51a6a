# SPDX-License-Identifier: MIT
# top on a screen (see screen.py), and without one.
load helper

# on_screen COLUMNSxROWS STEP...: runs top with the options of TOP.
on_screen() {
  need_emulator
  attempt python3 "$BATS_TEST_DIRNAME/screen.py" "$@" -- tsem top -d 50ms "${TOP[@]}"
  expect_status 0
}

# The same without semaphores of other processes, after a script.
alone_on_screen() {
  need_private_shm
  need_emulator
  attempt private-shm 100m bash -ec "$1"'; exec python3 "$@"' bash "$BATS_TEST_DIRNAME/screen.py" "${@:2}" \
    -- tsem top -d 50ms "${TOP[@]}"
  expect_status 0
}

setup_file() {
  export TERM=xterm-256color
}

@test "top: all semaphores, while they are created and removed" {
  TOP=()
  alone_on_screen 'tsem create -j 4 busy; tsem take -k 3 busy; tsem create idle' 100x10 \
    'see:2 semaphores, 3 permits held, 0 waiting' 'see:^busy +75%  █+░+ +3 +4 +0 ' 'see:^idle +0%  ░+ +0 +1 +0 ' \
    'until:tsem create -j 9 new' 'see:^new ' 'until:tsem remove idle' 'gone:^idle ' \
    'until:tsem remove -f busy && tsem create -j 7 busy' 'see:^busy +0%  ░+ +0 +7 ' \
    'until:tsem remove busy; tsem remove new' 'see:0 semaphores' 'key:\n\x1bOBr' 'gone:^[a-z]+ +[0-9]' \
    'key:q' restored:0
}

@test "top: the number of waiters over time" {
  TOP=()
  alone_on_screen 'tsem create it; tsem take it' 100x10 'see:^it ' 'until:tsem take it & disown' \
    'see:^it +100% .* 1 +0\.0 +█+$' 'until:tsem cancel it || tsem post it' 'see:^it +100% .* 0 +0\.0 [^█]*█+ +$|█+$' \
    'key:q' restored:0
}

@test "top: why the selected semaphore makes processes wait" {
  TOP=(-s name)
  alone_on_screen 'tsem create -j 2 a; tsem take -k 2 a; tsem create b; tsem create -j 2 c; tsem set -j 0 c' 100x10 \
    "see:^a: 2 permits were taken and not posted back \(give them back with 'tsem post -k 2 a'\)" 'key:\x1bOB' 'gone:^[abc]: ' \
    'key:\x1bOB' 'see:^c: drained' 'until:tsem set -j 2 c' 'gone:^c: ' key:s 'see:^NAME' key:q restored:0
  attempt private-shm 100m bash -ec 'tsem create a; tsem take a; tsem create b; tsem top -b -i 1 -s REASON; tsem post a
    tsem top -b -i 1'
  expect_status 0
  expect_match 'table' "$OUT" $'TREND +REASON\na +100% .* taken\nb [^\n]*\n.*TREND *\n'
}

@test "top: no name is cut, also on a narrow screen" {
  TOP=()
  local name=nightly-database.backup-of-all-customers
  alone_on_screen "tsem create $name; tsem create b" 80x10 "see:^$name +0% +0 +1 " 'see:^b +0% +0 +1 ' key:q restored:0
}

@test "top: what was posted in excess" {
  TOP=()
  alone_on_screen 'tsem create it; tsem post -k 2 it' 100x10 'see:^it +0%  ░+ +0 +1\+2 +0 ' 'key:\n' \
    'see:it: 1 permit, 3 available, 0 held, 0 waiting, 2 in excess' key:q restored:0
}

@test "top: files that cannot be read are counted" {
  TOP=()
  alone_on_screen 'tsem create one; echo garbage >/dev/shm/tsem.two' 100x10 \
    'see:1 semaphore, 0 permits held, .*, 1 that cannot be read' 'see:^one ' key:q restored:0
}

@test "top: sorting, by keys and by -s" {
  TOP=(-s name)
  local script='tsem create -j 2 a; tsem create -j 9 b; tsem create -j 5 c; tsem take c'
  alone_on_screen "$script" 100x8 'see:^a .*\n^b .*\n^c ' key:i 'see:^c .*\n^b .*\n^a ' key:i key:s 'see:^c .*\n^a .*\n^b ' \
    key:q restored:0
  TOP=(-s CAPACITY)
  alone_on_screen "$script" 100x8 'see:^b .*\n^c .*\n^a ' key:q restored:0
}

@test "top: numbers in names count as numbers" {
  TOP=(-s name)
  local script='for name in sem.10 sem.9 x-100 x-20; do tsem create $name; done; tsem take sem.10; tsem take sem.10 & disown'
  # The trend of a name shows that its history was found again.
  alone_on_screen "$script" 100x10 'see:^sem\.9 .*\n^sem\.10 .* 1 +0\.0 +██+$\n^x-20 .*\n^x-100 ' key:i \
    'see:^x-100 .*\n^x-20 .*\n^sem\.10 .*\n^sem\.9 ' key:q restored:0
  attempt private-shm 100m bash -ec "$script; tsem top -b -i 1 -s NAME; tsem cancel sem.10"
  expect_status 0
  expect_match 'table' "$OUT" $'\nsem.9 .*\nsem.10 .*\nx-20 .*\nx-100 '
}

@test "top: the selection stays with its semaphore" {
  TOP=(-s name)
  alone_on_screen 'for name in b c d; do tsem create $name; done' 80x12 'see:^d ' 'key:\x1bOB' \
    'until:tsem create a' 'see:^a ' 'key:\n' 'see:: c: 1 permit' 'key:\x1b' 'see:semaphores' 'see:^c ' \
    'until:tsem remove c' 'gone:^c ' 'key:\n' 'see:: d: 1 permit' key:q restored:0
}

@test "top: the selection goes up and down, and not beyond the ends" {
  TOP=(-s name)
  local script='for name in a b c; do tsem create $name; done' up='key:\x1bOA' down='key:\x1bOB'
  alone_on_screen "$script" 80x12 'see:^c ' "$down" "$down" "$down" "$down" "$up" 'key:\n' 'see:: b: 1 permit' \
    'key:\x1bOD' 'see:^c ' "$up" "$up" "$up" "$up" 'key:\x1bOC' 'see:: a: 1 permit' \
    'key:\x7f' 'see:^c ' "$down" 'key:\n' 'see:: b: 1 permit' key:q restored:0
}

@test "top: the delay has limits" {
  tsem create "$SEM"
  TOP=("$SEM" -d 200ms)
  local slower=key:------------
  on_screen 100x10 'see:every 0\.2 s' key:+ 'see:every 0\.1 s' key:+++ key:- 'see:every 0\.2 s' "$slower" 'see:every 102\.4 s' \
    key:+ 'see:every 51\.2 s' key:q restored:0
}

@test "top: other keys have no effect" {
  tsem create "$SEM"
  TOP=("$SEM")
  on_screen 100x30 'see:1 permit, 1 available' 'key:xyzXYZ\t\x1bOP' key:h 'see:^r +recover' key:q 'gone:^r +recover' \
    'see:1 permit, 1 available' key:q restored:0
}

@test "top: a filter for names" {
  TOP=(-s name)
  local script='for name in gpu.1 gpu.2 net.1 xGPU; do tsem create -j 2 $name; done; tsem take gpu.1; tsem take -k 2 net.1'
  alone_on_screen "$script" 120x12 'see:4 semaphores, 3 permits held' key:/ 'see:^filter: _ \(Enter' key:gpuq 'see:^filter: gpuq_' \
    "see:0 of 4 semaphores, filter 'gpuq', 0 permits held" 'gone:^gpu' 'key:\x7f' "see:3 of 4 semaphores, filter 'gpu', 1 permit held" \
    'see:^gpu\.1 .*\n^gpu\.2 .*\n^xGPU ' 'gone:^net' 'key:\x1bOB\n' 'see:^q quit' "see:filter 'gpu'" 'until:tsem create gpu.3' \
    'see:^gpu\.2 .*\n^gpu\.3 ' 'see:4 of 5' 'key:\n' 'see:: gpu\.2: 2 permits' 'key:\x1b' "see:4 of 5 semaphores, filter 'gpu'" \
    'key:/\xe9\x7f.3' "see:filter: gpu\\.3_" 'see:1 of 5' 'key:\x1b' 'see:5 semaphores, 3 permits' 'see:^net\.1 ' key:q restored:0
}

@test "top: actions are only for what the filter shows" {
  TOP=()
  alone_on_screen 'tsem create -j 2 it' 100x10 'see:^it ' 'key:/x\n' "see:0 of 1 semaphore, filter 'x'" 'key:\nnh' 'see:^Enter ' key:h \
    'see:^NAME' 'key:/\x1bn' "see:permits of 'it'" 'key:\x1b' key:q restored:0
}

@test "top: idle semaphores are hidden" {
  TOP=(-s name)
  local script='for name in a b c d e; do tsem create $name; done; tsem take b; tsem set -j 0 d; tsem take d & disown
    tsem acquire --owner $$ c'
  alone_on_screen "$script" 100x12 'see:^a .*\n^b .*\n^c .*\n^d .*\n^e ' key:z 'see:3 of 5 semaphores, idle hidden' \
    'see:^b .*\n^c .*\n^d ' 'gone:^[ae] ' 'until:tsem take e' 'see:^e ' 'until:tsem post b' 'gone:^b ' key:z \
    'see:^a .*\n^b ' 'gone:idle hidden' 'until:tsem cancel d' key:q restored:0
}

@test "top: a filter for the processes of one semaphore" {
  tsem create -j 9 "$SEM"
  start bash -c 'exec -a "other thing" sleep 1000'
  eventually has_command_line "$PID" 'other thing 1000'
  local other=$PID
  owner
  tsem acquire --owner "$OWNER" "$SEM"
  tsem acquire --owner "$other" "$SEM"
  TOP=("$SEM")
  on_screen 140x12 'see:^holds .* sleep 1000' 'see:^holds .* other thing' key:/THING 'gone:^holds .* sleep' 'see:^holds .* other thing' \
    "see:: $SEM \\(1 of 2 rows, filter 'THING'\\): 9 permits" 'key:\x1b' 'see:^holds .* sleep' \
    "key:/$OWNER\\n" 'gone:^holds .* other' "see:^holds +$OWNER " 'key:/\x1b' 'see:^holds .* other' "gone:filter '" key:q restored:0
}

@test "top: columns scroll sideways, and not beyond the ends" {
  local name right left
  tsem create "$SEM"
  printf -v right '>%.0s' {1..60}
  left=${right//>/<}
  printf -v name 'begin%0100d日本語end' 0
  start bash -c 'exec -a "$0" sleep 1000' "$name"
  eventually has_command_line "$PID" "$name 1000"
  tsem acquire --owner "$PID" "$SEM"
  TOP=("$SEM")
  on_screen 60x10 "see:^holds +$PID .* yes +begin0+$" key:'<>' 'see:^holds .* begin0+$' 'gone:USER' key:'>>>>>>>>' \
    'see:^holds 0+日本語end 1000$' 'gone:PID' 'see:^STATE' size:61x10 'see:^holds 0+日本語end 1000$' 'size:180x10' \
    "see:^holds +$PID .* yes +begin0+日本語end 1000$" 'key:>' size:40x9 'see:^tsem top' key:'>>>>>>>>' 'see:end 1000$' \
    'size:9x8' 'see:^tsem top' "key:$right" 'see:^ end 1000$' "key:$left" \
    'see:^STATE' 'see:^holds' size:80x10 "see:^holds +$PID " 'key:>\x1b' 'see:^NAME' key:q restored:0
}

@test "top: all columns of all semaphores scroll sideways" {
  local name=nightly-database.backup-of-all-customers
  TOP=()
  alone_on_screen "tsem create $name; tsem create b; tsem take b; tsem take b & disown" 88x10 "see:^$name .* 1 +0 +0\.0$" 'see:^NAME .* WAIT +TR$' \
    'key:>' 'see:^b +1 .* 0\.0 +█{20}$' "see:^$name .* 0\.0$" 'see:^NAME .* TREND$' key:'<' 'see:^NAME +USE' \
    'size:60x9' 'see:^tsem top' 'see:^NAME +USE' 'key:>>' 'see:^ *HELD CAPACITY WAITING .* TREND$' 'see:^ +1 +1 +1 +0\.0 +█+$' 'until:tsem cancel b' key:q restored:0
}

@test "top: one thousand semaphores" {
  local -x DEADLINE=$((DEADLINE * 4)) # a busy machine takes long to make them
  TOP=(-s name)
  alone_on_screen 'for i in {1000..1999}; do tsem create s$i; done' 100x20 'see:1000 semaphores' 'see:^s1000 ' \
    'key:\x1bOF' 'see:^s1999 ' 'gone:^s1000 ' 'key:\x1bOH' 'see:^s1000 ' 'key:\x1b[6~' 'see:^s1016 ' \
    'key:\x1b[5~' 'gone:^s1017 ' key:q restored:0
}

@test "top: one semaphore, with its holders and its queue" {
  tsem create -j 3 "$SEM"
  hold -k 2
  local waiter
  enqueue tsem take -w 1000 -k 2 "$SEM"
  waiter=$PID
  TOP=("$SEM")
  on_screen 120x12 "see:: $SEM: 3 permits, 0 available, 2 held, 1 waiting" 'see:use █+░+ +wait █' \
    "see:^holds +$COMMAND_PID .* 2 +0? .* yes +sleep 1000" "see:^waits +1 +$waiter .* 2 .* (16m|[0-9.]+s).* yes +tsem take" \
    "until:kill -STOP $COMMAND_PID" 'see:^holds .* stopped ' "until:kill -CONT $COMMAND_PID" 'see:^holds .* yes ' \
    "see:^the first in line wants 2 permits, 1 is kept for it, held by $COMMAND_PID for [0-9]+ s \\(sleep 1000\\)" \
    'see:^STATE POSITION +PID' "until:kill $waiter" 'gone:first in line' 'gone:^waits' 'see:^STATE +PID' 'see:^q quit .* Esc all ' \
    'key:\x1b' "see:^$SEM|[0-9]+ semaphores" 'see:^q quit .* Enter show ' key:q restored:0
}

@test "top: more holders than fit on the screen" {
  tsem create -j 210 "$SEM"
  start sleep 1000
  local count
  for count in {1..20}; do
    tsem acquire --owner "$PID" -k "$count" "$SEM"
  done
  TOP=("$SEM")
  on_screen 120x12 'see:^holds +\S+ \S+ +1 ' 'gone:^holds +\S+ \S+ +20 ' 'key:\x1bOF' 'see:^holds +\S+ \S+ +20 ' \
    'gone:^holds +\S+ \S+ +1 ' 'key:\x1bOH' 'see:^holds +\S+ \S+ +1 ' 'key:\x1bOB\x1bOB\x1bOB\x1bOB\x1bOB\x1bOB\x1bOB' 'gone:^holds +\S+ \S+ +1 ' \
    'see:^holds +\S+ \S+ +2 ' 'key:\x1b[6~' 'gone:^holds +\S+ \S+ +2 ' 'key:\x1b[5~\x1b[5~' 'see:^holds +\S+ \S+ +1 ' \
    key:q restored:0
}

has_command_line() {
  [[ $(tr '\0' ' ' <"/proc/$1/cmdline") == "$2 " ]]
}

@test "top: in an ASCII locale" {
  tsem create -j 2 "$SEM"
  start bash -c 'exec -a näme sleep 1000'
  eventually has_command_line "$PID" 'näme 1000'
  tsem acquire --owner "$PID" "$SEM"
  TOP=("$SEM")
  LC_ALL=C on_screen 120x12 'see:use #+\.+ ' 'see:^holds .* yes +n\?\?me 1000' key:q restored:0
}

@test "top: one semaphore that is removed and created again" {
  tsem create "$SEM"
  TOP=("$SEM")
  on_screen 120x10 'see:1 permit, 1 available' "until:tsem remove $SEM" 'see:no such semaphore any more' \
    "until:tsem create -j 5 $SEM" 'see:5 permits, 5 available' key:q restored:0
}

@test "top: recover, after a question" {
  tsem create "$SEM"
  leave_dead_owner
  TOP=("$SEM")
  on_screen 120x10 'see: no +\?' key:r "see:recover .*'$SEM'\? \(y/n\)" key:n 'see:nothing was done' 'see: no +\?' \
    key:r 'see:\(y/n\)' 'key:\n' 'see:nothing was done' \
    key:r 'see:\(y/n\)' key:y 'see:1 permit recovered' 'see:1 available, 0 held' key:q restored:0
  expect_at_rest 1
}

@test "top: cancel all waiters, after a question" {
  tsem create "$SEM"
  hold
  enqueue tsem take "$SEM"
  local waiter=$PID
  TOP=("$SEM")
  on_screen 120x10 'see:^waits' key:c "see:cancel all waiters of '$SEM'\? \(y/n\)" 'key:\x1b' 'see:nothing was done' 'see:^waits' \
    key:c 'see:\(y/n\)' key:y 'see:all waiters are cancelled' 'gone:^waits' key:q restored:0
  finish "$waiter"
  expect_status 75
}

@test "top: cancel one of three waiters, with a selection that follows it" {
  tsem create "$SEM"
  tsem take "$SEM"
  enqueue tsem take "$SEM"
  local first=$PID
  enqueue tsem take "$SEM"
  local second=$PID
  enqueue tsem take "$SEM"
  local third=$PID
  TOP=("$SEM")
  on_screen 120x12 "see:^waits +3 +$third " 'key:\x1bOB' "until:kill $first" "see:^waits +1 +$second " "key:c" \
    "see:cancel the wait of process $second \(tsem take $SEM\)\? \(y/n\)" key:n 'see:nothing was done' "see:^waits +1 +$second " \
    key:c 'see:\(y/n\)' key:y "see:$SEM: the wait of process $second is cancelled" 'gone:^waits +2' "see:^waits +1 +$third " key:q restored:0
  finish "$second"
  expect_status 75
  expect_shown '.waiters[].pid' "$third"
}

@test "top: a wait that ended before the answer is not cancelled" {
  tsem create "$SEM"
  tsem take "$SEM"
  enqueue tsem take "$SEM"
  TOP=("$SEM")
  on_screen 120x12 "see:^waits +1 +$PID " key:c 'see:\(y/n\)' "until:tsem post $SEM" key:y \
    "see:process $PID does not wait any more, nothing was done" key:q restored:0
}

@test "top: send a signal to a holder, after a question" {
  tsem create -j 9 "$SEM"
  owner
  tsem acquire --owner "$OWNER" "$SEM"
  local first=$OWNER second
  owner
  second=$OWNER
  tsem acquire --owner "$OWNER" "$SEM"
  TOP=("$SEM")
  on_screen 120x12 "see:^holds +$second " key:k "see:^signal \(TERM\) for process $first \(sleep 1000\): _ \(Enter, or Esc\)" \
    'key:\x1bOB\x1b' 'see:^q quit' 'key:kFOO\n' "see:^'FOO' is no signal" 'key:\x1bOBk\n' \
    "see:^signal process $second \(sleep 1000\) with TERM\? \(y/n\)" key:n 'see:nothing was done' 'key:k\n' 'see:\(y/n\)' \
    "until:kill -0 $second" key:y "see:$SEM: the signal was sent to process $second" "see:^holds +$second .* no " key:k \
    "see:^process $second is dead \(r recovers its permits\)" 'key:\x1bOAkSIGKIL\x7fLL\n' "see:process $first .* with SIGKILL\?" key:y \
    "see:^holds +$first .* no " key:q restored:0
  finish "$second"
  expect_status 143
  finish "$first"
  expect_status 137
}

@test "top: send a signal to a waiter" {
  tsem create "$SEM"
  tsem take "$SEM"
  enqueue tsem take "$SEM"
  TOP=("$SEM")
  on_screen 120x12 'see:^waits' key:k2 'see:process' 'key:\n' "see:process $PID .* with 2\?" key:y 'gone:^waits' key:q restored:0
  finish "$PID"
  expect_status 130
}

@test "top: no signal to a process that does not hold any more, or is dead" {
  tsem create "$SEM"
  owner
  tsem acquire --owner "$OWNER" "$SEM"
  TOP=("$SEM")
  on_screen 120x12 'see:^holds' 'key:k\n' 'see:\(y/n\)' "until:tsem release --owner $OWNER $SEM" key:y \
    "see:$SEM: process $OWNER does not hold or wait any more, nothing was done" 'gone:^holds' 'key:k' \
    'see:k signals a selected process' "until:tsem acquire --owner $OWNER $SEM" 'see:^holds' 'key:k\n' 'see:\(y/n\)' \
    "until:kill -0 $OWNER && kill -KILL $OWNER" 'see:^holds .* no ' key:y "see:$SEM: process $OWNER is dead" key:q restored:0
  finish "$OWNER"
  expect_status 137
}

@test "top: no signal because of another hold, or of another semaphore of that name" {
  tsem create "$SEM"
  owner
  tsem acquire --owner "$OWNER" "$SEM"
  local acquire="tsem acquire --owner $OWNER $SEM" gone="see:$SEM: process $OWNER does not hold or wait any more"
  TOP=("$SEM")
  # The first ticket of the new semaphore is that of the hold in question.
  on_screen 120x12 'see:^holds' 'key:k\n' 'see:\(y/n\)' "until:tsem release --owner $OWNER $SEM && $acquire" key:y \
    "$gone" "until:tsem remove -f $SEM && tsem create $SEM && $acquire" 'key: ' 'see:^holds' 'key:k\n' 'see:\(y/n\)' \
    "until:tsem remove -f $SEM && tsem create $SEM && $acquire" key:y "$gone" 'see:^holds .* yes ' key:q restored:0
  kill -0 "$OWNER"
}

# In a PID namespace of its own, and without semaphores of others.
in_pid_namespace() {
  need_private_shm
  need_emulator
  attempt private-shm 1m unshare --pid --fork --mount-proc bash -c "$1"'; python3 "$@"; exit' bash \
    "$BATS_TEST_DIRNAME/screen.py" 120x12 "${@:2}" -- tsem top -d 50ms it
  expect_status 0
}

@test "top: no signal to a process that has got the number of a holder" {
  need_private_shm
  local replace='read -r pid <pid; kill -KILL $pid; while [[ -e /proc/$pid ]]; do :; done
    until echo $((pid - 1)) >/proc/sys/kernel/ns_last_pid; sleep 999 & [[ $! == "$pid" ]]; do kill $!; done'
  private-shm 1m unshare --pid --fork --mount-proc test -w /proc/sys/kernel/ns_last_pid || skip 'needs a choice of the next pid'
  in_pid_namespace 'sleep 1000 & echo $! >pid; tsem create it; tsem acquire --owner $! it' 'see:^holds .* yes +sleep 1000' \
    'key:k\n' 'see:with TERM\?' "until:$replace" 'see:^holds .* no ' key:y 'see:it: process [0-9]+ is dead' \
    'until:grep -qz 999 /proc/$(<pid)/cmdline' key:q restored:0
}

@test "top: no signal to a holder without a number here" {
  tsem create "$SEM"
  owner
  tsem acquire --owner "$OWNER" "$SEM"
  unshare --pid --fork --mount-proc true || skip 'needs a PID namespace'
  need_emulator
  attempt unshare --pid --fork --mount-proc python3 "$BATS_TEST_DIRNAME/screen.py" 120x12 'see:^holds' key:k \
    "see:^process $OWNER of another PID namespace has no number here" key:q restored:0 -- tsem top "$SEM"
  expect_status 0
}

@test "top: a signal that is not permitted is reported, and top goes on" {
  need_another_user
  need_emulator
  tsem create -m 0600 "$SEM"
  owner
  tsem acquire --owner "$OWNER" "$SEM"
  chmod 0644 "$FILE"
  attempt python3 "$BATS_TEST_DIRNAME/screen.py" 120x12 'see:^holds' 'key:k\n' 'see:\(y/n\)' key:y \
    "see:$SEM: no signal was sent to process $OWNER: Operation not permitted" key:q restored:0 -- as-nobody tsem top "$SEM"
  expect_status 0
}

@test "top: set the capacity, after a number and a question" {
  tsem create "$SEM"
  TOP=("$SEM")
  on_screen 120x10 'see:1 permit, 1 available' key:n 'see:permits of .*: _' 'key:73\x7f' 'see:: 7_' 'key:\n' \
    "see:'$SEM' to 7\? \(y/n\)" key:n 'see:nothing was done' 'see:1 permit, 1 available' \
    'key:n99999999999\n' "see:'99999999999' is not a number" key:n 'key:\x1b' 'gone:Enter' \
    'key:n5\n' 'see:to 5\?' key:y 'see:the capacity is now 5' 'see:5 permits, 5 available' key:q restored:0
  expect_shown .capacity 5
  expect_shown .permits 1
}

@test "top: a change that is not permitted is reported, and top goes on" {
  need_another_user
  as-nobody tsem create -m 0666 "$SEM"
  TOP=("$SEM")
  on_screen 100x10 'see:1 permit' 'key:n5\n' 'see:to 5\?' key:y "see:$SEM: it belongs to nobody, another user" key:q restored:0
  expect_shown .capacity 1
  TOP=(--foreign "$SEM")
  on_screen 100x10 'see:1 permit' 'key:n5\n' 'see:to 5\?' key:y 'see:the capacity is now 5' key:q restored:0
  expect_shown .capacity 5
}

@test "top: screens of any size" {
  tsem create -j 2 "$SEM"
  hold
  TOP=("$SEM")
  local size steps=()
  for size in 1x1 2x1 1x2 3x2 10x3 500x200 1x50 200x1; do
    steps+=("size:$size" key:h 'until:sleep 0.06' key:h 'until:sleep 0.06' 'key:n1\x1b' 'key:>/a\x1b' 'key:k\x1b' 'key:z')
  done
  on_screen 1x1 "${steps[@]}" size:80x24 "see:$SEM: 2 permits" "see:holds +$COMMAND_PID" key:q restored:0
  TOP=()
  on_screen 1x1 "${steps[@]}" size:90x50 'see:semaphore' 'see:q quit' key:q restored:0
}

@test "top: keys for the delay, and for the way between both screens" {
  tsem create "$SEM"
  TOP=(-d 100 "$SEM")
  on_screen 120x10 'see:every 100 s' 'see:1 available' "until:tsem take $SEM" 'key: ' 'see:0 available' \
    key:+ 'see:every 50 s' key:- 'see:every 100 s' "until:tsem post $SEM" 'key:\x1b[C\x7f' 'see:semaphore' \
    'key:\x1bOD' 'see:semaphore' 'key:\x1bOC' 'see:permits?, .* available' 'key:\x1bOD' 'see:semaphore' key:q restored:0
  TOP=()
  on_screen 120x10 'see:every 0.05 s' key:+ 'see:every 0.05 s' key:- 'see:every 0.1 s' key:+ 'see:every 0.1 s' key:q restored:0
}

@test "top: a key explains the keys" {
  TOP=()
  on_screen 80x24 'see:q quit' key:h 'see:^r +recover' 'see:^c +cancel' 'see:^n +change' 'see:^q +quit' key:h 'gone:^r +recover' \
    key:? 'see:^r +recover' 'key: ' 'gone:^r +recover' key:q restored:0
}

@test "top: the help scrolls on a small screen" {
  local back='see:any other key goes back$'
  TOP=()
  on_screen 80x8 'see:q quit' key:h 'see:^Up .* move$' "$back" 'gone:^q +quit$' 'key:\x1bOF' 'see:^q +quit$' "$back" 'key:\x1bOB\x1b[6~' \
    'see:^n +change.*\n^q +quit$' 'key:\x1bOA' 'gone:^q +quit' 'see:^n +change' "$back" 'key:\x1bOF' 'see:^q +quit$' \
    size:80x26 'see:^Up .* move$' 'see:^q +quit$' size:80x8 'see:^Up .* move$' 'key:\x1b[6~' 'see:^/ +list' 'gone:^Up .* move$' 'key:\x1bOH' 'see:^Up .* move$' \
    'key:\x1bOFh' 'gone:other key' key:h 'see:^Up .* move$' key:qq restored:0
}

@test "top: the terminal is restored at every end" {
  local signal
  tsem create "$SEM"
  for signal in 15:SIGTERM 2:SIGINT 1:SIGHUP 3:SIGQUIT; do
    TOP=("$SEM")
    on_screen 80x10 'see:1 permit' "signal:${signal#*:}" "restored:-${signal%:*}"
  done
  on_screen 80x10 'see:1 permit' 'key:\x03' restored:-2
  on_screen 80x10 'see:1 permit' 'key:n7' 'signal:SIGTERM' restored:-15
  TOP=(-i 3 "$SEM")
  on_screen 80x10 restored:0
}

@test "top: the terminal is restored after every signal" {
  local signal
  tsem create "$SEM"
  TOP=("$SEM")
  for signal in PIPE USR1 ALRM SYS XCPU TERM; do
    on_screen 80x10 'see:1 permit' "signal:SIG$signal" "restored:-$(kill -l "$signal")"
  done
  skip_under any 'a sanitizer reports these by itself'
  for signal in BUS SEGV ABRT FPE ILL TRAP; do
    on_screen 80x10 'see:1 permit' "signal:SIG$signal" "restored:-$(kill -l "$signal")"
  done
}

# The process that draws: it has $SEM in its command line.
DRAWER='$(pgrep -f "^tsem top .*$SEM")'

@test "top: the terminal is restored after lack of memory and after exit()" {
  skip_under any 'a sanitizer maps memory as it needs it'
  tsem create "$SEM"
  TOP=("$SEM")
  on_screen 80x10 'see:1 permit' "until:prlimit --as=1 --pid $DRAWER" restored:125
  command -v gdb >/dev/null || skip 'needs gdb'
  on_screen 80x10 'see:1 permit' "until:gdb -nx -batch -p $DRAWER -ex 'call (void)exit(7)' >/dev/null & true" restored:7
}

@test "top: Ctrl-Z restores the terminal, and fg draws again" {
  skip_under thread 'ThreadSanitizer minds that the signal handler of ncurses changes errno'
  need_emulator
  tsem create "$SEM"
  attempt python3 "$BATS_TEST_DIRNAME/screen.py" 120x12 'see:^\$' "key:tsem top -d 50ms $SEM\\n" 'see:1 permit, 1 available' \
    'key:\x1a' 'see:Stopped' "until:tsem take $SEM" 'key:fg\n' 'see:0 available, 1 held' key:q 'see:^\$' \
    'key:exit 3\n' restored:3 -- env 'PS1=$ ' HISTFILE= bash --norc --noprofile -i
  expect_status 0
}

@test "top: ends with its terminal" {
  tsem create "$SEM"
  # The terminal vanishes while the program ignores SIGHUP, as under nohup.
  attempt vanishing-terminal.py tsem top "$SEM"
  expect_status 0
}

@test "top: an unknown terminal type" {
  local term
  tsem create "$SEM"
  for term in TERM= TERM=dumb TERM=no-such-terminal -uTERM; do
    attempt script -qec "env $term tsem top $SEM" /dev/null
    expect_status 125
    case $term in
      TERM= | -uTERM) expect_match 'what it says' "$OUT" "^tsem: $SEM: TERM is not set .*-b\)" ;;
      *) expect_match 'what it says' "$OUT" "^tsem: $SEM: unknown or unsuitable terminal type '${term#TERM=}' .*-b\)" ;;
    esac
    [[ $OUT != *$'\e'* ]] || fail 'garbage'
    attempt script -qec "env $term tsem top -b -i 1 $SEM" /dev/null
    expect_status 0
    expect_match 'what it prints' "$OUT" "$SEM: 1 permit, "
  done
}

@test "top: tables one after the other without a terminal" {
  tsem create -j 2 "$SEM"
  hold
  attempt tsem top -i 3 -d 20ms "$SEM"
  expect_status 0
  expect_err ''
  expect_equal 'tables' "$(grep -c "^$SEM: 2 permits, 1 available, 1 held, 0 waiting" attempt.out)" 3
  expect_equal 'times' "$(grep -cE '^[0-9-]{10}T[0-9:]{8}Z$' attempt.out)" 3
  expect_equal 'holders' "$(grep -c "^holds .*$COMMAND_PID" attempt.out)" 3
  need_private_shm
  attempt private-shm 1m bash -ec 'tsem create -j 4 one; tsem take one; tsem create two; tsem top -i 2 -d 10ms'
  expect_status 0
  expect_equal 'lines' "$(grep -cE '^(NAME +USE|one +25% +1 +4 +0|two +0% +0 +1 +0) ' attempt.out)" 6
}

@test "top: each table is written at once, and top goes on when a semaphore vanishes" {
  tsem create "$SEM"
  mkfifo pipe
  start bash -c 'exec tsem top -b -d 20ms "$0" >pipe' "$SEM"
  local line gone=0 there=0
  while ((gone == 0 || there < 2)) && read -r -t "$DEADLINE" line; do
    case $line in
      *'1 permit'*) ((++there == 1)) && tsem remove "$SEM" ;;
      *'no such semaphore') ((++gone == 1)) && tsem create "$SEM" ;;
    esac
  done <pipe
  ((gone > 0 && there >= 2)) || fail "there $there, gone $gone"
  finish "$PID" # there is no reader any more
  ((STATUS != 0)) || fail 'a closed pipe is no success'
}

@test "top: bad arguments are refused" {
  tsem create "$SEM"
  refuses "^$SEM.x: no such semaphore" top "$SEM.x"
  attempt script -qec "tsem top $SEM.x" /dev/null
  expect_status 125
  expect_match 'on a terminal, too' "$OUT" "^tsem: $SEM.x: no such semaphore"
  refuses "unknown column 'x'.*WAITING" top -s x
  refuses "^-i '0'|-i '0'.*1 to" top -i 0
  refuses "-d '0'" top -d 0
  refuses "-d 'x'" top -d x
  attempt bash -c 'exec tsem top -i 2 -d 10ms >/dev/full'
  expect_status 125
  expect_match 'standard error' "$ERR" 'standard output'
  expect_equal 'lines on standard error' "$(wc -l <attempt.err)" 1
}
