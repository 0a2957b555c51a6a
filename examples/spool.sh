#!/bin/sh
# This script passes items, which are files, from producers to consumers through a directory of limited room. A producer waits
# while it is full, and a consumer waits while it is empty, both in the order in which they came. Two semaphores count the free
# places and the items.
#
#   spool.sh make NAME DIRECTORY PLACES
#   spool.sh put NAME DIRECTORY <item
#   spool.sh get NAME DIRECTORY >item
#   spool.sh remove NAME DIRECTORY
#
# An item is never incomplete, and never delivered twice. If a process is killed between two of its steps, the directory may keep an
# item or a free place that the counts do not have. So put and get are as short as possible, and the work is done outside.
set -eu

usage() {
	sed -n 's/^#   //p' "$0" >&2
	exit 2
}

put() {
	new=$directory/.new.$$
	cat >"$new" # before the take, because it may last
	tsem take "$name.places"
	mv "$new" "$directory/item.$(date +%s%N).$$"
	tsem post "$name.items"
}

# A permit means that there is an item for this process. mv decides which one it is: only one mv of a file succeeds.
get() {
	mine=$directory/.mine.$$
	tsem take "$name.items"
	until claim "$mine"; do sleep 0.1; done
	tsem post "$name.places"
	cat "$mine"
	rm "$mine"
}

claim() {
	for item in "$directory"/item.*; do
		if mv "$item" "$1" 2>/dev/null; then
			return 0
		fi
	done
	return 1
}

[ $# -ge 3 ] || usage
name=$2
directory=$3
case $1 in
make)
	[ $# -eq 4 ] || usage
	mkdir -p "$directory"
	tsem create -j "$4" "$name.places"
	tsem create -j 0 "$name.items"
	;;
put) put ;;
get) get ;;
remove) # waiters fail at once
	tsem remove -f "$name.places"
	tsem remove -f "$name.items"
	;;
*) usage ;;
esac
