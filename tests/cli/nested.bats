# SPDX-License-Identifier: MIT
# A process that waits for permits of its own or of an ancestor is told so, and `run --nested` uses these permits.
load helper

# The line of a process that waits for process $2, which is $3 of it, in the file $1. $5: what it advises. The only other
# line is that of a deadline that has passed.
expect_told() {
  local line
  line=$(grep -v ': not enough permits\|: permits are still held' "$1")
  expect_match 'the line' "$line" "^tsem: $SEM: process [0-9]+ waits for process $2, $3, which holds $4 \(${5-.*--nested.*}\)$"
}

# ---- waiting for oneself ----

@test "nested: a run in the command of a run says at once that it waits for itself" {
  tsem create "$SEM"
  start tsem run "$SEM" sh -c 'echo $$ >holder; tsem run "$SEM" true 2>said; :'
  eventually grep -q . said
  expect_told said "$(<holder)" 'its ancestor' '1 permit'
  local waiter
  waiter=$(field '.waiters[0].pid')
  expect_match 'the line' "$(<said)" "process $waiter waits"
  # A hint, and no error.
  expect_shown .waiting 1
  kill -TERM "$waiter"
  finish "$PID"
  expect_status 0
  expect_at_rest 1
}

@test "nested: a holder that becomes a waiter says that it waits for itself" {
  tsem create "$SEM"
  start tsem run "$SEM" bash -c 'exec tsem run "$SEM" true 2>said'
  eventually grep -q . said
  local waiter
  waiter=$(field '.waiters[0].pid')
  expect_told said "$waiter" itself '1 permit'
  expect_match 'the line' "$(<said)" "process $waiter waits"
}

@test "nested: acquire, take and run say so, also with a deadline that soon passes" {
  tsem create -j 3 "$SEM"
  local how
  for how in 'acquire --owner $$' take 'run'; do
    rm -f said
    attempt bash -c 'echo $$ >holder; tsem acquire -k 3 --owner $$ "$SEM"; tsem '"$how"' -w 1ms "$SEM" '"${how/#[at]*/}"' 2>said; :'
    expect_status 0
    expect_told said "$(<holder)" 'its ancestor' '3 permits'
  done
}

@test "nested: a distant ancestor, and the nearest of two" {
  tsem create -j 2 "$SEM"
  attempt bash -c 'echo $$ >holder; tsem acquire -k 2 --owner $$ "$SEM"
    bash -c "bash -c \"tsem take -w 1ms \$SEM 2>said; :\"; :"; :'
  expect_told said "$(<holder)" 'its ancestor' '2 permits'
  attempt bash -c 'tsem acquire --owner $$ "$SEM"
    bash -c "echo \$\$ >holder; tsem acquire --owner \$\$ \$SEM; tsem take -w 1ms \$SEM 2>said; :"; :'
  expect_told said "$(<holder)" 'its ancestor' '1 permit'
}

@test "nested: several holds of one process are counted together" {
  tsem create -j 2 "$SEM"
  attempt bash -c 'echo $$ >holder; tsem acquire --owner $$ "$SEM"; tsem acquire --owner $$ "$SEM"
    tsem take -w 1ms "$SEM" 2>said; tsem run --nested -k 2 "$SEM" sh -c "echo \$TSEM_COUNT \$TSEM_SLOT \$TSEM_SLOTS"'
  expect_status 0
  expect_told said "$(<holder)" 'its ancestor' '2 permits'
  expect_out '2 0 0,1'
}

@test "nested: nothing is said of other holders, without a wait, with -n and with -q" {
  tsem create -j 2 "$SEM"
  attempt bash -c 'tsem acquire --owner $$ "$SEM"; tsem run "$SEM" true; tsem take -n -k 2 "$SEM"; tsem take -q -w 1ms -k 2 "$SEM"; :'
  expect_silence
  hold -k 2
  attempt tsem take -w 1ms "$SEM"
  expect_in_vain
  # A holder beside the waiter, with a common parent.
  attempt bash -c 'sleep 1000 & kill -0 $!; tsem take -w 1ms "$SEM"; kill $!; :'
  expect_in_vain 0
}

@test "nested: of several semaphores, the one that is waited for is named" {
  tsem create "$SEM"
  tsem create "$SEM.free"
  attempt bash -c 'echo $$ >holder; tsem acquire --owner $$ "$SEM"; tsem run -w 1ms "$SEM.free,$SEM" true 2>said; :'
  expect_told said "$(<holder)" 'its ancestor' '1 permit' 'give that back first'
  # One holder outside of the family is enough.
  attempt bash -c 'tsem acquire --owner $$ "$SEM"; tsem take "$SEM.free"; tsem run --any -w 1ms "$SEM,$SEM.free" true; :'
  expect_in_vain 0
  tsem post "$SEM.free"
  attempt bash -c 'tsem acquire --owner $$ "$SEM"; tsem acquire --owner $$ "$SEM.free"
    tsem run --any -w 1ms "$SEM.free,$SEM" true 2>said; echo $$ >holder'
  expect_told said "$(<holder)" 'its ancestor' '1 permit' 'give that back first'
  rm -f "$FILE.free"
}

@test "nested: on a terminal, too" {
  tsem create "$SEM"
  attempt script -qec 'tsem run "$SEM" sh -c "tsem take -w 1ms $SEM; :"' /dev/null
  expect_match 'what it says' "$OUT" "tsem: $SEM: process [0-9]+ waits for process [0-9]+, its ancestor, which holds 1 permit \("
}

@test "nested: nothing is said of a wait that ends as soon as the dead are recovered" {
  tsem create -j 2 "$SEM"
  leave_dead_owner
  expect_shown '[.available, .reason] | @csv' '1,"none"'
  attempt bash -c 'tsem acquire --owner $$ "$SEM"; tsem run "$SEM" echo ran; :'
  expect_out ran
  expect_err ''
}

@test "nested: wait says that it waits for the permits of an ancestor" {
  tsem create -j 2 "$SEM"
  attempt bash -c 'echo $$ >holder; tsem acquire --owner $$ "$SEM"; tsem wait --holders -w 1ms "$SEM" 2>said; echo $?
    tsem wait -n "$SEM"; tsem wait -q -w 1ms "$SEM"; :'
  expect_out 75
  expect_err ''
  expect_told said "$(<holder)" 'its ancestor' '1 permit' 'give that back first'
  hold
  attempt tsem wait -w 1ms "$SEM"
  expect_in_vain
}

@test "nested: acquire says that the process for which it acquires holds" {
  tsem create "$SEM"
  owner
  tsem acquire --owner "$OWNER" "$SEM"
  attempt tsem acquire -w 1ms --owner "$OWNER" "$SEM"
  expect_status 75
  expect_told attempt.err "$OWNER" 'its --owner' '1 permit' 'give that back first'
}

@test "nested: the advice is about what helps" {
  tsem create -j 3 "$SEM"
  local mine
  # shellcheck disable=SC2016
  mine='echo $$ >holder; tsem acquire --owner $$ "$SEM"; '
  attempt bash -c "$mine"'tsem set -j 0 "$SEM"; tsem take -w 1ms "$SEM" 2>said; tsem take -k 2 -w 1ms "$SEM" 2>more; :'
  expect_told said "$(<holder)" 'its ancestor' '1 permit' "use 'tsem run --nested', or raise the capacity with 'tsem set -j 3 $SEM'"
  expect_told more "$(<holder)" 'its ancestor' '1 permit' "raise the capacity with 'tsem set -j 3 $SEM'"
  tsem set -j 3 "$SEM"
  attempt bash -c "$mine"'tsem take -k 3 -w 1ms "$SEM" 2>said; tsem take -k 2 "$SEM"
    tsem run --jobserver -w 1ms "$SEM" true 2>more; tsem run --any -w 1ms "$SEM" true 2>any; :'
  expect_told said "$(<holder)" 'its ancestor' '1 permit' "give that back first, or ask for no more with 'tsem run --nested'"
  expect_told more "$(<holder)" 'its ancestor' '1 permit' 'give that back first'
  expect_told any "$(<holder)" 'its ancestor' '1 permit' 'give that back first'
}

@test "nested: the advice is about a farther ancestor that holds enough" {
  tsem create -j 3 "$SEM"
  attempt bash -c 'tsem acquire -k 2 --owner $$ "$SEM"
    bash -c "echo \$\$ >holder; tsem acquire --owner \$\$ \$SEM; tsem take -k 2 -w 1ms \$SEM 2>said; :"; :'
  expect_told said "$(<holder)" 'its ancestor' '1 permit' "use 'tsem run --nested', or give that back first"
}

# ---- two processes that wait for each other ----

@test "nested: a cycle of two semaphores is named as one" {
  tsem create "$SEM"
  tsem create "$SEM.other"
  start tsem run "$SEM" sh -c 'echo $$ >one; until test -e go; do sleep 0.02; done; tsem run -q "$SEM.other" true; :'
  local one=$PID
  start tsem run "$SEM.other" sh -c 'echo $$ >two; until test -e on; do sleep 0.02; done; tsem run "$SEM" true 2>said; :'
  eventually test -s one -a -s two
  touch go
  SEM=$SEM.other eventually is_shown .waiting 1
  touch on
  eventually test -s said
  expect_equal 'the line' "$(<said)" "tsem: $SEM: a cycle: process $(<two) holds $SEM.other, and it or a child waits for $SEM; $(
    )process $(<one) holds $SEM, and it or a child waits for $SEM.other (if neither goes on, end one; $(
    )'tsem run $SEM.other,$SEM' acquires both without a cycle)"
  kill "$(<two)"
  finish "$one"
  expect_status 0
  rm -f "$FILE.other"
}

@test "nested: a cycle is none if another holder may end" {
  tsem create "$SEM"
  tsem create -j 2 "$SEM.other"
  start tsem run "$SEM.other" sleep 1000
  SEM=$SEM.other eventually is_shown .held 1
  start tsem run "$SEM" sh -c ': >one; until test -e go; do sleep 0.02; done; tsem run -v "$SEM.other" true 2>said; :'
  start tsem run "$SEM.other" sh -c ': >two; until test -e go; do sleep 0.02; done; tsem run -v "$SEM" true 2>also; :'
  eventually test -e one -a -e two
  touch go
  eventually grep -q ', place 1, waiting' said
  eventually grep -q ', place 1, waiting' also
  expect_equal 'lines about a cycle' "$(cat said also | grep -c 'a cycle')" 0
  rm -f "$FILE.other"
}

@test "nested: a chain of two semaphores is no cycle" {
  tsem create "$SEM"
  tsem create "$SEM.other"
  hold
  start tsem run "$SEM.other" sh -c ': >one; until test -e go; do sleep 0.02; done; tsem run -v "$SEM" true 2>said; :'
  eventually test -e one
  start bash -c 'exec tsem run -v "$SEM.other" true 2>also'
  eventually grep -q ', place 1, waiting' also # the waiter has looked for a cycle before
  touch go
  eventually grep -q ', place 1, waiting' said
  expect_equal 'lines about a cycle' "$(cat said also | grep -c 'a cycle')" 0
  rm -f "$FILE.other"
}

# ---- run --nested ----

@test "nested: --nested runs the command under the permit of an ancestor" {
  tsem create "$SEM"
  attempt tsem run "$SEM" bash -c 'tsem run --nested "$SEM" bash -c "tsem show -J \$SEM"; :'
  expect_status 0
  expect_err ''
  expect_equal 'meanwhile' "$(jq -r '[.held, .waiting, (.holders | length)] | @csv' <<<"$OUT")" 1,0,1
  expect_at_rest 1
}

@test "nested: --nested in --nested, for the hold of a script, and for the hold of the process itself" {
  tsem create "$SEM"
  attempt tsem run "$SEM" sh -c 'tsem run --nested "$SEM" sh -c "tsem run --nested \$SEM echo deep; :"; :'
  expect_out deep
  attempt bash -c 'tsem acquire --owner $$ "$SEM"; tsem run --nested "$SEM" echo script; :'
  expect_out script
  attempt bash -c 'tsem acquire --owner $$ "$SEM"; exec tsem run --nested "$SEM" bash -c "echo \$\$; tsem show -J \$SEM"'
  expect_status 0
  expect_equal 'the holder' "$(sed 1d <<<"$OUT" | jq '.holders[].pid')" "$(head -n 1 <<<"$OUT")"
}

@test "nested: without such an ancestor, --nested is a plain run" {
  attempt tsem run --nested -j 1 "$SEM" sh -c 'tsem show -J "$SEM"'
  expect_status 0
  expect_equal 'held meanwhile' "$(jq .held <<<"$OUT")" 1
  hold
  attempt tsem run --nested -n "$SEM" touch ran
  expect_silence 75
  attempt tsem run --nested -w 1ms -E 9 "$SEM" touch ran
  expect_in_vain 9
  [[ ! -e ran ]]
}

@test "nested: the ancestor must hold as many permits as the command needs" {
  tsem create -j 4 "$SEM"
  attempt tsem run -k 2 "$SEM" bash -c 'tsem run --nested -k 2 "$SEM" tsem show -J "$SEM"; :'
  expect_equal 'held with -k 2' "$(jq .held <<<"$OUT")" 2
  attempt tsem run -k 1 "$SEM" bash -c 'tsem run --nested -k 2 "$SEM" tsem show -J "$SEM"; :'
  expect_equal 'held with -k 2 of 1' "$(jq .held <<<"$OUT")" 3
  attempt tsem run -k 3 "$SEM" bash -c 'tsem run --nested -k 4 -w 1ms "$SEM" touch ran 2>said; echo $? $$'
  expect_match 'status' "$OUT" '^75 '
  expect_told said "${OUT#* }" 'its ancestor' '3 permits'
  [[ ! -e ran ]]
  expect_at_rest 4
}

@test "nested: a farther ancestor that holds enough serves" {
  tsem create -j 3 "$SEM"
  attempt tsem run -k 2 "$SEM" bash -c 'tsem run "$SEM" bash -c "tsem run --nested -k 2 $SEM sh -c \"echo \\\$TSEM_COUNT\"; :"; :'
  expect_status 0
  expect_out 2
}

@test "nested: TSEM_NAME, TSEM_COUNT and TSEM_SLOT are those of the ancestor's permits" {
  tsem create -j 4 "$SEM"
  hold
  # Another semaphore in between has set the variables to its own values.
  attempt tsem run -k 2 "$SEM" sh -c 'tsem run -j 1 "$SEM.other" sh -c "tsem run --nested $SEM env; :"; :'
  expect_status 0
  expect_equal 'environment' "$(grep ^TSEM_ <<<"$OUT" | grep -v '^TSEM_[^NCSR]\|SANITIZERS\|COVERAGE\|CROWD\|ROUNDS' | sort | paste -sd' ')" \
    "TSEM_COUNT=2 TSEM_NAME=$SEM TSEM_SLOT=1 TSEM_SLOTS=1,2"
  rm -f "$FILE.other"
}

@test "nested: TSEM_RECOVERED stays, and --on-recovered is not run again" {
  tsem create "$SEM"
  hold
  kill -KILL "$COMMAND_PID" "$PID"
  attempt tsem run "$SEM" sh -c 'tsem run --nested --on-recovered "touch repaired" "$SEM" sh -c "echo \$TSEM_RECOVERED"; :'
  expect_status 0
  expect_out 1
  [[ ! -e repaired ]]
}

@test "nested: the exit status, and a command that is not found or cannot be executed" {
  tsem create "$SEM"
  attempt tsem run "$SEM" bash -c 'tsem run --nested "$SEM" sh -c "exit 7"; exit $?'
  expect_silence 7
  attempt tsem run "$SEM" bash -c 'tsem run --nested "$SEM" sh -c "kill -TERM \$\$"; exit $?'
  expect_status 143
  attempt tsem run "$SEM" bash -c 'tsem run --nested "$SEM" no-such-command-anywhere; exit $?'
  expect_status 127
  expect_message "^$SEM: .*'no-such-command-anywhere'"
  attempt tsem run "$SEM" bash -c 'tsem run --nested "$SEM" /; exit $?'
  expect_status 126
  expect_message "^$SEM: .*'/'"
  attempt tsem run "$SEM" bash -c 'tsem run --nested "$SEM" -c "exit 4"; exit $?'
  expect_silence 4
}

@test "nested: the permit goes with the ancestor, also if the nested command lives on" {
  tsem create "$SEM"
  start tsem run "$SEM" bash -c 'tsem run --nested "$SEM" sleep 1000 & echo $! >nested; wait'
  eventually test -s nested
  eventually grep -qx sleep "/proc/$(<nested)/comm"
  pkill -KILL -P "$PID" bash
  finish "$PID"
  kill -0 "$(<nested)"
  expect_at_rest 1
}

@test "nested: a process that only has an ancestor's number in another PID namespace is not one" {
  unshare -pf --mount-proc true 2>/dev/null || skip 'needs a PID namespace'
  tsem create "$SEM"
  # The holder is the first process of a namespace, and so is the parent of the waiter.
  start unshare -pf --mount-proc --kill-child bash -c 'tsem acquire --owner $$ "$SEM"; sleep 1000; :'
  eventually is_shown .held 1
  attempt unshare -pf --mount-proc bash -c 'tsem run --nested -w 1ms "$SEM" touch ran; exit $?'
  expect_in_vain
  [[ ! -e ran ]]
}

@test "nested: what --nested excludes" {
  tsem create "$SEM"
  refuses "^$SEM,$SEM.other: --nested needs a single semaphore" run --nested "$SEM,$SEM.other" touch ran
  refuses "^$SEM: --nested and --any" run --nested --any "$SEM" touch ran
  refuses "^$SEM: --nested and --jobserver" run --nested --jobserver "$SEM" touch ran
  refuses "'--nested'" take --nested "$SEM"
  refuses "'--nested'" acquire --nested --owner $$ "$SEM"
  refuses "^$SEM: .*-n and -w" run --nested -n -w 1 "$SEM" touch ran
  [[ ! -e ran ]]
}

@test "nested: another number of permits, a count beyond it, and a missing semaphore are refused as without --nested" {
  refuses "^$SEM: no such semaphore" run --nested "$SEM" touch ran
  tsem create -j 2 "$SEM"
  attempt tsem run "$SEM" bash -c 'tsem run --nested -j 3 "$SEM" touch ran; exit $?'
  expect_failure "^$SEM: it exists with -j 2, not -j 3"
  attempt tsem run "$SEM" bash -c 'tsem run --nested -k 3 "$SEM" touch ran; exit $?'
  expect_failure "^$SEM: 3 permits"
  [[ ! -e ran ]]
  expect_at_rest 2
}

@test "nested: -v names both processes" {
  tsem create "$SEM"
  attempt tsem run "$SEM" bash -c 'echo $$ >holder; tsem run -v --nested "$SEM" bash -c "echo \$\$ >nested"; :'
  expect_message "^$SEM: process $(<nested) .*process $(<holder) \(--nested\)$"
  attempt bash -c 'echo $$ >holder; tsem acquire --owner $$ "$SEM"; exec tsem run -v --nested "$SEM" true'
  expect_message "^$SEM: process $(<holder) runs the command under its own permits \(--nested\)$"
}
