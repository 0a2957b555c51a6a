# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Loaded by every file of tests here: the helper of the tests of the command, and surroundings that tsem was not born
# into, most of them a program of ./programs to put in front of a command. What the system refuses is skipped, and says so.
load ../cli/helper

[[ -z ${TSEM_ENVIRONMENTS-} ]] || TSEM_ENVIRONMENTS=$(realpath "$TSEM_ENVIRONMENTS")
PATH=${TSEM_ENVIRONMENTS:+$TSEM_ENVIRONMENTS:}${BASH_SOURCE[0]%/*}/programs:$PATH # refuse and leaderless are built

# A process whose first thread has ended shows no environment any more, by which the helper finds what is to be ended.
teardown() {
  local pid
  for pid in "${STARTED[@]}"; do
    ! is_zombie "$pid" || kill -KILL -- "-$pid" 2>/dev/null || true
  done
  end_all
}

# What is missing is a failure, what is refused is not.
need() {
  local status=0
  "${@:2}" 2>/dev/null || status=$?
  ((status != 127)) || fail "not found: $2"
  ((status == 0)) || skip "$1 is refused here"
}

# ---- namespaces ----

need_own_pids() {
  need 'a PID namespace' own-pids true
}

need_own_time() {
  need 'a time namespace' own-time true
}

# Writing here makes the next process of the PID namespace get the pid that follows.
need_chosen_pids() {
  need_own_pids
  # shellcheck disable=SC2016
  need 'choosing a pid' own-pids sh -c 'echo 4711 >/proc/sys/kernel/ns_last_pid'
}

# ---- what others see ----

# No permit is free for a process that is started with these words in front.
expect_none_available() {
  attempt "$@" tsem recover "$SEM" &&
    expect_status 0 &&
    expect_out 0 &&
    attempt "$@" tsem take -n "$SEM" &&
    expect_silence 75
}

# The one permit is free: a process that is started with these words in front gets it, and the permit comes back.
expect_recovered() {
  attempt "$@" tsem take -n "$SEM" &&
    expect_silence &&
    tsem post "$SEM" &&
    expect_at_rest 1
}

is_zombie() {
  [[ $(ps -o state= -p "$1") == Z* ]]
}
