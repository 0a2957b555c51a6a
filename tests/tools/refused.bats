#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Platforms on which meson refuses to set up a build, in one sentence.
load ../cli/helper

# expect_refused PATTERN [MESON-OPTION]...
expect_refused() {
  attempt meson setup build "$BATS_TEST_DIRNAME/../.." "${@:2}"
  expect_status 1
  expect_match 'what meson says' "$OUT" "ERROR: Problem encountered: $1"$'\n'
}

@test "refused: another system than Linux" {
  printf '%s\n' '[binaries]' "c = 'cc'" '[host_machine]' "system = 'freebsd'" "cpu_family = 'x86_64'" "cpu = 'x86_64'" \
    "endian = 'little'" >freebsd.ini
  expect_refused 'tsem runs on Linux only: it needs futexes and /proc' --cross-file freebsd.ini
}

@test "refused: a processor without lock-free 64-bit atomic operations" {
  echo 'int main(void) { return 0; }' >empty.c
  gcc -m32 empty.c -o empty 2>/dev/null || skip 'gcc cannot link for i386'
  CC=gcc CFLAGS='-m32 -march=i386' expect_refused 'tsem needs a processor with lock-free 64-bit atomic operations'
}
