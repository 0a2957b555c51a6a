# SPDX-License-Identifier: MIT
# Without contention, no operation makes a system call: 10,000 rounds make as many as 10 rounds.
load helper

# Counts the system calls of a program that does the operation N times.
count() {
  strace -f -c -U calls,name -o trace "$TSEM_ROUNDS" "$SEM" "$1" "$2"
  awk '$2 == "total" { print $1 }' trace
}

need_strace() {
  skip_under any 'a sanitizer makes system calls of its own'
  [[ -x ${TSEM_ROUNDS-} ]] || skip 'TSEM_ROUNDS is not set to the program rounds, as meson does'
  strace -o /dev/null true 2>/dev/null || skip 'strace may not trace here'
}

same_for_any_number() {
  local few many
  need_strace
  tsem create -j 3 "$SEM"
  few=$(count "$1" 10)
  many=$(count "$1" 10000)
  cat trace
  expect_match "system calls for 10 rounds of $1" "$few" '^[1-9][0-9]*$'
  expect_equal "system calls for 10,000 rounds of $1" "$many" "$few"
}

@test "syscalls: the count itself works" {
  local few many
  need_strace
  tsem create "$SEM"
  few=$(count getppid 10)
  many=$(count getppid 1010)
  expect_equal 'difference' $((many - few)) 1000
}

@test "syscalls: take and post" {
  same_for_any_number take
}

@test "syscalls: try_take and post" {
  same_for_any_number try-take
}

@test "syscalls: acquire and release" {
  same_for_any_number acquire
}

@test "syscalls: try_acquire and release" {
  same_for_any_number try-acquire
}

@test "syscalls: two holds at a time" {
  same_for_any_number acquire-twice
}

@test "syscalls: run does nothing for a wait if it need not wait" {
  need_strace
  tsem create "$SEM"
  attempt strace -o trace -e trace=ioctl,fallocate,rt_sigaction tsem run "$SEM" true
  expect_equal 'what it did' "$(grep -Ev 'SIGCHLD|exited' trace)" ''
  grep -q SIGCHLD trace
}
