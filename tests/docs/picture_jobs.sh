#!/bin/bash
# Creates the semaphores and jobs in the pictures of README.md. Each job is a process that waits for ever, under the
# name of a well-known program.
mkfifo /dev/shm/silence
job() {
  local name=$1 permits=$2
  shift 2
  # shellcheck disable=SC2016 # for that bash to expand
  tsem run -j "$permits" "$name" -- bash -c 'exec -a "$0" cat <>/dev/shm/silence' "$*" &
}
waiting() {
  until [ "$(tsem show --raw --noheadings -o STATE "$1" 2>/dev/null | grep -c waits)" = "$2" ]; do sleep 0.01; done
}
for file in a b c; do job encode 3 flac --silent "$file.wav"; done
waiting encode 0
job gpu 4 ./train --config small; job gpu 4 ./train --config large; job disk.sda 1 ./backup /dev/sda1
until [ "$(tsem list --raw --noheadings -o HELD | paste -sd+ | bc)" = 6 ]; do sleep 0.01; done
kill -STOP "$(tsem show --raw --noheadings -o PID encode | tail -1)"
tsem run encode -- flac --silent d.wav & waiting encode 1
tsem take -w 10m encode & waiting encode 2
sleep 1000 & victim=$!
tsem create -j 16 compilers; tsem take -k 11 compilers
tsem create -j 2 database; tsem acquire --owner "$victim" database
kill -9 "$victim"; wait "$victim" 2>/dev/null
true
