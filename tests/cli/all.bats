# SPDX-License-Identifier: MIT
# -k all: exclusive use beside shared use.
load helper

@test "all: a writer runs alone, and the readers behind it wait" {
  tsem create -j 3 "$SEM"
  hold
  local reader=$PID
  enqueue tsem run -k all "$SEM" sh -c 'tsem show -J "$SEM" | jq -r .held >held; echo "$TSEM_COUNT $TSEM_SLOTS" >said'
  local writer=$PID
  attempt tsem run -n "$SEM" true
  expect_silence 75
  enqueue tsem run "$SEM" true
  kill -TERM "$reader"
  all_succeed "$writer" "$PID"
  expect_equal 'what it held' "$(<held)" 3
  expect_equal 'what it was told' "$(<said)" '3 0,1,2'
  expect_at_rest 3
}

@test "all: it is the capacity that 'tsem set' has given" {
  tsem create -j 3 "$SEM"
  tsem set -j 5 "$SEM"
  attempt tsem run -k all "$SEM" sh -c 'echo "$TSEM_COUNT"'
  expect_out 5
  tsem set -j 2 "$SEM"
  attempt tsem run -n -k all "$SEM" sh -c 'echo "$TSEM_COUNT"'
  expect_out 2
  attempt tsem run -k all -j 2 "$SEM" tsem run --nested -k all "$SEM" sh -c 'echo "$TSEM_COUNT"'
  expect_out 2
}

@test "all: acquire holds them, and release gives them back" {
  tsem create -j 4 "$SEM"
  owner
  attempt tsem acquire -k all --owner "$OWNER" "$SEM"
  expect_silence
  expect_shown '[.available, .held] | @csv' 0,4
  attempt tsem acquire -n -k all --owner "$OWNER" "$SEM"
  expect_silence 75
  attempt tsem release --owner "$OWNER" "$SEM"
  expect_at_rest 4
}

@test "all: of a semaphore without permits, of several, and where it means nothing" {
  tsem create -j 0 "$SEM"
  refuses "^$SEM: -k all is no permit" run -k all "$SEM" touch ran
  refuses "^$SEM: -k all is no permit" run -n -k all "$SEM" touch ran
  refuses "^$SEM: -k all is no permit" acquire -k all --owner $$ "$SEM"
  refuses '-k needs a single semaphore' run -j 1 -k all "$SEM.a,$SEM.b" touch ran
  refuses '-k and --jobserver exclude' run -j 1 -k all --jobserver "$SEM" touch ran
  refuses "^-k 'all'" take -k all "$SEM"
  refuses "^-k 'all'" post -k all "$SEM"
  [[ ! -e ran ]]
}
