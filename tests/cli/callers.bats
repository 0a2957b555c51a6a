# SPDX-License-Identifier: MIT
# How tsem is called, and what the command sees of tsem: only its environment variables.
load helper

# Runs a script twice, with and without tsem in front of "$@", and expects the same file `seen`.
expect_same() {
  local line=$1
  shift
  rm -f seen
  attempt bash -c "$line" bash "$@"
  mv seen directly
  attempt bash -c "$line" bash tsem run -j 1 "$SEM" "$@"
  expect_status 0
  expect_equal "through tsem, for $line" "$(<seen)" "$(<directly)"
  expect_at_rest 1
}

# In a container the command also has the descriptor of the presence lock, above all that shells use.
@test "callers: descriptors pass through unchanged, and the command gets none of tsem's" {
  local redirections
  [[ $(readlink /proc/self/ns/pid) == 'pid:[4026531836]' ]] || skip 'in a container the command has the descriptor of a lock'
  for redirections in '' '</dev/null' '<&-' '>&-' '2>&-' '<&- >&-' '<&- >&- 2>&-' '3>&- 4>&- 5</etc/passwd 9>>log' \
    '<&- >&- 2>&- 3</etc/passwd 77</etc/passwd'; do
    expect_same "exec \"\$@\" $redirections" descriptors.py
  done
}

@test "callers: signal mask and dispositions, umask and capabilities pass through" {
  # A shell would change some of them.
  local look=(grep -E '^(Umask|SigBlk|SigIgn|SigCgt|Seccomp|Cap...):' /proc/self/status)
  expect_same '"$@" >seen' "${look[@]}"
  expect_same 'umask 027; "$@" >seen' "${look[@]}"
  expect_same 'trap "" INT QUIT HUP TERM USR1 USR2 TSTP PIPE CONT; exec "$@" >seen' "${look[@]}"
  expect_same 'exec env --block-signal=1,2,3,10,12,13,15,17,18,20,35,64 --ignore-signal=CHLD "$@" >seen' "${look[@]}"
  expect_match 'ignored' "$(grep SigIgn: directly)" '[13579bdf]....$'
  expect_match 'blocked' "$(grep SigBlk: directly)" ':.*[1-9a-f]'
}

@test "callers: the command stays in the caller's process group and session" {
  attempt bash -c 'ps -o pgid=,sid= -p $$; tsem run -j 1 "$SEM" sh -c "ps -o pgid=,sid= -p \$\$"; true'
  expect_status 0
  expect_equal 'inside' "${OUT#*$'\n'}" "${OUT%%$'\n'*}"
}

@test "callers: an ignored SIGCHLD does not hide the exit status" {
  attempt bash -c 'trap "" CHLD; exec tsem run -j 1 "$SEM" bash -c "exit 42"'
  expect_silence 42
}

@test "callers: tsem notices the end although signals are blocked" {
  attempt env --block-signal tsem run -j 1 "$SEM" sh -c 'exit 42'
  expect_silence 42
}

@test "callers: arguments pass through unchanged" {
  local show='import sys; print(sys.argv[1:])'
  attempt tsem run -j 1 "$SEM" python3 -c "$show" '' 'two words' -j 9 -- --help $'new\nline' '$HOME' '*' '' -
  expect_status 0
  expect_out "['', 'two words', '-j', '9', '--', '--help', 'new\\nline', '\$HOME', '*', '', '-']"
  attempt tsem run -j 1 "$SEM" -- python3 -c "$show" "$(printf '\xff\xfe')" "$(printf 'x%.0s' {1..100000})"
  expect_status 0
  expect_equal 'length' "${#OUT}" $((100000 + 20))
}

@test "callers: the environment has four more variables, the others are unchanged" {
  attempt env -i PATH="$PATH" A='b  c' TSEM_NAME=old TSEM_COUNT=9 tsem run -j 3 -k 2 "$SEM" env
  expect_status 0
  expect_equal 'environment' "$(sort attempt.out)" "A=b  c"$'\n'"PATH=$PATH"$'\n'"TSEM_COUNT=2"$'\n'"TSEM_NAME=$SEM"$'\nTSEM_SLOT=0\nTSEM_SLOTS=0,1'
}

@test "callers: working directory and limits pass through" {
  expect_same 'cd /; ulimit -S -n 100; ulimit -c 0; "$@"' sh -c 'cd "$0"; { ulimit -a; nice; echo "$OLDPWD"; } >seen' "$PWD"
}

@test "callers: standard input is for the command only" {
  attempt bash -c 'printf "%s\n" 1 2 3 | while read -r line; do tsem run -j 1 "$SEM" true; echo "$line"; done'
  expect_out $'1\n2\n3'
  attempt bash -c 'seq 100000 | tsem run -j 1 "$SEM" md5sum'
  expect_out "$(seq 100000 | md5sum)"
}

@test "callers: two shells" {
  tsem create "$SEM"
  mkfifo fifo
  start bash -c 'tsem acquire --owner $$ "$SEM"; read -r line <fifo; echo first >>order'
  local first=$PID
  eventually is_shown .held 1
  enqueue bash -c 'tsem acquire --owner $$ "$SEM"; echo second >>order'
  echo go >fifo
  finish "$first"
  finish "$PID"
  expect_equal 'order' "$(<order)" $'first\nsecond'
  tsem recover "$SEM"
  expect_at_rest 1
}

@test "callers: pipelines" {
  attempt bash -c 'tsem run -j 2 "$SEM" seq 5 | tsem run -j 2 "$SEM" tac | tsem run -j 2 "$SEM.2" head -n 2
    echo "${PIPESTATUS[*]}"'
  expect_status 0
  expect_out $'5\n4\n0 0 0'
  attempt bash -c 'tsem run -j 2 "$SEM" yes | head -n 1; echo "${PIPESTATUS[*]}"'
  expect_out $'y\n141 0'
  expect_at_rest 2
}

@test "callers: subshells hold for themselves" {
  attempt bash -ec '
    (tsem run -j 1 "$SEM" true)
    (
      tsem acquire --owner "$BASHPID" "$SEM"
      tsem take -n "$SEM" && exit 1
      tsem release --owner "$BASHPID" "$SEM"
      tsem acquire --owner "$BASHPID" "$SEM"
    )
    tsem take -n "$SEM"'
  expect_silence
}

@test "callers: command substitution" {
  attempt bash -ec '
    test "$(tsem run -j 1 "$SEM" echo inside)" = inside
    test -z "$(tsem acquire --owner $$ "$SEM")"
    test "$(tsem take -n "$SEM"; echo $?)" = 75
    test -z "$(tsem release --owner $$ "$SEM")"
    tsem take "$SEM"
    test "$(tsem post -p "$SEM")" = 0'
  expect_silence
}

@test "callers: command substitution and pipeline end although the command leaves a background process" {
  attempt bash -c 'x=$(tsem run -j 1 "$SEM" bash -c "sleep 1000 >/dev/null 2>&1 & echo \$!"); kill -KILL "$x"'
  expect_silence
}

@test "callers: a make recipe, and its job server" {
  # -q: below a make that holds a permit, a recipe that has to wait says that its ancestor is a holder.
  cat >Makefile <<'EOF'
all: a b c d e f
a b c d e f:
	@tsem run -q -j 2 "$$SEM" sh -c 'echo + >>log; sleep 0.01; echo - >>log'
below:
	+@tsem run -j 2 "$$SEM" $(MAKE) --no-print-directory all
fails:
	@tsem run -j 2 "$$SEM" false
EOF
  attempt make -j 6 all
  expect_silence
  expect_equal 'recipes, and the most at once' \
    "$(awk '{ now += $1 == "+" ? 1 : -1 } now > most { most = now } END { print NR, (most <= 2) }' log)" '12 1'
  attempt make -j 3 below
  expect_silence
  attempt make fails
  expect_status 2
  expect_at_rest 2
}

@test "callers: xargs" {
  attempt bash -c 'seq 30 | xargs -P 8 -I{} tsem run -j 2 "$SEM" sh -c "echo + >>log; echo {} >>jobs; echo - >>log"'
  expect_silence
  expect_equal 'jobs' "$(sort -n jobs | tr '\n' ' ')" "$(seq 30 | tr '\n' ' ')"
  expect_equal 'no more than 2' "$(awk '{ now += $1 == "+" ? 1 : -1 } now > 2 { print "3 at once" }' log)" ''
}

@test "callers: as from cron: no terminal, no standard input, a small environment" {
  attempt setsid --wait env -i PATH=/usr/bin:/bin "$(command -v tsem)" run -j 1 "$SEM" sh -c 'echo hello; exit 3' <&-
  expect_status 3
  expect_out hello
  expect_err ''
}

@test "callers: without standard descriptors every verb works, and the segment is never one of them" {
  attempt bash -c 'exec <&- >&- 2>&-
    tsem create "$SEM" && tsem take "$SEM" && tsem post "$SEM" && tsem acquire --owner $$ "$SEM" &&
      tsem release --owner $$ "$SEM" && tsem run "$SEM" true && tsem run -n "$SEM" sh -c "exit 9"'
  expect_silence 9
  expect_at_rest 1
  tsem take "$SEM"
  enqueue bash -c 'exec <&- >&- 2>&- tsem run "$SEM" true'
  local fd
  for fd in 0 1 2; do
    [[ ! -e /proc/$PID/fd/$fd ]] || fail "descriptor $fd is $(readlink "/proc/$PID/fd/$fd")"
  done
  tsem post "$SEM"
  finish "$PID"
  expect_status 0
}

is_noted() {
  [[ $(tail -n 1 signals) == "SIG$1" && $(wc -l <signals) == "$2" ]]
}

@test "callers: signals to run are forwarded, each once" {
  start tsem run -j 1 "$SEM" note-signals.py
  eventually test -e parent
  local signal n=0
  for signal in TERM HUP INT QUIT USR1 USR2 CONT TERM INT; do
    kill -"$signal" "$PID"
    n=$((n + 1))
    eventually is_noted "$signal" "$n"
  done
  expect_equal 'signals' "$(tr '\n' ' ' <signals)" \
    'SIGTERM SIGHUP SIGINT SIGQUIT SIGUSR1 SIGUSR2 SIGCONT SIGTERM SIGINT '
  expect_shown .held 1
}

@test "callers: timeout(1) in front of run ends the command and frees the permit" {
  attempt timeout 0.2 tsem run -j 1 "$SEM" sleep 1000
  expect_silence 124
  expect_at_rest 1
  attempt timeout --signal=INT 0.2 tsem run -j 1 "$SEM" sleep 1000
  expect_silence 124
  expect_at_rest 1
}

@test "callers: timeout(1) after run ends the command only" {
  attempt tsem run -j 1 "$SEM" timeout 0.05 sleep 1000
  expect_silence 124
  expect_at_rest 1
}
