# SPDX-License-Identifier: MIT
# run --bg and wait --status: jobs that are handed in run in the background, in order.
load helper

# The log ends with the status of the job.
expect_last_line() {
  expect_match "the last line of $1" "$(tail -n 1 "$1")" "^tsem: $SEM: job [0-9]+ exited with status $2\$"
}

@test "background: jobs run in the order of the calls, and a wait after them misses none" {
  local loops=100 i
  [[ ${TSEM_SANITIZERS:-none} == none ]] || loops=5
  tsem create "$SEM"
  for ((; loops > 0; loops--)); do
    : >order
    for i in {1..8}; do
      tsem run --bg "$SEM" sh -c "echo $i >>order"
    done
    if ((loops % 2)); then tsem wait "$SEM"; else tsem wait --status "$SEM"; fi
    expect_equal 'the order' "$(paste -sd ' ' order)" '1 2 3 4 5 6 7 8'
  done
  expect_at_rest 1
}

@test "background: a job is a waiter like any other, and then a holder" {
  hold -j 1
  local holder=$PID
  attempt tsem run --bg --log log "$SEM" sleep 1000
  expect_silence
  local job
  job=$(field '.waiters[0].pid')
  expect_equal 'its parent' "$(pgrep -P "$$" | grep -cx "$job")" 0
  attempt tsem run --bg -n "$SEM" touch ran
  expect_silence 75
  attempt tsem run --bg --max-waiting 1 "$SEM" touch ran
  expect_silence 75
  kill -TERM "$holder"
  eventually is_shown '.holders[0].command' 'sleep 1000'
  expect_equal 'the parent of the command' "$(pgrep -P "$job")" "$(field '.holders[0].pid')"
  kill -TERM "$job"
  attempt tsem wait --status "$SEM"
  expect_silence 143
  expect_last_line log 143
  expect_at_rest 1
  [[ ! -e ran ]]
}

@test "background: the end of a wait is in the log" {
  hold -j 1
  tsem run --bg --log late -w 50ms "$SEM" touch ran
  attempt tsem wait --status "$SEM"
  expect_silence 75
  expect_last_line late 75
  tsem run --bg --log cancelled "$SEM" touch ran
  tsem cancel "$SEM"
  attempt tsem wait --status "$SEM"
  expect_silence 75
  tsem run --bg --log ended "$SEM" touch ran
  kill -TERM "$(field '.waiters[0].pid')"
  attempt tsem wait --status "$SEM"
  expect_silence 143
  expect_last_line ended 143
  [[ ! -e ran ]]
}

@test "background: a job has a session of its own, no input, and survives the end of the terminal" {
  script -qec 'tsem run --bg --log log -j 1 "$SEM" sh -c "
    until test -e go; do sleep 0.02; done
    cat; tty; test \"\$(ps -o sid= -p \$\$ | tr -d \" \")\" = \$PPID && echo leads"' /dev/null >/dev/null
  touch go
  tsem wait "$SEM"
  expect_equal 'its output' "$(head -n 2 log)" $'not a tty\nleads'
  expect_last_line log 0
}

@test "background: the log" {
  tsem create "$SEM"
  tsem run --bg --log 'log.%n.%p.%%' "$SEM" sh -c 'echo out; echo err >&2; printf open; exit 3'
  attempt tsem wait --status "$SEM"
  expect_silence 3
  expect_match 'its name' "$(echo log.*)" "^log\.$SEM\.[0-9]+\.%\$"
  mv log.* log
  expect_equal 'its lines' "$(head -n 3 log)" $'out\nerr\nopen'
  expect_last_line log 3
  # All jobs of a log are in it, and a log that cannot be read is no error.
  chmod 200 log
  tsem run --bg --log log "$SEM" ./absent
  attempt tsem wait --status "$SEM"
  expect_silence 127
  chmod 600 log
  expect_equal 'the number of lines' "$(wc -l <log)" 6
  expect_match 'the line before the last' "$(tail -n 2 log)" "cannot run './absent'"
  expect_last_line log 127
  # Without one, the output is discarded.
  attempt tsem run --bg "$SEM" sh -c 'echo out; echo err >&2'
  expect_silence
  attempt tsem wait --status "$SEM"
  expect_silence
}

@test "background: what the caller has closed is open for the command" {
  tsem create "$SEM"
  tsem run --bg --log log "$SEM" sh -c 'cat; echo out; echo err >&2' <&- >&- 2>&-
  attempt tsem wait --status "$SEM"
  expect_silence
  expect_equal 'its output' "$(head -n 2 log)" $'out\nerr'
  (
    trap '' CHLD # as some callers leave it
    tsem run --bg "$SEM" sh -c 'exit 5'
  )
  attempt tsem wait --status "$SEM"
  expect_silence 5
}

@test "background: wait --status exits as the first job that failed, in the order of the calls" {
  local i
  tsem create -j 3 "$SEM"
  for i in 0 4 0 2; do
    tsem run --bg "$SEM" sh -c "until test -e go$i; do sleep 0.02; done; exit $i"
  done
  attempt tsem wait --status -n "$SEM"
  expect_silence 75
  attempt tsem wait --status -w 50ms -q -E 9 "$SEM"
  expect_silence 9
  touch go0 go2
  eventually is_shown .held 1
  touch go4
  attempt tsem wait --status "$SEM"
  expect_silence 4
  attempt tsem wait --status "$SEM" # they have been told
  expect_silence
}

@test "background: a job that was killed counts as one that failed" {
  tsem create "$SEM"
  tsem run --bg "$SEM" sleep 1000
  eventually is_shown '.holders[0].command' 'sleep 1000'
  local command
  command=$(field '.holders[0].pid')
  kill -KILL "$(ps -o ppid= -p "$command")" "$command"
  attempt tsem wait --status "$SEM"
  expect_silence 137
  eventually has_ended "$command"
  tsem recover "$SEM"
  expect_at_rest 1
}

@test "background: wait --status waits for this session's jobs of this name only" {
  tsem create -j 9 "$SEM"
  tsem create "$SEM.other"
  setsid tsem run --bg "$SEM" sh -c 'until test -e go; do sleep 0.02; done; exit 5'
  tsem run --bg "$SEM.other" sh -c 'exit 6'
  start tsem run "$SEM" sleep 1000
  tsem run --bg "$SEM" sh -c 'exit 7'
  attempt tsem wait --status "$SEM"
  expect_silence 7
  attempt tsem wait --status "$SEM.other"
  expect_silence 6
  attempt tsem wait --status "$SEM.absent"
  expect_failure "^$SEM.absent: no such semaphore"
  # What a session has left is removed by the next call, once its jobs have ended.
  left() { compgen -G "/dev/shm/tsem-jobs.*.$SEM" >/dev/null; }
  tsem run --bg "$SEM.other" true
  left
  touch go
  gone() { tsem run --bg "$SEM.other" true && ! left; }
  eventually gone
}

@test "background: 100 jobs that wait take at most 100 kB each" {
  skip_under any 'a sanitizer has memory of its own'
  skip_under_coverage
  [[ $(getconf PAGESIZE) == 4096 ]] || skip 'pages have another size'
  ! ldd "$TSEM" 2>&1 | grep -q 'libc\.' || skip 'the command is not static'
  hold -j 1
  local i pids
  for i in {1..100}; do
    tsem run --bg "$SEM" true
  done
  mapfile -t pids < <(field '.waiters[].pid')
  expect_equal 'the number of jobs' "${#pids[@]}" 100
  local each
  pids=("${pids[@]/#//proc/}")
  each=$(awk '/^Pss:/ { sum += $2 } END { print int(sum / 100) }' "${pids[@]/%//smaps_rollup}")
  echo "$each kB each"
  ((each > 0 && each <= 100))
}

@test "background: wait --status tells of jobs whose semaphore is gone" {
  tsem run --bg -j 1 "$SEM" ./absent
  attempt tsem wait --status "$SEM"
  expect_silence 127
  [[ ! -e $FILE ]]
  tsem create "$SEM"
  tsem run --bg "$SEM" sleep 1000
  tsem run --bg --log log "$SEM" touch ran
  tsem remove -f "$SEM"
  attempt tsem wait --status -w 1ms "$SEM"
  expect_status 75
  expect_match 'standard error' "$ERR" "^tsem: $SEM: 1 jobs of this session have not ended, the first is process [0-9]+\$"
  kill -TERM "${ERR##* }"
  attempt tsem wait --status "$SEM"
  expect_silence 143
  expect_last_line log 125
  [[ ! -e ran ]]
}

@test "background: a later session with the same number is another one" {
  unshare -pf --mount-proc true 2>/dev/null || skip 'needs a PID namespace'
  tsem create "$SEM"
  local i
  for i in 1 2 3; do # in each, the session has the number 0, and often the namespace the same inode
    attempt unshare -pf --mount-proc bash -c 'tsem wait --status "$SEM" && tsem run --bg "$SEM" false && tsem wait "$SEM"'
    expect_silence
  done
}

@test "background: the session lives on without its leader" {
  tsem create "$SEM"
  setsid -f bash -c '
    tsem run --bg "$SEM" sh -c "exit 3"
    (until ! kill -0 $$; do sleep 0.02; done 2>/dev/null
     tsem run --bg "$SEM" sh -c "exit 4"
     tsem wait --status "$SEM"; echo "$?" >status) &'
  eventually test -s status
  expect_equal 'the status' "$(<status)" 3
}

@test "background: without room or permission for the file of the jobs, nothing is handed in" {
  unshare --mount true 2>/dev/null || skip 'needs a mount namespace'
  attempt private-shm 1m bash -c 'tsem create "$SEM"; head -c 1m /dev/zero >/dev/shm/fill 2>/dev/null
    tsem run --bg "$SEM" touch ran; status=$?; rm /dev/shm/fill; tsem show --raw --noheadings -o STATE "$SEM"; exit $status'
  expect_status 125
  expect_out ''
  expect_match 'standard error' "$ERR" "^tsem: $SEM: shared memory is full"
  tsem create "$SEM"
  attempt bash -c '(ulimit -f 0; tsem run --bg "$SEM" touch ran; echo $?) 2>&1 | cat'
  expect_match 'what it said' "$OUT" "^tsem: $SEM: the file size limit is too low .*"$'\n'125\$
  (
    umask 0777
    tsem run --bg "$SEM" sh -c 'exit 5'
  )
  expect_equal 'the mode' "$(stat -c %a /dev/shm/tsem-jobs.*."$SEM")" 600
  printf x >>"$(compgen -G "/dev/shm/tsem-jobs.*.$SEM")" # as a write that finds it full may leave
  tsem run --bg "$SEM" sh -c 'exit 6'
  attempt tsem wait --status "$SEM"
  expect_silence 5
  [[ ! -e ran ]]
}

@test "background: what another user or another kind of file has in the way is not used" {
  tsem create "$SEM"
  tsem run --bg "$SEM" true
  tsem wait "$SEM"
  local jobs
  jobs=$(compgen -G "/dev/shm/tsem-jobs.*.$SEM")
  rm "$jobs"
  ln -s "$PWD/target" "$jobs"
  refuses "^$SEM: '$jobs' is in the way of the jobs of this session" run --bg "$SEM" touch ran
  refuses "^$SEM: '$jobs' is in the way of the jobs of this session" wait --status "$SEM"
  rm "$jobs"
  mkfifo "$jobs"
  refuses "^$SEM: '$jobs' is in the way of the jobs of this session" wait --status "$SEM"
  [[ ! -e ran && ! -e target ]]
}

@test "background: the caller may hold what the job waits for" {
  tsem create "$SEM"
  attempt tsem run "$SEM" tsem run --bg "$SEM" touch ran
  expect_silence
  tsem wait "$SEM"
  [[ -e ran ]]
}

@test "background: what is refused, and hands nothing in" {
  tsem create "$SEM"
  refuses "^$SEM: cannot write the log './absent/log': No such file or directory \(nothing was handed in\)" \
    run --bg --log ./absent/log "$SEM" touch ran
  mkfifo fifo
  refuses "^$SEM: cannot write the log 'fifo': No such device or address \(nothing was handed in\)" \
    run --bg --log fifo "$SEM" touch ran
  refuses "^$SEM: --log 'log.%x' has an unknown field \(use %n" run --bg --log log.%x "$SEM" touch ran
  refuses "^$SEM: --log: the name is too long" run --bg --log "$(printf '%05000d' 0)" "$SEM" touch ran
  refuses "^$SEM: --log needs --bg" run --log log "$SEM" touch ran
  refuses "^$SEM,$SEM.b: --bg needs a single semaphore" run --bg "$SEM,$SEM.b" touch ran
  refuses "^$SEM: --bg and -F exclude each other" run --bg -F "$SEM" touch ran
  refuses "^$SEM: --bg and --nested exclude each other" run --bg --nested "$SEM" touch ran
  refuses "^$SEM: --status and --holders exclude each other" wait --status --holders "$SEM"
  refuses "^$SEM.absent: no such semaphore" run --bg "$SEM.absent" touch ran
  unshare --mount true 2>/dev/null || skip 'needs a mount namespace, to be without /dev/null'
  mkdir -p dev/shm
  attempt unshare --mount sh -c 'mount --rbind /dev/shm dev/shm && mount --rbind dev /dev && exec tsem "$@"' sh \
    run --bg "$SEM" touch ran
  expect_failure "^$SEM: cannot open /dev/null: No such file or directory \(nothing was handed in\)"
  expect_at_rest 1
  [[ ! -e ran ]]
}
