#!/bin/bash
# SPDX-License-Identifier: MIT
# The notes about the probes are in the library, and the manual page names the same ones. Usage: test_probes.sh MANUAL LIBRARY.
# Speaks TAP.
set -u

manual=$1
library=$2
expected='abandon admit post recover take wait'

notes=$(readelf -n "$library" | sed -n '/Provider: tsem$/{n;s/.*Name: //p}' | sort -u | paste -sd' ')
# Each of the arguments as NAME NUMBER.
arguments=$(readelf -n "$library" | sed -n '/Provider: tsem$/{n;s/.*Name: //;h;n;n;s/.*Arguments: *//;H;x;s/\n/ /;p}' |
	awk '{ print $1, NF - 1 }' | sort -u | paste -sd' ')
documented=$(sed -n '/^\.Sh PROBES/,/^\.El/s/^\.It Sy //p' "$manual" | sort | paste -sd' ')

number=0
failed=0
check() {
	number=$((number + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $number - $1"
	else
		printf 'not ok %d - %s\n# should be: %s\n# is: %s\n' "$number" "$1" "$2" "$3"
		failed=1
	fi
}

echo 1..3
check 'the probes' "$expected" "$notes"
check 'their arguments' 'abandon 3 admit 3 post 1 recover 3 take 1 wait 3' "$arguments"
check 'the manual page has them' "$expected" "$documented"
exit "$failed"
