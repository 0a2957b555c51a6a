# SPDX-License-Identifier: MIT
load helper

@test "create: one permit, for its creator's user only" {
  attempt tsem create "$SEM"
  expect_silence
  expect_shown '[.name, .permits, .capacity, .max, .available, .held, .waiting, .mode, .uid] | @csv' \
    "\"$SEM\",1,1,0,1,0,0,\"0600\",$(id -u)"
  expect_equal 'mode of the file' "$(stat -c %a "$FILE")" 600
}

@test "create: options before and after the name, short and long, joined and separate" {
  local words
  for words in "-j 3 $SEM" "$SEM -j 3" "-j3 $SEM" "$SEM --permits=3" "--permits 3 $SEM" "-j 3 -- $SEM"; do
    # shellcheck disable=SC2086
    attempt tsem create $words
    expect_silence
    expect_shown .permits 3
    rm "$FILE"
  done
}

@test "create: permits as a percentage of the processors, at least one" {
  local processors percent
  processors=$(getconf _NPROCESSORS_ONLN)
  for percent in 1 50 100 300; do
    attempt tsem create -j "$percent%" "$SEM"
    expect_silence
    expect_shown .permits $((processors * percent / 100 > 1 ? processors * percent / 100 : 1))
    rm "$FILE"
  done
}

@test "create: permits up to 32 bits, and not one more" {
  attempt tsem create -j 4294967295 "$SEM"
  expect_silence
  expect_at_rest 4294967295
  rm "$FILE"
  refuses 'out of range' create -j 4294967296 "$SEM"
}

@test "create: --max is stored" {
  attempt tsem create -j 2 --max 5 "$SEM"
  expect_silence
  expect_shown .max 5
}

@test "create: --max below the permits is refused" {
  refuses "^$SEM: .*max" create -j 3 --max 2 "$SEM"
}

@test "create: --available counts at first, the rest of -j as taken" {
  local available
  for available in 0 1 3 5; do
    attempt tsem create -j 3 --available "$available" "$SEM"
    expect_silence
    expect_shown .available "$available"
    expect_shown .capacity 3
    rm "$FILE"
  done
  tsem create -j 1 --available 0 "$SEM"
  attempt tsem take -n "$SEM"
  expect_status 75
  tsem post "$SEM"
  tsem take -n "$SEM"
  attempt tsem create --exist-ok -j 1 --available 1 "$SEM"
  expect_silence
  expect_shown .available 0
}

@test "create: --available above the maximum is refused" {
  refuses "^$SEM: --available 6 is more than --max 5" create -j 3 --max 5 --available 6 "$SEM"
}

@test "create: --mode is exact, whatever the umask" {
  local mode
  for mode in 0660 600 0666 0400 0640; do
    attempt bash -c 'umask 077; exec tsem create -m "$0" "$SEM"' "$mode"
    expect_silence
    expect_equal "mode of the file for $mode" "$(stat -c %04a "$FILE")" "0${mode#0}"
    expect_shown .mode "0${mode#0}"
    rm "$FILE"
  done
}

@test "create: the default mode is 0600, also without a umask" {
  attempt bash -c 'umask 0; exec tsem create "$SEM"'
  expect_silence
  expect_equal 'mode of the file' "$(stat -c %a "$FILE")" 600
}

@test "create: an impossible mode is refused" {
  local mode
  for mode in 8 0990 rw '' -1 1777 77777777777777777777 0; do
    refuses "'$mode'" create -m "$mode" "$SEM"
  done
}

@test "create: an existing semaphore is refused and does not change" {
  tsem create -j 2 "$SEM"
  tsem take "$SEM"
  refuses "^$SEM: .*exists" create -j 2 "$SEM"
  refuses "^$SEM: .*exists" create "$SEM"
  expect_shown .held 1
}

@test "create: --exist-ok accepts the same number, and creates a missing semaphore" {
  attempt tsem create --exist-ok -j 2 "$SEM"
  expect_silence
  local uuid
  uuid=$(field .uuid)
  attempt tsem create --exist-ok -j 2 "$SEM"
  expect_silence
  expect_shown .uuid "$uuid"
}

@test "create: --exist-ok refuses another number; the message has both" {
  tsem create -j 2 "$SEM"
  refuses "^$SEM: .*2.*3|^$SEM: .*3.*2" create --exist-ok -j 3 "$SEM"
}

@test "create: a semaphore that is removed and created again is a new one" {
  tsem create "$SEM"
  local first
  first=$(field .uuid)
  tsem remove "$SEM"
  tsem create "$SEM"
  [[ $(field .uuid) != "$first" ]] || fail "the same UUID twice: $first"
}

@test "create: if many create at once, exactly one succeeds" {
  local i pids=() created=0
  for i in {1..20}; do
    start tsem create -j "$i" "$SEM"
    pids+=("$PID")
  done
  for i in "${pids[@]}"; do
    finish "$i"
    if ((STATUS == 0)); then
      created=$((created + 1))
    else
      expect_status 125
    fi
  done
  expect_equal 'how many created it' "$created" 1
  expect_equal 'the number is of one of them, whole' "$(field '.permits == .available and .permits <= 20')" true
}

@test "create: an idle semaphore uses little memory, and leaves no other file in shared memory" {
  tsem create -j 1000 "$SEM"
  local kib
  kib=$(du -k "$FILE" | cut -f 1)
  ((kib <= 32)) || fail "$kib KiB"
  expect_equal 'links to the file' "$(stat -c %h "$FILE")" 1
}

@test "create, run: -g and -m" {
  attempt tsem create -g "$(id -g)" -m 0660 "$SEM"
  expect_silence
  expect_equal 'mode and group' "$(stat -c '%a %g' "$FILE")" "660 $(id -g)"
  tsem remove "$SEM"
  attempt tsem run -j 2 -m 0664 -g "$(id -g)" "$SEM" true
  expect_silence
  expect_equal 'mode and group' "$(stat -c '%a %g' "$FILE")" "664 $(id -g)"
  attempt tsem run -j 2 -m 0600 "$SEM" true # it exists, and its mode is not compared
  expect_silence
  expect_equal 'mode' "$(stat -c %a "$FILE")" 664
  refuses "^$SEM: -m and -g need -j" run -m 0600 "$SEM" true
  refuses "^$SEM: -m and -g need -j" run -g "$(id -g)" "$SEM" true
}

@test "create: -g of a group that the user is not in" {
  need_another_user
  attempt as-nobody tsem create -g root "$SEM"
  expect_failure "^$SEM: this user is not in group 0 \\("
  [[ ! -e $FILE ]]
  attempt as-nobody tsem run -j 1 -g root "$SEM" true
  expect_failure "^$SEM: this user is not in group 0 \\("
  [[ ! -e $FILE ]]
  attempt tsem create -g daemon -m 0660 "$SEM"
  expect_silence
  expect_equal 'group' "$(stat -c '%G %a' "$FILE")" 'daemon 660'
}
