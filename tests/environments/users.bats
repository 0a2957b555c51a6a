#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Other users, with and without permission, and what they can find out about each other's processes.
load environments

@test "users: without permission nothing happens" {
  need_another_user
  tsem create "$SEM"
  attempt as-nobody tsem take -n "$SEM"
  expect_failure 'permission denied'
  attempt as-nobody tsem take -n --foreign "$SEM"
  expect_failure 'permission denied'
  attempt as-nobody tsem remove -f "$SEM"
  expect_status 125
  expect_at_rest 1
}

@test "users: a semaphore of root for all users: live owners keep their permits, and dead ones are recovered both ways" {
  need_another_user
  tsem create -m 0666 "$SEM"
  hold
  expect_none_available
  expect_none_available as-nobody
  kill -KILL "$PID" "$COMMAND_PID"
  finish "$PID"
  eventually has_ended "$COMMAND_PID"
  expect_recovered as-nobody

  start as-nobody tsem run "$SEM" sleep 1000
  eventually is_shown '.holders[0].uid' 65534
  expect_none_available
  expect_none_available as-nobody
  expect_none_available as-other-user
  kill -KILL -- "-$PID"
  finish "$PID"
  eventually expect_recovered as-other-user
}

@test "users: another user's semaphore is used only with --foreign" {
  need_another_user
  as-other-user tsem create -m 0666 "$SEM"
  local prefix
  for prefix in env as-nobody; do # env: as this user
    attempt "$prefix" tsem take -n "$SEM"
    expect_failure 'belongs to .*, another user'
    attempt "$prefix" tsem take -n --foreign "$SEM"
    expect_silence
    attempt "$prefix" tsem post --foreign "$SEM"
    expect_silence
  done
  expect_at_rest 1
}

@test "users: a waiter that may not be signalled is neither skipped nor lost" {
  need_another_user
  tsem create -m 0666 "$SEM"
  as-nobody tsem take "$SEM"
  enqueue tsem run "$SEM" touch ran
  expect_none_available as-nobody
  attempt as-nobody tsem post "$SEM"
  finish "$PID"
  [[ -e ran ]]
  expect_at_rest 1
}

@test "users: where /proc hides other users' processes, live owners keep their permits, and dead ones are still found" {
  need_another_user
  need 'a /proc that hides' unshare --mount hidden-proc true
  tsem create -m 0666 "$SEM"
  hold
  attempt unshare --mount hidden-proc as-nobody test -e "/proc/$COMMAND_PID"
  expect_status 1 # the process is hidden
  expect_none_available unshare --mount hidden-proc as-nobody
  kill -KILL "$PID" "$COMMAND_PID"
  finish "$PID"
  eventually has_ended "$COMMAND_PID"
  eventually expect_recovered unshare --mount hidden-proc as-nobody
}

@test "users: in a user namespace" {
  need 'a user namespace' unshare --user --map-root-user true
  tsem create "$SEM"
  start unshare --user --map-root-user tsem run "$SEM" sleep 1000
  eventually is_shown .held 1
  expect_none_available
  expect_none_available unshare --user --map-root-user
  kill -KILL -- "-$PID"
  finish "$PID"
  eventually expect_recovered unshare --user --map-root-user
  hold
  expect_none_available unshare --user --map-root-user
}

@test "users: the user with the number that stands for unknown users may use a semaphore of its own" {
  need_another_user
  as-nobody tsem create "$SEM"
  attempt as-nobody tsem take -n "$SEM"
  expect_silence
  attempt tsem take -n "$SEM"
  expect_failure 'belongs to .*, another user'
}

@test "users: where all users look alike, another user's semaphore is still refused" {
  need_another_user
  need 'a user namespace' unshare --user true
  as-other-user tsem create -m 0666 "$SEM"
  attempt unshare --user tsem take -n "$SEM"
  expect_failure 'belongs to .*, another user'
  expect_at_rest 1
}

@test "users: fs.protected_regular=2: another user's semaphore can be used, because it is never opened with O_CREAT" {
  need_another_user
  local setting
  setting=$(</proc/sys/fs/protected_regular)
  if ((setting < 2)); then
    [[ -n ${TSEM_TEST_SYSCTL-} ]] || skip "fs.protected_regular is $setting (TSEM_TEST_SYSCTL=1 lets this test change it)"
    echo 2 >/proc/sys/fs/protected_regular
  fi
  tsem create -m 0666 "$SEM"
  attempt as-nobody tsem run -j 1 "$SEM" echo ran
  echo "$setting" >/proc/sys/fs/protected_regular
  expect_out ran
  expect_at_rest 1
}

@test "users: a link to a semaphore of root, made by a user with write permission, is not trusted" {
  need_another_user
  tsem create -j 8 -m 0666 "$SEM"
  as-nobody tsem take -k 8 "$SEM"
  need 'linking what one may write' as-nobody ln "$FILE" "$FILE-report"
  attempt tsem run -n -E 0 -j 8 "$SEM-report" touch ran
  expect_failure "^$SEM-report: the file has another name, a hard link"
  attempt tsem run -n -E 0 --foreign -j 8 "$SEM-report" touch ran
  expect_failure "^$SEM-report: the file has another name"
  attempt tsem remove "$SEM-report"
  expect_failure "^$SEM-report: the file has another name"
  [[ ! -e ran && -e $FILE-report ]]
  attempt tsem remove -f "$SEM-report"
  expect_silence
  [[ ! -e $FILE-report ]]
  tsem post -k 8 "$SEM"
  expect_at_rest 8
}
