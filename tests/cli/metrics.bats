# SPDX-License-Identifier: MIT
load helper

HISTOGRAM=304 # its place in the file, after the six counters of the statistics

# metric NAME: its value for SEM.
metric() {
  sed -n "s/^$1{name=\"$SEM\"} //p" metrics
}

@test "metrics: what processes hold and wait for" {
  tsem create -j 2 "$SEM"
  hold
  enqueue tsem take -k 2 "$SEM"
  enqueue tsem take "$SEM"
  tsem list --metrics >metrics
  expect_equal capacity "$(metric tsem_capacity_permits)" 2
  expect_equal available "$(metric tsem_available_permits)" 0
  expect_equal held "$(metric tsem_held_permits)" 1
  expect_equal waiting "$(metric tsem_waiting_processes)" 2
  expect_equal requested "$(metric tsem_requested_permits)" 4
  expect_equal created "$(date -u -d "@$(metric tsem_created_timestamp_seconds)" +%FT%TZ)" "$(field .created)"
  local oldest
  oldest=$(metric tsem_oldest_wait_seconds)
  waits_longer_than() {
    tsem list --metrics >metrics
    jq -en "$(metric tsem_oldest_wait_seconds) > $1"
  }
  eventually waits_longer_than "$oldest"
}

@test "metrics: waits that are over, and permits of dead processes" {
  tsem create "$SEM"
  hold
  attempt tsem take -w 10ms "$SEM"
  attempt tsem take -w 20ms "$SEM"
  kill -KILL "$PID" "$COMMAND_PID"
  finish "$PID"
  eventually has_ended "$COMMAND_PID"
  tsem recover "$SEM"
  tsem list --metrics >metrics
  expect_equal 'given up' "$(metric tsem_given_up_waits)" 2
  expect_equal recovered "$(metric tsem_recovered_permits)" 1
  expect_equal 'oldest wait' "$(metric tsem_oldest_wait_seconds)" 0
  expect_equal waits "$(metric tsem_wait_seconds_count)" 2
  jq -en "$(metric tsem_wait_seconds_sum) > 0" >/dev/null
  local buckets
  mapfile -t buckets < <(sed -nE "s/^tsem_wait_seconds_bucket\{name=\"$SEM\",le=\"(.*)\"\} ([0-9]+)$/\1 \2/p" metrics)
  expect_equal 'number of buckets' "${#buckets[@]}" 17
  expect_match 'first' "${buckets[0]}" '^6.4e-05 [0-2]$'
  expect_match 'last' "${buckets[16]}" '^\+Inf 2$'
}

# In a /dev/shm of its own: another test might remove one of two semaphores of the same line.
in_shm_with_odd_files() {
  need_private_shm
  # shellcheck disable=SC2016 # expanded in there
  private-shm 1m bash -c 'tsem create a; tsem create -j 5 b-b.b_B; tsem take b-b.b_B
    echo damaged >/dev/shm/tsem.damaged
    touch /dev/shm/"tsem.quote\"" /dev/shm/"tsem.back\\slash" /dev/shm/tsem.new$'\''\n'\''line
    tsem list --metrics' >metrics 2>said
}

@test "metrics: promtool accepts them" {
  command -v promtool >/dev/null || skip 'there is no promtool'
  in_shm_with_odd_files
  attempt bash -c 'promtool check metrics <metrics'
  expect_silence
}

@test "metrics: a strict parser of OpenMetrics accepts them" {
  # shellcheck disable=SC2016 # of Python
  local parse='import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
print(sorted({sample.labels["name"] for family in parse(sys.stdin.read()) for sample in family.samples}))'
  python3 -c 'import prometheus_client' 2>/dev/null || skip 'needs python3-prometheus-client'
  in_shm_with_odd_files
  expect_equal names "$(python3 -c "$parse" <metrics)" "['a', 'b-b.b_B']"
}

# Names need no escapes, because others are none.
@test "metrics: a file whose name would need escapes is left out, and a damaged one is reported" {
  in_shm_with_odd_files
  expect_equal names "$(sed -n 's/^tsem_capacity_permits//p' metrics | paste -sd' ')" '{name="a"} 1 {name="b-b.b_B"} 5'
  expect_equal 'last line' "$(tail -n 1 metrics)" '# EOF'
  expect_match 'standard error' "$(<said)" '^tsem: damaged: not a semaphore, or damaged [^'$'\n'']*$'
}

@test "metrics: the contents of a file cannot make them invalid" {
  tsem create "$SEM"
  # The bins 10 and 20 of the histogram, of which the second would make a sum of 64 bits begin again at 0.
  printf '\5' | dd of="$FILE" bs=1 seek=$((HISTOGRAM + 80)) conv=notrunc status=none
  printf '\xfd\xff\xff\xff\xff\xff\xff\xff' | dd of="$FILE" bs=1 seek=$((HISTOGRAM + 160)) conv=notrunc status=none
  tsem list --metrics >metrics
  local counts
  mapfile -t counts < <(sed -nE "s/^tsem_wait_seconds_bucket\{name=\"$SEM\",.*\} //p" metrics)
  expect_equal 'buckets in order' "$(printf '%s\n' "${counts[@]}" | sort -g)" "$(printf '%s\n' "${counts[@]}")"
  expect_match 'the last one' "${counts[16]}" '^1\.84467440737096e\+19$'
}

@test "metrics: without semaphores" {
  need_private_shm
  attempt private-shm 1m tsem list --metrics
  expect_status 0
  expect_match 'metrics' "$OUT" '# TYPE tsem_wait_seconds histogram.*# EOF$'
}

@test "metrics: other options are refused" {
  refuses '^--metrics stands alone' list --metrics -J
  refuses '^--metrics stands alone' list --metrics -o NAME
  refuses '^list prints statistics as JSON only \(add -J' list --stats
  refuses '^etcd:: --metrics does not work for a semaphore on etcd' list --metrics etcd:
}

@test "metrics: the statistics of all semaphores as JSON" {
  tsem create -j 3 "$SEM"
  tsem take -k 2 "$SEM"
  attempt tsem list --stats -J
  expect_status 0
  expect_equal statistics "$(jq -cS ".semaphores[] | select(.name == \"$SEM\").statistics" attempt.out)" \
    "$(tsem show --stats -J "$SEM" | jq -cS .statistics)"
}
