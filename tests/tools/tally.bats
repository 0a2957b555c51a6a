#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The end of ./dev test: failures with their logs, each distinct skip once, totals.
load ../cli/helper

# result LOG NAME RESULT STATUS LINE...: a line of a log of meson.
result() {
  local output
  output=$(printf '%s\n' "${@:5}")
  jq -nc --arg name "tsem:$2" --arg result "$3" --argjson status "$4" --arg output "$output" \
    '{name: $name, stdout: $output, result: $result, returncode: $status}' >>"$1.json"
}

@test "tally: failures, skips and totals" {
  result all 'cli / lines' ERROR 1 1..4 'ok 1 one' 'not ok 2 two' '#   is: 5' 'ok 3 three # skip no spoon' 'not ok 4 four'
  result all 'unit / of cmocka' OK 0 1..2 '# no fork' 'ok 1 # SKIP eat' 'ok 2 - drink'
  result all 'unit / whole' SKIP 0 '1..0 # SKIP no compiler'
  result all 'crash / storm' FAIL 1 'a permit is lost'
  result all 'crash / sweep' SKIP 77 'SKIPPED: no ptrace'
  result all 'cli+once / slow' TIMEOUT -15 1..2 'ok 1 fast'
  result again 'cli / lines' OK 0 1..2 'ok 3 three # skip no spoon' 'ok 4 four # skip another reason'
  attempt "$BATS_TEST_DIRNAME/../tally" all.json again.json absent.json
  expect_status 1
  expect_out "
cli / lines: two (all.txt)
#   is: 5

cli / lines: four (all.txt)

crash / storm: FAIL, status 1 (all.txt)
a permit is lost

cli / slow: TIMEOUT, status -15 (all.txt)
1..2
ok 1 fast

meson test: No such file or directory (absent.json)

skipped: cli / lines: three: no spoon
skipped: unit / of cmocka: eat: no fork
skipped: unit / whole: no compiler
skipped: crash / sweep: SKIPPED: no ptrace
skipped: cli / lines: four: another reason
failed: cli / lines: two (all.txt)
failed: cli / lines: four (all.txt)
failed: crash / storm: FAIL, status 1 (all.txt)
failed: cli / slow: TIMEOUT, status -15 (all.txt)
failed: meson test: No such file or directory (absent.json)
3 passed, 5 failed, 6 skipped"
}
