#!/bin/bash
# The shared library exports what tsem.h declares, each under the version node of the map, and nothing else. The map and
# tsem(3) list the functions in the order of tsem.h.
# Usage: test_exports.sh LIBRARY HEADER SYMBOLS MAP PAGE. Speaks TAP. SYMBOLS is the list that the Debian package promises to keep.
set -u

library=$1
header=$2
map=$4
page=$5
symbols_file=$3
failed=0
number=0

# check DESCRIPTION EXPECTED FOUND: both are lists, one item a line
check() {
	number=$((number + 1))
	if [ "$2" = "$3" ] && [ -n "$2" ]; then
		echo "ok $number - $1"
	else
		echo "not ok $number - $1"
		diff <(echo "$2") <(echo "$3") | sed 's/^/# /'
		failed=1
	fi
}

# A declaration begins at the start of a line, with the name before its first parenthesis; a typedef is not counted.
in_order=$(sed -e 's|/\*.*\*/||' "$header" | grep -v '^typedef' | grep -oE '^[a-z][a-z0-9_ *]*\btsem_[a-z_]+\(' |
	grep -oE 'tsem_[a-z_]+')
declared=$(sort -u <<<"$in_order")
symbols=$(nm -D --defined-only "$library")
functions=$(awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' <<<"$symbols" | sort)
versions=$(awk '$2 == "T" { sub(/.*@@?/, "", $3); print $3 }' <<<"$symbols" | sort -u)
others=$(awk '$2 != "T" { print $2, $3 }' <<<"$symbols" | sort)
soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')

# The table of platform functions has pointers, so it is writable until the dynamic linker has filled it in.
address=0x$(nm "$library" | awk '$3 == "platform" { print $1 }')
read -r start size < <(readelf -lW "$library" | awk '$1 == "GNU_RELRO" { print $3, $6 }')

echo 1..10
check 'the table of platform functions becomes read-only' 1 "$((address >= start && address < start + size))"
check 'what is declared is exported, and nothing else' "$declared" "$functions"
check 'under one version' LIBTSEM_1 "$versions"
check 'no data, only the version node itself' 'A LIBTSEM_1' "${others%%@*}"
check 'soname' libtsem.so.1 "$soname"
if [ -e "$symbols_file" ]; then
	promised=$(sed -n 's/^ \(tsem_[a-z_]*\)@LIBTSEM_1 .*/\1/p' "$symbols_file" | sort)
	check 'what the package promises is exported, and written down' "$promised" "$functions"
else
	number=$((number + 1))
	echo "ok $number - what the package promises # SKIP a tarball has no debian/"
fi
check 'the map has the order of the header' "$in_order" "$(sed -n 's/^\t\(tsem_[a-z_]*\);$/\1/p' "$map")"
check 'so has NAME of the page' "$in_order" "$(sed -n 's/^\.Nm \(tsem_[a-z_]*\).*/\1/p' "$page")"
check 'so has SYNOPSIS' "$in_order" "$(sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/s/^\.Fn \(tsem_[a-z_]*\).*/\1/p' "$page")"
check 'so has DESCRIPTION' "$in_order" "$(sed -n 's/^\.It Fn \(tsem_[a-z_]*\)\($\| [^.].*\)/\1/p' "$page" | grep -v '_$')"
exit "$failed"
