# SPDX-License-Identifier: MIT
# Programs of 32 and of 64 bits on one semaphore: the commands TSEM and TSEM_OTHER.
# shellcheck disable=SC2016 # the scripts in quotes are for inner shells
load ../cli/helper

# Of ELF: 1 for 32 bits, 2 for 64.
class_of() {
  od -An -tu1 -j4 -N1 "$1" | xargs
}

@test "mixed: one command has 32 bits, the other has 64" {
  expect_equal 'the classes' "$(class_of "$TSEM") $(class_of "$TSEM_OTHER")" '1 2'
}

@test "mixed: what the one has created, the other takes and posts, and both leave it at rest" {
  local one
  for one in "$TSEM" "$TSEM_OTHER"; do
    "$one" create -j 3 "$SEM"
    "$TSEM_OTHER" take "$SEM"
    "$TSEM" take "$SEM"
    expect_shown .available 1
    "$TSEM" post "$SEM"
    "$TSEM_OTHER" post "$SEM"
    expect_at_rest 3
    "$TSEM_OTHER" remove "$SEM"
  done
}

@test "mixed: they leave in the order in which they came" {
  local i both=("$TSEM" "$TSEM_OTHER")
  tsem create "$SEM"
  tsem take "$SEM"
  for i in {1..20}; do
    enqueue "${both[i % 2]}" run "$SEM" sh -c 'echo "$0" >>order' "$i"
  done
  tsem post "$SEM"
  all_succeed "${STARTED[@]}"
  expect_equal 'the order' "$(xargs <order)" "$(echo {1..20})"
  expect_at_rest 1
}

@test "mixed: a holder of the one kind is killed, and a waiter of the other has the permit" {
  local holder waiter
  for holder in "$TSEM" "$TSEM_OTHER"; do
    for waiter in "$TSEM" "$TSEM_OTHER"; do
      start "$holder" run -F -j 1 "$SEM" sleep 1000
      eventually is_shown .held 1
      local killed=$PID
      enqueue "$waiter" run "$SEM" true
      kill -KILL "$killed"
      finish "$PID"
      expect_status 0
      expect_at_rest 1
    done
  done
}

@test "mixed: many of both kinds at once, and no permit is lost" {
  tsem create -j 3 "$SEM"
  for _ in {1..20}; do
    start "$TSEM" run "$SEM" true
    start "$TSEM_OTHER" run -k 2 "$SEM" true
  done
  all_succeed "${STARTED[@]}"
  expect_at_rest 3
}
