#!/bin/bash
# This script runs the commands on its standard input, one per line, at most PERMITS of them at a time. The limit belongs to the
# pool and not to this process: all scripts that use the same POOL at the same time share it. A command that waits is one sleeping
# process. When a command dies, even by SIGKILL, its permit comes back. TSEM_SLOT is a number from 0 on that no other running
# command of the pool has; it can select a port, a device or a directory.
#
# The script exits with 1 if a command failed, and says which.
#
#   printf 'gzip -k %s\n' *.log | job_pool.sh compress 4
set -u

(($# == 2)) || { echo 'usage: job_pool.sh POOL PERMITS <COMMANDS' >&2; exit 2; }
pool=$1
permits=$2

commands=()
pids=()
trap 'kill "${pids[@]}" 2>/dev/null; exit 143' INT TERM # tsem run passes the signal on
while IFS= read -r command; do
	tsem run -j "$permits" "$pool" -- sh -c "$command" </dev/null &
	commands+=("$command")
	pids+=("$!")
done

failed=0
for i in "${!pids[@]}"; do
	status=0
	wait "${pids[i]}" || status=$?
	if ((status != 0)); then
		echo "job_pool: status $status: ${commands[i]}" >&2
		failed=1
	fi
done
exit "$failed"
