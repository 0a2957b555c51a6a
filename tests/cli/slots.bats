# SPDX-License-Identifier: MIT
# TSEM_SLOT and TSEM_SLOTS, TSEM_RECOVERED and --on-recovered.
load helper

@test "slots: each command has a number of its own, the lowest free one" {
  tsem create -j 3 "$SEM"
  hold
  hold
  local second=$PID second_command=$COMMAND_PID
  expect_shown '[.holders[].slot] | @csv' 0,1
  kill "$second_command"
  finish "$second"
  attempt tsem run "$SEM" sh -c 'echo "$TSEM_SLOT"'
  expect_out 1
  attempt tsem run "$SEM" sh -c 'tsem run "$SEM" sh -c "echo \$TSEM_SLOT"; echo "$TSEM_SLOT"'
  expect_out $'2\n1'
}

@test "slots: -k K has K numbers" {
  tsem create -j 5 "$SEM"
  hold
  attempt tsem run -k 3 "$SEM" sh -c 'echo "$TSEM_SLOT $TSEM_SLOTS"'
  expect_out '1 1,2,3'
  attempt tsem run -k 3 "$SEM" sh -c 'tsem show -J "$SEM" | jq -c "[.holders[] | [.slot, .slots]]"'
  expect_out '[[0,null],[1,[1,2,3]]]'
  attempt tsem run -k 2 "$SEM" tsem show --raw --noheadings -o SLOT,SLOTS "$SEM"
  expect_out $'0 0\n1 1,2'
}

@test "slots: two live commands never have the same number, though some die" {
  local pids=()
  mkdir in
  for _ in {1..40}; do
    start tsem run -j 4 "$SEM" sh -c 'mkdir "in/$TSEM_SLOT" || touch fault
      [ "$TSEM_SLOT" -lt 4 ] || touch fault
      rmdir "in/$TSEM_SLOT"
      [ $(($$ % 3)) -ne 0 ] || kill -KILL $$'
    pids+=("$PID")
  done
  for PID in "${pids[@]}"; do
    finish "$PID"
  done
  [[ ! -e fault ]]
  expect_at_rest 4
}

@test "slots: --slot-env puts them into a variable of any name" {
  tsem create -j 4 "$SEM"
  hold
  attempt tsem run --slot-env CARD "$SEM" sh -c 'echo "$TSEM_SLOT $CARD"'
  expect_out '1 1'
  attempt tsem run --slot-env CARD -k 2 "$SEM" sh -c 'echo "$CARD"'
  expect_out 1,2
  attempt tsem run --slot-env CARD "$SEM" tsem run --nested --slot-env INNER "$SEM" sh -c 'echo "$CARD $INNER"'
  expect_out '1 1'
}

@test "slots: the variable of --slot-env is empty if no slot is left" {
  tsem create -j 1025 "$SEM"
  attempt env CARD=7 tsem run -k 1024 "$SEM" tsem run --slot-env CARD "$SEM" sh -c 'echo "${TSEM_SLOT-none} ${CARD-none}"'
  expect_out 'none '
}

@test "slots: the variables of a surrounding run are not passed on" {
  tsem create "$SEM"
  attempt env TSEM_RECOVERED=1 TSEM_SLOT=7 TSEM_SLOTS=7,8 tsem run "$SEM" sh -c 'echo "${TSEM_RECOVERED-none} $TSEM_SLOT $TSEM_SLOTS"'
  expect_out 'none 0 0'
}

@test "recovered: the next command learns that a command was killed, once" {
  tsem create "$SEM"
  attempt tsem run "$SEM" sh -c 'kill -KILL $$'
  expect_status 137
  attempt tsem run "$SEM" sh -c 'echo "${TSEM_RECOVERED-none}"'
  expect_out 1
  attempt tsem run "$SEM" sh -c 'echo "${TSEM_RECOVERED-none}"'
  expect_out none
}

@test "recovered: the next command learns that a tsem was killed with its command" {
  tsem create "$SEM"
  hold
  kill -KILL "$PID" "$COMMAND_PID"
  attempt tsem run "$SEM" sh -c 'echo "${TSEM_RECOVERED-none}"'
  expect_out 1
}

expect_recovered_is() {
  attempt tsem run "$SEM" sh -c 'echo "${TSEM_RECOVERED-none}"'
  expect_out "$1"
}

@test "recovered: if a permit was not used, the next command learns of the death" {
  tsem create "$SEM"
  attempt tsem run "$SEM" sh -c 'kill -KILL $$'
  attempt bash -c 'ulimit -n 10; exec tsem run --jobserver "$SEM" true' # its descriptors start at 10
  expect_failure "^$SEM: cannot make the pipes of a jobserver"
  expect_recovered_is 1
}

@test "recovered: if the process that got the permit died, the next command learns of the first death" {
  tsem create "$SEM"
  hold
  local holder=$PID
  start sleep 1000
  local owner=$PID
  enqueue tsem acquire --owner "$owner" "$SEM"
  local waiter=$PID
  kill "$owner"
  finish "$owner"
  kill -KILL "$COMMAND_PID"
  finish "$holder"
  finish "$waiter"
  expect_status 125
  expect_recovered_is 1
  expect_recovered_is none
}

@test "recovered: a command that ends by itself is not reported, even if another process sees it first" {
  tsem create "$SEM"
  local pids=()
  for _ in {1..30}; do
    start tsem run "$SEM" sh -c 'echo "${TSEM_RECOVERED-none}" >>recovered; exit 3'
    pids+=("$PID")
  done
  while [[ -n ${pids[*]} ]]; do
    tsem recover "$SEM" >/dev/null
    has_ended "${pids[0]}" && pids=("${pids[@]:1}")
  done
  expect_equal 'TSEM_RECOVERED of all' "$(sort recovered | uniq -c | tr -s ' ')" ' 30 none'
  expect_equal 'recovered' "$(tsem show -J --stats "$SEM" | jq '.. | .recovered? // empty')" 0
}

@test "recovered: if a command cannot be executed, the next one learns of the death" {
  skip_under thread 'its vfork() is a fork()'
  tsem create "$SEM"
  attempt tsem run "$SEM" sh -c 'kill -KILL $$'
  attempt tsem run "$SEM" ./no-such-command
  expect_status 127
  attempt tsem run "$SEM" sh -c 'echo "${TSEM_RECOVERED-none}"'
  expect_out 1
}

@test "recovered: acquire -v reports it, and the next command learns it as well" {
  tsem create -j 2 "$SEM"
  hold
  kill -KILL "$PID" "$COMMAND_PID"
  eventually has_ended "$COMMAND_PID"
  tsem recover "$SEM"
  attempt tsem acquire --owner $$ "$SEM"
  expect_silence
  attempt tsem acquire -v --owner $$ "$SEM"
  expect_status 0
  expect_message "^$SEM: an earlier holder died"
  tsem release --owner $$ "$SEM"
  attempt tsem run "$SEM" sh -c 'echo "${TSEM_RECOVERED-none}"'
  expect_out 1
}

@test "recovered: --on-recovered runs before the command, and only if a holder died" {
  tsem create "$SEM"
  attempt tsem run --on-recovered 'echo repair' "$SEM" echo ran
  expect_out ran
  attempt tsem run "$SEM" sh -c 'kill -KILL $$'
  attempt tsem run --on-recovered 'echo "repair $TSEM_RECOVERED"' "$SEM" printf '%s\n' 'ran  so' '$HOME'
  expect_out $'repair 1\nran  so\n$HOME'
  expect_status 0
}

@test "recovered: --on-recovered fails: the command does not run, and the next one learns it" {
  tsem create "$SEM"
  attempt tsem run "$SEM" sh -c 'kill -KILL $$'
  attempt tsem run --on-recovered 'exit 4' "$SEM" touch ran
  expect_failure "^$SEM: the command of --on-recovered failed"
  [[ ! -e ran ]]
  attempt tsem run "$SEM" sh -c 'echo "${TSEM_RECOVERED-none}"'
  expect_out 1
}

@test "recovered: with --on-recovered, the command may exit with 125 itself" {
  tsem create "$SEM"
  attempt tsem run --on-recovered 'echo repair' "$SEM" sh -c 'exit 125'
  expect_silence 125
  attempt tsem run --on-recovered 'echo repair' "$SEM" true
  expect_silence
  attempt tsem run "$SEM" sh -c 'kill -KILL $$'
  attempt tsem run --on-recovered 'echo repair' "$SEM" sh -c 'echo ran; exit 125'
  expect_status 125
  expect_out $'repair\nran'
  expect_err ''
  attempt tsem run --on-recovered 'echo repair' "$SEM" true
  expect_silence
}

@test "recovered: after --on-recovered, a missing command is named, and the next command learns of the death" {
  tsem create "$SEM"
  attempt tsem run "$SEM" sh -c 'kill -KILL $$'
  attempt tsem run --on-recovered : "$SEM" "$PWD/none"
  expect_status 127
  expect_message "^$SEM: cannot run '$PWD/none': No such file"
  expect_recovered_is 1
}

@test "recovered: a signal that ends tsem run ends --on-recovered first, and the command does not run" {
  local signal
  tsem create "$SEM"
  for signal in TERM INT; do
    attempt tsem run "$SEM" sh -c 'kill -KILL $$'
    rm -f repairing cleaned
    start tsem run --on-recovered "trap 'touch cleaned; exit 0' $signal; touch repairing; while :; do sleep 0.01; done" \
      "$SEM" touch ran
    eventually test -e repairing
    kill "-$signal" "$PID"
    finish "$PID"
    expect_status $((128 + $(kill -l "$signal")))
    [[ -e cleaned && ! -e ran ]]
    expect_recovered_is 1
  done
}

@test "recovered: the permit stays held from --on-recovered to the end of the command, also if tsem is killed" {
  tsem create "$SEM"
  attempt tsem run "$SEM" sh -c 'kill -KILL $$'
  mkfifo first second
  start tsem run --on-recovered 'read -r _ <first' "$SEM" sh -c 'read -r _ <second; touch ran'
  eventually is_shown .held 1
  kill -KILL "$PID"
  finish "$PID"
  attempt tsem run -n "$SEM" true
  expect_silence 75
  echo >first
  attempt tsem run -n "$SEM" true
  expect_silence 75
  echo >second
  attempt tsem run "$SEM" true
  expect_silence
  [[ -e ran ]]
}
