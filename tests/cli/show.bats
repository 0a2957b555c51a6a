# SPDX-License-Identifier: MIT
load helper

@test "show: JSON has all the keys, of the right types" {
  tsem create -j 4 --max 9 -m 0640 "$SEM"
  attempt tsem show -J "$SEM"
  expect_status 0
  expect_err ''
  expect_equal 'keys and types' "$(jq -r 'to_entries | map(.key + ":" + (.value | type)) | sort | join(" ")' <<<"$OUT")" \
    'available:number capacity:number created:string dead:number grant:number held:number holders:array max:number mode:string'"$(
    )"' name:string permits:number reason:string ticket:number uid:number uuid:string waiters:array waiting:number why:string'
  expect_equal 'values' "$(jq -r '[.name, .permits, .capacity, .max, .available, .held, .waiting, .mode, .uid] | @csv' \
    <<<"$OUT")" "\"$SEM\",4,4,9,4,0,0,\"0640\",$(id -u)"
  expect_match 'uuid' "$(jq -r .uuid <<<"$OUT")" '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
}

@test "show: the time of creation is ISO 8601, and correct" {
  local before after created
  before=$(date +%s)
  tsem create "$SEM"
  after=$(date +%s)
  created=$(field .created)
  expect_match 'created' "$created" '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2})$'
  created=$(date -d "$created" +%s)
  ((before <= created && created <= after)) || fail "$created is not within $before and $after"
}

@test "show: JSON of holders and waiters has all the keys, of the right types" {
  tsem create "$SEM"
  hold
  enqueue tsem run "$SEM" true
  local common='alive:string command:string count:number foreign:boolean nspid:number owned:boolean pid:number pidns:number'
  expect_shown '.holders[0] | del(.slot) | to_entries | map(.key + ":" + (.value | type)) | sort | join(" ")' \
    "$common seconds:number uid:number"
  expect_shown '.holders[0] | has("slot")' true
  expect_shown '.waiters[0] | to_entries | map(.key + ":" + (.value | type)) | sort | join(" ")' \
    "$common position:number seconds:number uid:number"
  expect_shown '.holders[0] | [.pid, .count, .command, .alive, .owned, .uid] | @csv' \
    "$COMMAND_PID,1,\"sleep 1000\",\"yes\",true,$(id -u)"
  expect_shown '.waiters[0] | [.pid, .count, .command, .alive, .owned, .position] | @csv' \
    "$PID,1,\"tsem run $SEM true\",\"yes\",true,1"
}

@test "show: waiters in the order of the queue, holders the oldest first" {
  tsem create -j 3 "$SEM"
  local waiters=() holders=()
  for _ in 0 1 2; do
    hold
    holders+=("$COMMAND_PID")
  done
  for _ in 0 1 2 3 4; do
    enqueue tsem take "$SEM"
    waiters+=("$PID")
  done
  local IFS=,
  expect_shown '[.holders[].pid] | @csv' "${holders[*]}"
  expect_shown '[.waiters[].pid] | @csv' "${waiters[*]}"
  expect_shown '[.waiters[].position] | @csv' 1,2,3,4,5
  kill -TERM "${waiters[1]}"
  finish "${waiters[1]}"
  expect_shown '[.waiters[].pid] | @csv' "${waiters[0]},${waiters[2]},${waiters[3]},${waiters[4]}"
  expect_shown '[.waiters[].position] | @csv' 1,2,3,4
}

@test "show: ticket and grant are the counters" {
  tsem create -j 5 "$SEM"
  tsem take -k 3 "$SEM"
  tsem post -k 2 "$SEM"
  expect_shown '[.ticket, .grant] | @csv' 3,2
}

@test "show: seconds grow" {
  tsem create "$SEM"
  hold
  local first
  first=$(field '.holders[0].seconds')
  eventually is_shown ".holders[0].seconds > $first" true
}

@test "show: JSON is valid UTF-8, one line per value, whatever a command line contains" {
  tsem create "$SEM"
  tsem take "$SEM"
  enqueue tsem take "$SEM" -E 1 # first an ordinary command line
  start bash -c 'exec -a "$0" tsem take "$SEM"' $'x\xff\xc3(\xed\xa0\x80\xf5 "\\\n\t\e[31m ä€𝄞\xc2\x9b31m\u202ea\u2067\u200dz'
  eventually is_shown .waiting 2
  attempt tsem show -J "$SEM"
  expect_status 0
  expect_err ''
  iconv -f UTF-8 -t UTF-8 attempt.out >/dev/null
  expect_match 'command' "$(jq -r '.waiters[1].command' attempt.out)" '^x.*"\\.*ä€𝄞 31m a '$'\u200dz take '
  attempt tsem show "$SEM"
  expect_status 0
  iconv -f UTF-8 -t UTF-8 attempt.out >/dev/null
  expect_equal 'lines of the table' "$(wc -l <attempt.out)" 4
  expect_equal 'escapes in the table' "$(grep -c $'\e' attempt.out)" 0
}

@test "show: dead processes are marked, and show does not recover them" {
  tsem create "$SEM"
  leave_dead_owner
  expect_shown '.holders[0] | [.pid, .alive] | @csv' "$PID,\"no\""
  expect_shown '[.held, .available] | @csv' 1,0
  attempt tsem show "$SEM"
  expect_match 'table' "$OUT" "^$SEM: 1 permit, 0 available, 1 held \(1 by dead holders\), 0 waiting.*"$'\n'"holds .* no +\?\$"
}

@test "show: the table begins with a sentence, then has one line each" {
  tsem create -j 2 "$SEM"
  hold -k 2
  enqueue tsem take "$SEM"
  attempt tsem show "$SEM"
  expect_status 0
  expect_err ''
  local lines
  mapfile -t lines <attempt.out
  expect_equal 'number of lines' "${#lines[@]}" 4
  expect_match 'summary' "${lines[0]}" "^$SEM: 2 permits, 0 available, 2 held, 1 waiting"
  expect_match 'headings' "${lines[1]}" 'STATE .*PID .*COMMAND'
  expect_match 'the holder' "${lines[2]}" "^holds .*$COMMAND_PID .* 2 .*sleep 1000"
  expect_match 'the waiter' "${lines[3]}" "^waits +1 +$PID .* 1 .*tsem take $SEM"
}

@test "show: the table of an idle semaphore" {
  tsem create "$SEM"
  attempt tsem show "$SEM"
  expect_status 0
  expect_match 'table' "$OUT" "^$SEM: 1 permit, 1 available, 0 held, 0 waiting"
}

@test "show: -o chooses columns, --noheadings and --raw are for scripts" {
  tsem create "$SEM"
  hold -k 1
  attempt tsem show -o PID,COUNT --noheadings --raw "$SEM"
  expect_status 0
  expect_out "$COMMAND_PID 1"
  attempt tsem show -o pid --raw "$SEM"
  expect_status 0
  expect_out "PID"$'\n'"$COMMAND_PID"
  attempt tsem show "$SEM" --noheadings -o STATE
  expect_status 0
  expect_match 'one column' "$OUT" '^holds *$'
}

@test "show: an unknown column is refused; the message has the known ones" {
  tsem create "$SEM"
  refuses "'NONSENSE'.*COMMAND" show -o PID,NONSENSE "$SEM"
  refuses "''" show -o '' "$SEM"
  refuses "''" show -o PID, "$SEM"
}

@test "show: --stats counts events" {
  tsem create "$SEM"
  tsem take "$SEM"
  attempt tsem take -w 0.02 "$SEM"
  attempt tsem show --stats "$SEM"
  expect_status 0
  expect_match 'statistics' "$OUT" '1 given up'
  attempt tsem show --stats -J "$SEM"
  expect_status 0
  expect_equal 'statistics' "$(jq -c '.statistics | [.given_up, .recovered]' <<<"$OUT")" '[1,0]'
}

# The columns in --help.
columns_of() {
  tsem "$1" --help | sed -n '/^Columns/,/^$/s/^ [* ]\([A-Z]*\) .*/\1/p'
}

@test "show: every column in --help can be chosen, also for JSON" {
  tsem create -j 2 "$SEM"
  hold
  enqueue tsem take -k 2 "$SEM"
  local column
  expect_match 'columns' "$(columns_of show | paste -sd,)" '^STATE,.*,COMMAND$'
  for column in $(columns_of show); do
    attempt tsem show -o "$column" --noheadings "$SEM"
    expect_status 0
    attempt tsem show -J -o "$column" "$SEM"
    expect_status 0
    expect_equal "keys for $column" "$(jq -c '[.holders[], .waiters[] | keys | length]' attempt.out)" '[1,1]'
  done
}

@test "show: -J with -o has the chosen keys of holders and waiters" {
  tsem create "$SEM"
  hold
  enqueue tsem take -w 1000 "$SEM"
  attempt tsem show -J -o PID,state,deadline "$SEM"
  expect_status 0
  expect_equal 'the holder' "$(jq -c '.holders[0]' attempt.out)" \
    "{\"pid\":$COMMAND_PID,\"state\":\"holds\",\"deadline\":null}"
  expect_equal 'the waiter' "$(jq -c '.waiters[0] | .deadline |= (. > 0 and . <= 1000)' attempt.out)" \
    "{\"pid\":$PID,\"state\":\"waits\",\"deadline\":true}"
  refuses "'NONSENSE'.*COMMAND" show -J -o NONSENSE "$SEM"
}

@test "show: the deadline has a column if any waiter has a deadline" {
  tsem create "$SEM"
  hold
  enqueue tsem take "$SEM"
  attempt tsem show "$SEM"
  [[ $OUT != *DEADLINE* ]] || fail 'a column DEADLINE without a deadline'
  attempt tsem show --raw "$SEM"
  expect_match 'always the same columns for scripts' "$OUT" DEADLINE
  enqueue tsem take -w 1000 "$SEM"
  attempt tsem show "$SEM"
  expect_match 'table' "$OUT" $'DEADLINE .*\n'"waits +2 .* (16m[0-9]+s|[0-9]+\.[0-9]s) +yes +tsem take -w 1000"
}

@test "show: stopped processes" {
  tsem create "$SEM"
  hold
  attempt tsem show -o ALIVE,STOPPED --raw --noheadings "$SEM"
  expect_out 'yes no'
  kill -STOP "$COMMAND_PID"
  is_stopped() {
    [[ $(tsem show -o ALIVE,STOPPED --raw --noheadings "$SEM") == 'stopped yes' ]]
  }
  eventually is_stopped
  expect_shown '.holders[0].alive' yes
}

# Shows SEM on a terminal of this type, with these variables.
on_terminal() {
  attempt env -u NO_COLOR "$@" script -qec "tsem show $SEM" /dev/null
  expect_status 0
}

@test "show: dead processes are red on a terminal, unless colours are off" {
  tsem create "$SEM"
  leave_dead_owner
  on_terminal TERM=xterm
  expect_match 'in colour' "$OUT" $'\e\\[[0-9;]*31m.*holds'
  local plain
  for plain in NO_COLOR=1 TERM=dumb TERM= TERM=no-such-terminal; do
    on_terminal TERM=xterm "$plain"
    [[ $OUT != *$'\e'* && $OUT == *holds* ]] || fail "colours with $plain"
  done
  on_terminal TERM=xterm NO_COLOR= # set, but empty
  expect_match 'in colour' "$OUT" $'\e\\[[0-9;]*31m.*holds'
  attempt env -u NO_COLOR TERM=xterm tsem show "$SEM"
  [[ $OUT != *$'\e'* && $OUT == *holds* ]] || fail 'colours in a pipe'
}

@test "show: the table is as wide as the terminal" {
  tsem create "$SEM"
  hold
  enqueue tsem run "$SEM" echo a long line that has to be cut, because it does not fit on a terminal of sixty characters
  attempt script -qec "stty cols 60 && tsem show $SEM" /dev/null
  expect_status 0
  expect_equal 'width of the waiter' "$(sed -n '4s/\r//p' attempt.out | wc -L)" 60
  attempt script -qec "stty cols 1 rows 1 && tsem show $SEM" /dev/null
  expect_status 0
  attempt tsem show "$SEM"
  expect_match 'not cut in a pipe' "$OUT" 'sixty characters$'
}

@test "show: percentiles are those of the histogram" {
  tsem create "$SEM"
  tsem take "$SEM"
  local i
  for i in {1..16}; do
    attempt tsem take -w "$((i * i))ms" "$SEM"
    expect_status 75
  done
  tsem show --stats -J "$SEM" >shown
  # The bin of the histogram that a percentile falls into, as [low, high].
  expect_equal 'percentiles' "$(jq -c '.statistics as $s
    | def bin(p): first(foreach $s.histogram[] as $b ({n: 0}; .n += $b.waits | .b = $b;
        select(.n >= ($s.slept * p | ceil)) | .b.below_seconds));
      def fits(p; x): (bin(p) as $high | x <= $high and x > $high / 2);
    [($s.histogram | map(.waits) | add) == $s.slept, $s.slept > 0, $s.slept <= 16,
     fits(0.5; $s.p50_wait_seconds), fits(0.95; $s.p95_wait_seconds), fits(0.99; $s.p99_wait_seconds),
     $s.p50_wait_seconds <= $s.p95_wait_seconds, $s.p95_wait_seconds <= $s.p99_wait_seconds,
     $s.p99_wait_seconds <= $s.longest_wait_seconds, $s.longest_wait_seconds > 0,
     ($s.mean_wait_seconds * $s.slept - $s.wait_seconds | fabs < 1e-6)] | all' shown)" true
  attempt tsem show --stats "$SEM"
  expect_match 'in words' "$OUT" 'of [0-9]+ that slept: mean [0-9.]+ s, p50 .* p95 .* p99 .* longest [0-9]'
}

@test "show: read permission is enough" {
  need_another_user
  tsem create -m 0644 "$SEM"
  attempt as-nobody tsem show -J "$SEM"
  expect_status 0
  expect_equal 'its owner' "$(jq .uid <<<"$OUT")" 0
  as-nobody tsem create -m 0600 "$SEM.theirs"
  attempt tsem show -J "$SEM.theirs"
  expect_status 0
  expect_equal 'its owner' "$(jq .uid <<<"$OUT")" 65534
}

@test "show: a semaphore without read permission is refused" {
  need_another_user
  tsem create "$SEM"
  attempt as-nobody tsem show "$SEM"
  expect_failure "^$SEM: permission denied"
}

@test "show: a semaphore that does not exist is refused" {
  refuses "^$SEM: no such semaphore" show "$SEM"
  refuses "^$SEM: no such semaphore" show -J "$SEM"
}
