#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Other users, with and without permission, and what they can tell about each other's processes.
# shellcheck disable=SC2016,SC2034 # the scripts in quotes are for shells inside; arrays are used by name
load strangers

AS_SOMEBODY=(setpriv --reuid=12345 --regid=12345 --clear-groups --)

@test "users: without permission nothing happens" {
  need_another_user
  tsem create "$SEM"
  attempt "${AS_NOBODY[@]}" tsem take -n "$SEM"
  expect_failure 'permission denied'
  attempt "${AS_NOBODY[@]}" tsem take -n --foreign "$SEM"
  expect_failure 'permission denied'
  attempt "${AS_NOBODY[@]}" tsem remove -f "$SEM"
  expect_status 125
  expect_at_rest 1
}

@test "users: a semaphore of root's, for all: nobody is robbed, and the dead are recovered both ways" {
  need_another_user
  tsem create -m 0666 "$SEM"
  hold
  expect_not_robbed HERE AS_NOBODY
  kill -KILL "$PID" "$COMMAND_PID"
  finish "$PID"
  eventually has_ended "$COMMAND_PID"
  expect_recovered "${AS_NOBODY[@]}"

  start "${AS_NOBODY[@]}" tsem run "$SEM" sleep 1000
  eventually is_shown '.holders[0].uid' 65534
  expect_not_robbed HERE AS_NOBODY AS_SOMEBODY
  kill -KILL -- "-$PID"
  finish "$PID"
  eventually expect_recovered "${AS_SOMEBODY[@]}"
}

@test "users: a semaphore of another user's is used only if that is asked for" {
  need_another_user
  "${AS_SOMEBODY[@]}" tsem create -m 0666 "$SEM"
  local who
  for who in HERE AS_NOBODY; do
    local -n words=$who
    attempt "${words[@]}" tsem take -n "$SEM"
    expect_failure 'belongs to another user'
    attempt "${words[@]}" tsem take -n --foreign "$SEM"
    expect_silence
    attempt "${words[@]}" tsem post --foreign "$SEM"
    expect_silence
  done
  expect_at_rest 1
}

@test "users: a waiter that may not be signalled is neither skipped nor lost" {
  need_another_user
  tsem create -m 0666 "$SEM"
  "${AS_NOBODY[@]}" tsem take "$SEM"
  enqueue tsem run "$SEM" touch ran
  expect_not_robbed AS_NOBODY
  attempt "${AS_NOBODY[@]}" tsem post "$SEM"
  finish "$PID"
  [[ -e ran ]]
  expect_at_rest 1
}

@test "users: where /proc hides other users' processes, nobody is robbed, and the dead are still known" {
  need_another_user
  need 'a /proc that hides' unshare --mount sh -c 'mount -t proc -o hidepid=2 proc /proc'
  HIDDEN=(unshare --mount sh -c 'mount -t proc -o hidepid=2 proc /proc && exec "$@"' hidden "${AS_NOBODY[@]}")
  tsem create -m 0666 "$SEM"
  hold
  attempt "${HIDDEN[@]}" test -e "/proc/$COMMAND_PID"
  expect_status 1 # it does hide
  expect_not_robbed HIDDEN
  kill -KILL "$PID" "$COMMAND_PID"
  finish "$PID"
  eventually has_ended "$COMMAND_PID"
  eventually expect_recovered "${HIDDEN[@]}"
}

@test "users: in a user namespace of one's own" {
  need 'a user namespace' unshare --user --map-root-user true
  OWN_USERS=(unshare --user --map-root-user)
  tsem create "$SEM"
  start "${OWN_USERS[@]}" tsem run "$SEM" sleep 1000
  eventually is_shown .held 1
  expect_not_robbed HERE OWN_USERS
  kill -KILL -- "-$PID"
  finish "$PID"
  eventually expect_recovered "${OWN_USERS[@]}"
  hold
  expect_not_robbed OWN_USERS
}

@test "users: the semaphore of the user with the number that stands for unknown users is his own" {
  need_another_user
  "${AS_NOBODY[@]}" tsem create "$SEM"
  attempt "${AS_NOBODY[@]}" tsem take -n "$SEM"
  expect_silence
  attempt tsem take -n "$SEM"
  expect_failure 'belongs to another user'
}

@test "users: where all users look alike, another user's semaphore is still another user's" {
  need_another_user
  need 'a user namespace' unshare --user true
  "${AS_SOMEBODY[@]}" tsem create -m 0666 "$SEM"
  attempt unshare --user tsem take -n "$SEM"
  expect_failure 'belongs to another user'
  expect_at_rest 1
}

@test "users: fs.protected_regular=2: a semaphore of another user's can be used, since it is never opened with O_CREAT" {
  need_another_user
  local setting
  setting=$(</proc/sys/fs/protected_regular)
  if ((setting < 2)); then
    [[ -n ${TSEM_TEST_SYSCTL-} ]] || skip "fs.protected_regular is $setting (TSEM_TEST_SYSCTL=1 lets this test change it)"
    echo 2 >/proc/sys/fs/protected_regular
  fi
  tsem create -m 0666 "$SEM"
  attempt "${AS_NOBODY[@]}" tsem run -j 1 "$SEM" echo ran
  echo "$setting" >/proc/sys/fs/protected_regular
  expect_out ran
  expect_at_rest 1
}

@test "users: a link to a semaphore of root's, made by a user who may write to it, is not trusted" {
  need_another_user
  tsem create -j 8 -m 0666 "$SEM"
  "${AS_NOBODY[@]}" tsem take -k 8 "$SEM"
  need 'linking what one may write' "${AS_NOBODY[@]}" ln "$FILE" "$FILE-report"
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
