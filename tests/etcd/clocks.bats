# SPDX-License-Identifier: MIT
# On a real etcd: processes that stand still, a machine that was suspended, and a wall clock that jumps.
# shellcheck disable=SC2016 # the inner shells expand these
load helper

keeper_of() {
  pgrep -P "$1" -x tsem-keeper
}

# signal_group NUMBER PID: `tsem run` and its command, but not the keeper, which has a session of its own.
signal_group() {
  kill "-$1" -- "-$2"
}

@test "etcd clocks: a job that is stopped for longer than the lifetime keeps its permits" {
  prepare
  hold --ttl 2
  local holder=$PID
  enqueue tsem run --ttl 2 "$SEM" -- true
  local next=$PID
  signal_group STOP "$holder"
  attempt tsem wait -w 3 "$SEM"
  expect_in_vain
  expect_shown '[.holders[0].pid, .waiting] | @csv' "$holder,1"
  signal_group CONT "$holder"
  kill "$COMMAND_PID"
  finish "$next"
  expect_status 0
}

# As a machine that stands still: the next one is admitted. Then the command gets its signal before it has done much.
@test "etcd clocks: a job whose keeper is stopped, too, loses its hold and gets to know it" {
  prepare
  start sh -c 'exec tsem run --ttl 2 "$SEM" -- sleep 1000 2>message'
  local holder=$PID its_keeper
  eventually is_shown .held 1
  its_keeper=$(keeper_of "$holder")
  kill -STOP "$its_keeper"
  signal_group STOP "$holder"
  attempt tsem run "$SEM" -- true
  expect_status 0
  signal_group CONT "$holder"
  kill -CONT "$its_keeper"
  finish "$holder"
  expect_status 125
  expect_match 'the message' "$(<message)" "^tsem: $SEM: the hold is lost: "
}

# jump PID SECONDS: its CLOCK_BOOTTIME advances, as that of a machine that was suspended, and its CLOCK_MONOTONIC does not.
jump() {
  start unshare --time --boottime "$2" sleep 1000
  eventually grep -qx sleep "/proc/$PID/comm"
  gdb -nx -batch -p "$1" -ex "call (int)open(\"/proc/$PID/ns/time\", 0)" -ex 'call (int)setns($, 0)' >gdb.out 2>&1 || true
  grep -qx '\$2 = 0' gdb.out || skip "gdb cannot move the process to a time namespace: $(tail -1 gdb.out)"
}

@test "etcd clocks: a command does not go on after its machine was suspended for longer than the lifetime" {
  prepare
  start sh -c 'exec tsem run --ttl 600 "$SEM" -- sleep 1000 2>message'
  local holder=$PID
  eventually is_shown .held 1
  jump "$(keeper_of "$holder")" 600
  finish "$holder"
  expect_status 125
  expect_match 'the message' "$(<message)" "^tsem: $SEM: the hold is lost: .*stood still"
}

# The lease lives on, as the store has not been told of the suspension.
@test "etcd clocks: a waiter whose machine was suspended confirms its lease before its command begins" {
  prepare
  start tsem run "$SEM" -- sh -c 'until [ -e end ]; do sleep 0.01; done'
  eventually is_shown .held 1
  enqueue tsem run --ttl 600 "$SEM" -- touch ran
  local waiter=$PID
  jump "$(keeper_of "$waiter")" 600
  : >end
  finish "$waiter"
  expect_status 0
  [[ -e ran ]] || fail 'the command has not run'
}

@test "etcd clocks: a wall clock that jumps by a day, there and back, ends no hold and no wait" {
  local library=(/usr/lib/*/faketime/libfaketimeMT.so.1) next offset
  [[ -e ${library[0]} ]] || skip 'there is no libfaketime'
  # The file `offset` says by how much CLOCK_REALTIME is wrong.
  local wrongly=(env LD_PRELOAD="${library[0]}" FAKETIME_TIMESTAMP_FILE="$PWD/offset"
    FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_NO_CACHE=1 FAKETIME_DISABLE_SHM=1)
  prepare
  echo +0 >offset
  start "${wrongly[@]}" tsem run --ttl 2 "$SEM" -- sh -c 'until [ -e end ]; do date +%F >>days; sleep 0.01; done'
  eventually is_shown .held 1
  enqueue "${wrongly[@]}" tsem run --ttl 2 -w 1000 "$SEM" -- touch ran
  next=$PID
  for offset in +86400 -86400 +0; do
    echo "$offset" >offset
    attempt "${wrongly[@]}" tsem wait -w 1 "$SEM"
    expect_in_vain
    expect_shown '[.held, .waiting, .holders[0].seconds >= 0, .waiters[0].seconds >= 0] | @csv' '1,1,true,true'
  done
  expect_equal 'the days that the command saw' "$(sort -u days | wc -l)" 3
  : >end
  finish "$next"
  expect_status 0
  [[ -e ran ]] || fail 'the command has not run'
}
