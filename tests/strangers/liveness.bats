#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Owners that look dead and are not, or the other way round; and judges that are not told all.
# shellcheck disable=SC2016,SC2034,SC2054 # scripts in quotes are for shells inside; arrays are used by name
load strangers

# A holder whose first thread has ended and whose other one lives on until something comes through the FIFO: PID.
start_leaderless() {
  not_under thread 'ThreadSanitizer does not know a first thread that has ended'
  mkfifo fifo
  start sh -c 'exec leaderless "$SEM" <fifo >alone'
  exec 9>fifo
  eventually grep -qx alone alone
  eventually is_zombie "$PID"
}

end_leaderless() {
  exec 9>&-
  finish "$PID"
  expect_status 0
}

# A holder that has died and that its parent, which is stopped, does not wait for: COMMAND_PID.
start_zombie() {
  hold
  kill -STOP "$PID"
  kill -KILL "$COMMAND_PID"
  eventually is_zombie "$COMMAND_PID"
}

NO_PIDFD=(refuse pidfd_open)

need_refuse() {
  need 'a seccomp filter' refuse pidfd_open,kill true
}

@test "liveness: a process lives as long as one of its threads" {
  tsem create "$SEM"
  start_leaderless
  expect_shown '.holders[0].alive' yes
  expect_not_robbed HERE
  end_leaderless
  expect_recovered
}

@test "liveness: the same, where pidfd_open is refused" {
  need_refuse
  tsem create "$SEM"
  start_leaderless
  expect_not_robbed NO_PIDFD
  end_leaderless
  expect_recovered "${NO_PIDFD[@]}"
}

@test "liveness: the same, seen from another time namespace" {
  need_own_time
  tsem create "$SEM"
  start_leaderless
  expect_not_robbed OWN_TIME
  end_leaderless
  expect_recovered "${OWN_TIME[@]}"
}

@test "liveness: a zombie is dead, also where pidfd_open is refused" {
  need_refuse
  local prefix
  for prefix in HERE NO_PIDFD; do
    tsem create "$SEM"
    start_zombie
    local -n words=$prefix
    expect_recovered "${words[@]}"
    tsem remove "$SEM"
  done
}

@test "liveness: a zombie is dead, also in another time namespace where pidfd_open is refused" {
  need_own_time
  need_refuse
  local prefix
  NO_PIDFD_OWN_TIME=("${NO_PIDFD[@]}" "${OWN_TIME[@]}")
  for prefix in OWN_TIME NO_PIDFD_OWN_TIME; do
    tsem create "$SEM"
    start_zombie
    local -n words=$prefix
    expect_recovered "${words[@]}"
    tsem remove "$SEM"
  done
}

@test "liveness: where nothing may be asked, nobody is dead" {
  need_refuse
  need 'a PID namespace' "${OWN_PIDS_FOREIGN_PROC[@]}" true
  tsem create "$SEM"
  # Neither kill nor pidfd_open answer, and /proc is another namespace's: even the dead count as alive.
  attempt "${OWN_PIDS_FOREIGN_PROC[@]}" bash -c 'sleep 1000 & owner=$!
    tsem acquire --owner "$owner" "$SEM"
    kill -KILL "$owner"; wait "$owner"
    refuse pidfd_open,kill tsem take -n "$SEM"; echo "refused: $?"
    refuse pidfd_open tsem take -n "$SEM"; echo "gone: $?"' 2>/dev/null
  expect_out $'refused: 75\ngone: 0'
}

@test "liveness: without kill and pidfd_open, /proc still tells the living from the dead" {
  need_refuse
  tsem create "$SEM"
  hold
  NEITHER=(refuse pidfd_open,kill)
  expect_not_robbed NEITHER
  kill -STOP "$PID"
  kill -KILL "$COMMAND_PID"
  eventually is_zombie "$COMMAND_PID"
  expect_recovered "${NEITHER[@]}"
}

@test "liveness: a stopped holder keeps its permit" {
  tsem create "$SEM"
  hold
  kill -STOP "$PID" "$COMMAND_PID"
  expect_not_robbed HERE
  expect_shown '.holders[0].alive' yes
  kill -CONT "$COMMAND_PID"
  kill -TERM "$COMMAND_PID"
  kill -CONT "$PID"
  finish "$PID"
  expect_status 143
  expect_at_rest 1
}

@test "liveness: a stopped waiter keeps its place, and its permit once it is enabled" {
  tsem create "$SEM"
  tsem take "$SEM"
  enqueue tsem run "$SEM" touch first
  local first=$PID
  kill -STOP "$first"
  enqueue tsem run "$SEM" sh -c '[ -e first ] && touch second'
  tsem post "$SEM"
  expect_not_robbed HERE
  expect_shown '[.holders[].pid, .waiters[].pid] | @csv' "$first,$PID"
  kill -CONT "$first"
  finish "$first"
  finish "$PID"
  [[ -e second ]]
  expect_at_rest 1
}

@test "liveness: an emulator that makes up what a process reads about itself" {
  need 'a mount namespace' unshare --mount true
  tsem create "$SEM"
  hold
  # As QEMU's user mode does: zeros but for a start time of its own.
  FORGED=(unshare --mount sh -c 'awk "{ for (i = 5; i <= NF; i++) \$i = 0; \$22 = 12345; print }" /proc/$$/stat >forged-$$ &&
    mount --bind forged-$$ /proc/$$/stat && exec "$@"' sh)
  need 'mounting on a file in /proc' "${FORGED[@]}" true
  enqueue "${FORGED[@]}" tsem run "$SEM" true
  expect_not_robbed HERE
  expect_shown '.waiters[0] | [.pid, .alive] | @csv' "$PID,\"yes\""
  kill -TERM "$COMMAND_PID"
  finish "$PID"
  expect_status 0
  expect_at_rest 1
}
