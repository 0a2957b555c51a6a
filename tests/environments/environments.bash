# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Loaded by every test file here: the helper of the tests of the command, and unusual environments. Most of them are a
# program of ./programs in front of a command. If the system refuses an environment, the test is skipped with a reason.
load ../cli/helper

[[ -z ${TSEM_ENVIRONMENTS-} ]] || TSEM_ENVIRONMENTS=$(realpath "$TSEM_ENVIRONMENTS")
PATH=${TSEM_ENVIRONMENTS:+$TSEM_ENVIRONMENTS:}${BASH_SOURCE[0]%/*}/programs:$PATH # refuse and leaderless are built

# The helper finds processes by their environment, which a process without its first thread does not show.
teardown() {
  local pid
  for pid in "${STARTED[@]}"; do
    ! is_zombie "$pid" || kill -KILL -- "-$pid" 2>/dev/null || true
  done
  end_all
}

# A missing program is a failure; a refused one skips the test.
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

# A write to ns_last_pid gives the next process of the PID namespace the following pid.
need_chosen_pids() {
  need_own_pids
  # shellcheck disable=SC2016
  need 'choosing a pid' own-pids sh -c 'echo 4711 >/proc/sys/kernel/ns_last_pid'
}

# ---- what other processes see ----

# A process that is started with these words in front finds no permit available.
expect_none_available() {
  attempt "$@" tsem recover "$SEM" &&
    expect_status 0 &&
    expect_out 0 &&
    attempt "$@" tsem take -n "$SEM" &&
    expect_silence 75
}

# A process that is started with these words in front gets the only permit, which then comes back.
expect_recovered() {
  attempt "$@" tsem take -n "$SEM" &&
    expect_silence &&
    tsem post "$SEM" &&
    expect_at_rest 1
}

is_zombie() {
  [[ $(ps -o state= -p "$1") == Z* ]]
}
