#!/bin/sh
# This script, for cron, runs COMMAND unless the previous one still runs under that NAME. In that case it says so and exits with 0.
# No lock file stays behind, whatever kills the command: when it has died, the next one runs.
#
#   */10 * * * *  once.sh backup /usr/local/bin/backup --all
#
# This line lets one command wait, and skips only the commands after that one:
#
#   tsem run -n -j 2 backup.line -- tsem run -j 1 backup -- /usr/local/bin/backup --all
set -u

[ $# -ge 2 ] || { echo 'usage: once.sh NAME COMMAND [ARGUMENT]...' >&2; exit 2; }
name=$1
shift

busy=113 # a status that the command does not use
tsem run -j 1 -n -E "$busy" "$name" -- "$@"
status=$?
[ "$status" -eq "$busy" ] || exit "$status"
echo "once: $name: skipped, still running:" >&2
tsem show --noheadings -o PID,TIME,COMMAND "$name" >&2
exit 0
