# SPDX-License-Identifier: MIT
# The verbs that print, with 10,000 waiters and with 1,000 semaphores.
load helper

# A semaphore of one permit with a holder, and 10,000 threads of one process that wait for it.
need_crowd() {
  skip_under any '10,000 threads need too much memory with a sanitizer'
  tsem create "$SEM"
  hold
  start "$TSEM_CROWD" "$SEM" 10000
  CROWD_PID=$PID
  eventually crowd_waits_or_ended
  ! has_ended "$CROWD_PID" || skip '10,000 threads are not allowed here'
}

crowd_waits_or_ended() {
  has_ended "$CROWD_PID" ||
    [[ $(tsem list -J 2>/dev/null | jq --arg name "$SEM" '.semaphores[] | select(.name == $name).waiting') == 10000 ]]
}

@test "many: show, with 10,000 waiters" {
  need_crowd
  attempt tsem show "$SEM"
  expect_status 0
  expect_err ''
  expect_match 'the summary' "${OUT%%$'\n'*}" "^$SEM: 1 permit, 0 available, 1 held, 10000 waiting$"
  expect_equal 'waiters in order' \
    "$(awk '$1 == "waits" && $2 == ++n && $3 == pid && $NF == 10000 { right++ } END { print right }' pid="$CROWD_PID" attempt.out)" 10000
  expect_equal 'alive' "$(grep -c '^waits .* yes ' attempt.out)" 10000
  attempt tsem show --json "$SEM"
  expect_status 0
  expect_equal 'JSON' "$(jq -c '[.waiting, (.waiters | length), ([.waiters[].position] == [range(1; 10001)]),
    ([.waiters[] | [.pid, .alive]] | unique)]' attempt.out)" "[10000,10000,true,[[$CROWD_PID,\"yes\"]]]"
  # The holder has ticket 0.
  attempt tsem show "$SEM" -o POSITION,TICKET,PID --raw --noheadings
  expect_equal 'waiters by ticket' \
    "$(tail -n +2 attempt.out | awk '$1 == NR && $2 == NR && $3 == pid' pid="$CROWD_PID" | wc -l)" 10000
}

@test "many: show of a stopped process with 10,000 waiters, and of a dead one" {
  need_crowd
  kill -STOP "$CROWD_PID"
  eventually grep -q '^[0-9]* (crowd) T' "/proc/$CROWD_PID/stat"
  attempt tsem show "$SEM" -o STATE,ALIVE --raw --noheadings
  expect_equal 'stopped' "$(grep -c '^waits stopped$' attempt.out)" 10000
  kill -KILL "$CROWD_PID"
  finish "$CROWD_PID"
  attempt tsem show "$SEM" -o STATE,ALIVE --raw --noheadings
  expect_status 0
  expect_equal 'anything else' "$(sort -u attempt.out | paste -sd,)" 'holds yes,waits no'
  attempt tsem recover "$SEM"
  expect_status 0
}

@test "many: top, with 10,000 waiters" {
  need_crowd
  attempt tsem top -b -i 2 -d 10ms "$SEM"
  expect_status 0
  expect_equal 'lines' "$(grep -cE "^waits +[0-9]+ +$CROWD_PID " attempt.out)" 20000
  attempt tsem top -b -i 1
  expect_match 'the line' "$(grep "^$SEM " attempt.out)" '100% +1 +1 +10000 '
  need_emulator
  attempt python3 "$BATS_TEST_DIRNAME/screen.py" 100x12 "see:$SEM: 1 permit, .* 10000 waiting" "see:^holds +$COMMAND_PID " \
    "see:^waits +1 +$CROWD_PID " 'key:\x1bOF' "see:^waits +10000 +$CROWD_PID " 'gone:^holds' 'key:\x1bOH' "see:^holds +$COMMAND_PID " \
    size:1x1 size:200x50 "see:^waits +4[0-9] +$CROWD_PID " 'key:\x1b' "see:^$SEM .* 10000 |semaphores" key:q restored:0 \
    -- tsem top -d 50ms "$SEM"
  expect_status 0
}

@test "many: list and top, with 1,000 semaphores" {
  need_private_shm
  DEADLINE=120 attempt private-shm 100m bash -ec '
    for i in {1000..1999}; do tsem create -j 2 s$i; done
    tsem take s1500
    tsem list >table; tsem list -J >json; tsem top -b -i 1 -s held >top'
  expect_silence
  expect_equal 'lines, in order' "$(awk '$1 == "s" (999 + n++) && n > 1 { right++ } END { print right, n }' table)" '1000 1001'
  expect_equal 'JSON' "$(jq -c '.semaphores | [length, (map(.held) | add), (map(.name) | . == sort)]' json)" '[1000,1,true]'
  expect_equal 'top' "$(grep -c ' 2 ' top)" 1000
  expect_match 'the first in top' "$(sed -n 3p top)" '^s1500 '
}
