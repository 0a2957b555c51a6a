# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Loaded by every file of tests here: the helper of the tests of the command, and surroundings that tsem was not born
# into. What the system refuses is skipped, and says so.
load ../cli/helper

if [[ -n ${TSEM_STRANGERS-} ]]; then
  PATH=$TSEM_STRANGERS:$PATH # refuse, leaderless
fi

# A process whose first thread has ended shows no environment any more, by which the helper finds what is to be ended.
eval "helper_$(declare -f teardown)"
teardown() {
  local pid
  for pid in "${STARTED[@]}"; do
    ! is_zombie "$pid" || kill -KILL -- "-$pid" 2>/dev/null || true
  done
  helper_teardown
}

# What is missing is a failure, what is refused is not.
need() {
  local status=0
  "${@:2}" 2>/dev/null || status=$?
  ((status != 127)) || fail "not found: $2"
  ((status == 0)) || skip "$1 is refused here"
}

# ---- namespaces; each in front of a command, which is process 1 where it is of a PID namespace ----

OWN_PIDS=(unshare --pid --fork --kill-child --mount-proc)
# A leak checker gives up where /proc is not its own.
# shellcheck disable=SC2034 # used by name
OWN_PIDS_FOREIGN_PROC=(unshare --pid --fork --kill-child env "ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0")
OWN_TIME=(unshare --time --fork --kill-child --boottime 100000 --monotonic 50000)

need_own_pids() {
  need 'a PID namespace' "${OWN_PIDS[@]}" true
}

need_own_time() {
  need 'a time namespace' "${OWN_TIME[@]}" true
}

# Writing here makes the next process of the PID namespace get the pid that follows.
need_chosen_pids() {
  need_own_pids
  # shellcheck disable=SC2016
  need 'choosing a pid' "${OWN_PIDS[@]}" sh -c 'echo 4711 >/proc/sys/kernel/ns_last_pid'
}

# ---- what others see ----

# For all the prefixes in front of a command that are named by their variables: nobody gets the permit.
expect_not_robbed() {
  local prefix
  for prefix; do
    local -n words=$prefix
    attempt "${words[@]}" tsem recover "$SEM"
    expect_status 0
    expect_out 0
    attempt "${words[@]}" tsem take -n "$SEM"
    expect_silence 75
  done
}

# Used by name, in expect_not_robbed.
# shellcheck disable=SC2034
HERE=()

# The one permit has come back: somebody gets it, and returns it.
expect_recovered() {
  attempt "$@" tsem take -n "$SEM" &&
    expect_silence &&
    tsem post "$SEM" &&
    expect_at_rest 1
}

# The pid here of the first child of $1.
child_of() {
  CHILD=$(pgrep -P "$1" | head -n 1) && [[ -n $CHILD ]]
}

is_zombie() {
  [[ $(ps -o state= -p "$1") == Z* ]]
}
