# SPDX-License-Identifier: MIT
# The static probes fire as tsem(7) says, with the arguments that it names: gdb, bpftrace and perf see them. The tests
# run the examples of the manual page, with the path of the command replaced, and without the minute of the last one.
load ../cli/helper

# ---- gdb, which needs ptrace only ----

# watched EXPECTED ARGUMENT...: the probes that `tsem ARGUMENT...` meets, a line each.
watched() {
  local expected=$1
  shift
  : >probes
  attempt gdb -q -batch -x "$BATS_TEST_DIRNAME/watch.gdb" --args "$TSEM" "$@"
  [[ $OUT != *'Cannot insert breakpoint'* && $OUT != *'ptrace: Operation not permitted'* ]] || skip 'gdb may not stop a process here'
  expect_equal "probes that tsem $* meets" "$(<probes)" "${expected//UUID/"$UUID"}"
}

need_gdb() {
  gdb -q -batch -ex 'python print(1)' 2>/dev/null | grep -qx 1 || skip 'needs gdb with Python'
}

@test "probes: gdb: take, post, wait, abandon, recover, and their arguments" {
  need_gdb
  tsem create -j 3 "$SEM"
  UUID=$(field .uuid | tr -d -)
  watched 'take UUID' take -k 2 "$SEM"
  watched 'post UUID' post -k 2 "$SEM"
  watched $'take UUID\npost UUID' run "$SEM" true
  tsem take -k 3 "$SEM" # tickets 0 to 5 are used
  watched $'take UUID\nwait UUID 6 2\nabandon UUID 6 2\npost UUID' take -k 2 -w 50ms "$SEM"
  watched '' take -n "$SEM"
  tsem post -k 3 "$SEM"
  start sleep 1000
  tsem acquire --owner "$PID" -k 3 "$SEM"
  kill -KILL "$PID"
  finish "$PID"
  watched $'recover UUID 8 3\npost UUID' recover "$SEM"
}

@test "probes: gdb: admit" {
  need_gdb
  tsem create -j 2 "$SEM"
  UUID=$(field .uuid | tr -d -)
  tsem take -k 2 "$SEM"
  : >probes
  start gdb -q -batch -x "$BATS_TEST_DIRNAME/watch.gdb" --args "$TSEM" take -k 2 "$SEM"
  local gdb=$PID
  eventually grep -q wait probes
  tsem post -k 2 "$SEM"
  finish "$gdb"
  expect_equal 'probes' "$(<probes)" "take $UUID"$'\n'"wait $UUID 2 2"$'\n'"admit $UUID 2 2"
}

@test "probes: gdb: a command that ended by itself is not recovered, a killed one is" {
  need_gdb
  tsem create "$SEM"
  UUID=$(field .uuid | tr -d -)
  watched $'take UUID\npost UUID' run "$SEM" true
  watched $'take UUID\npost UUID\nrecover UUID 1 1' run "$SEM" sh -c 'kill -KILL $$'
  # A command that has ended by itself, and that another process finds before its stopped tsem does.
  hold
  kill -STOP "$PID"
  kill -TERM "$COMMAND_PID" # it dies of the signal: recovered
  eventually has_ended "$COMMAND_PID"
  watched $'recover UUID 2 1\npost UUID' recover "$SEM"
  kill -KILL "$PID"
  start tsem run "$SEM" sh -c 'until test -e go; do sleep 0.01; done'
  eventually is_shown '.holders | length' 1
  kill -STOP "$PID"
  touch go
  eventually is_shown '.holders[0].alive' no
  watched 'post UUID' recover "$SEM"
  expect_shown .held 0
  kill -KILL "$PID"
}

# ---- bpftrace and perf, which need uprobes ----

# With a private mount of tracefs.
TRACING=(unshare --mount -- bash -c 'mount -t tracefs tracefs /sys/kernel/tracing && exec "$@"' bash)

need_uprobes() {
  command -v "$1" >/dev/null || skip "needs $1"
  ((EUID == 0)) || skip 'needs root, for uprobes'
  "${TRACING[@]}" test -w /sys/kernel/tracing/uprobe_events 2>/dev/null || skip 'the kernel has no uprobes, or refuses them'
}

# example WORD: the example of the manual page that begins with WORD.
example() {
  sed -n "/^\\.Sh PROBES/,/^\\.Sh DIFF/{/^\\.Bd/,/^\\.Ed/p}" "$TSEM_MANUAL" | sed -n "/^$1/,/^\\.Ed/{/^\\.Ed/d;p}" |
    sed "s|/usr/bin/tsem|$(command -v tsem)|g"
}

one_wait() {
  tsem take "$SEM"
  enqueue "$TSEM" take "$SEM"
  tsem post "$SEM"
  finish "$PID"
  tsem post "$SEM"
}

seen() {
  grep -c seen attempt.trace
}

@test "probes: bpftrace: the example of tsem(7)" {
  need_uprobes bpftrace
  tsem create "$SEM"
  local program
  program=$(example bpftrace)
  program=${program#"bpftrace -e '"}
  program=${program%"'"}
  [[ $program == *admit* ]] || fail 'there is no such example'
  : >attempt.trace
  start "${TRACING[@]}" bpftrace -B line -e \
    "usdt:$TSEM:tsem:admit /@since[tid]/ { printf(\"seen\\n\"); } $program" >attempt.trace 2>attempt.said
  local bpftrace=$PID
  # bpftrace reports that it attaches before it has attached; the second wait begins after everything has attached that
  # attached before the first one.
  while (($(seen) < 2)); do
    one_wait
    if has_ended "$bpftrace"; then
      skip "bpftrace does not work here: $(grep -v MEMLOCK attempt.said | tail -n 1)"
    fi
  done
  kill -INT "$bpftrace"
  finish "$bpftrace"
  cat attempt.trace
  # The histogram and nothing else.
  expect_equal 'maps' "$(grep '^@' attempt.trace | tr -d ' ')" '@us:' # some versions print a blank behind it
  local admitted
  admitted=$(sed -n 's/^\[.*) *\([0-9]*\) |.*/\1/p' attempt.trace | awk '{ n += $1 } END { print n + 0 }')
  ((admitted > 0)) || fail "the histogram counts $admitted"
}

has_probes() {
  "${TRACING[@]}" grep -q sdt_tsem /sys/kernel/tracing/uprobe_events
}

forget_probes() {
  "${TRACING[@]}" perf probe -q -d 'sdt_tsem:*' 2>/dev/null || ! has_probes
}

@test "probes: perf: the example of tsem(7)" {
  need_uprobes perf
  exec 9<"$TSEM"
  flock 9 # the kernel has one list of them
  ! has_probes || skip 'another process uses these probes'
  # perf counts in all processes that run this file, and other tests run the original.
  mkdir own
  cp "$TSEM" own
  PATH=$PWD/own:$PATH
  local script
  export HOME=$PWD # for perf's cache
  script=$(example perf)
  [[ $script == *'sleep 60' ]] || fail 'there is no such example'
  tsem create "$SEM"
  # Replaces the minute of the example: the events to be seen.
  cat >minute <<END
tsem run $SEM true
tsem run $SEM bash -c 'kill -KILL \$\$'
tsem run $SEM bash -c 'kill -KILL \$\$'
true
END
  attempt "${TRACING[@]}" bash -ec "${script%sleep 60}bash minute"
  eventually forget_probes
  if [[ $ERR == *'ermission denied'* || $ERR == *'not supported'* ]]; then
    skip "perf does not work here: ${ERR##*$'\n'}"
  fi
  expect_status 0
  expect_match 'what it counted' "$ERR" ' 2 +sdt_tsem:recover'
}
