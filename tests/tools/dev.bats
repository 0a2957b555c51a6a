#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ./dev where something fails. It runs as a copy, with programs that only pretend to install and compile.
# shellcheck disable=SC2016 # the scripts in quotes are for inner shells
load ../cli/helper

# pretend PROGRAM LINE...: a shell script in place of PROGRAM.
pretend() {
  printf '%s\n' '#!/bin/sh' "${@:2}" >"programs/$1"
  chmod +x "programs/$1"
}

copy_dev() {
  mkdir -p programs tests/lint
  cp "$BATS_TEST_DIRNAME/../../dev" .
  cp "$BATS_TEST_DIRNAME/../tally" tests/
  PATH=$PWD/programs:$PATH
  pretend id 'echo 0'
  pretend dpkg-query 'echo installed'
  pretend ninja
}

@test "dev: where apt fails, its reason and the packages" {
  copy_dev
  pretend dpkg-query 'exit 1'
  pretend apt-get 'if [ "$1" = install ]; then echo "dpkg: no space left"; exit 100; fi'
  attempt ./dev model
  expect_status 1
  expect_err $'dpkg: no space left\ndev: please install as root: gcc libc6-dev spin python3'
}

@test "dev: without sudo, the packages" {
  copy_dev
  pretend id 'echo 1000'
  pretend dpkg-query 'exit 1'
  pretend sudo 'echo "sudo: not found" >&2; exit 127'
  attempt ./dev model
  expect_status 1
  expect_err $'sudo: not found\ndev: please install as root: gcc libc6-dev spin python3'
}

@test "dev: where a build fails, its reason and the totals" {
  copy_dev
  pretend meson 'echo "ERROR: no compiler"; exit 1'
  attempt ./dev test
  expect_status 1
  expect_err 'ERROR: no compiler'
  expect_match 'the end' "$OUT" $'\nfailed: gcc \\(see above\\)\n0 passed, 1 failed, 0 skipped$'
}

@test "dev: where lint fails, the totals of the tests" {
  copy_dev
  # check() calls `meson test -C DIRECTORY ... --logbase LOG ...`
  pretend meson 'mkdir -p build/plain/meson-logs build/asan/meson-logs build/tsan/meson-logs' '[ "$1" = test ] || exit 0' \
    'while [ "$1" != --logbase ]; do [ "$1" != -C ] || directory=$2; shift; done' \
    'echo "{\"name\": \"tsem:unit / fine\", \"result\": \"OK\"}" >"$directory/meson-logs/$2.json"'
  printf '#!/bin/sh\nexit 1\n' >tests/lint/include-cycles
  chmod +x tests/lint/include-cycles
  attempt ./dev test
  expect_status 1
  expect_match 'the end' "$OUT" $'\nfailed: include cycles, .* \\(see above\\)\n5 passed, 1 failed, 0 skipped$'
}

three_hold() {
  [[ $(tsem show -J "$1" | jq .held) == 3 ]]
}

@test "dev: Ctrl-C in the demonstration leaves no process and no semaphore" {
  copy_dev
  mkdir -p build/demo/cli
  touch build/demo/build.ninja
  ln -s "$(type -P tsem)" build/demo/cli/tsem
  start ./dev demo
  FILE=/dev/shm/tsem.demo.$PID
  eventually three_hold "demo.$PID"
  kill -INT -- "-$PID"
  finish "$PID"
  # The shell does not wait for the command that it looked with: that one may still be dying of its own SIGINT.
  expect_equal 'its jobs' "$(pgrep -s "$PID" -f 'run -j3|sleep 1')" ''
  [[ ! -e $FILE ]] || fail "$FILE is left"
}
