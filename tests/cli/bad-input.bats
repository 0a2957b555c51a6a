# SPDX-License-Identifier: MIT
# Bad input is refused: one line on standard error that says what happened and what to do, exit status 125, nothing
# taken, nothing left.
load helper

# Calls $1 with the arguments of every verb that uses an existing semaphore.
each_verb() {
  local verbs=(
    'take' 'take -n' 'take -w 1' 'post' 'post -p' 'recover' 'show' 'show -J'
    "acquire --owner $BASHPID" "release --owner $BASHPID"
  )
  local words
  for words in "${verbs[@]}"; do
    # shellcheck disable=SC2086
    "$1" "$2" $words "$SEM"
  done
  "$1" "$2" run "$SEM" touch ran
  "$1" "$2" run -j 1 "$SEM" touch ran
  "$1" "$2" create --exist-ok "$SEM"
  [[ ! -e ran ]] || fail 'the command ran'
}

# ---- numbers ----

@test "bad input: durations" {
  tsem create "$SEM"
  local duration
  for duration in -1 -0.5 '' ' ' abc 1x 1sm 5S 1.2.3 . .s s 1e3 0x10 1,5 '1 s' ' 1' '1 ' +1 inf nan infinity \
    99999999999999999999 99999999999999999999d 18446744073709551616 9223372036854775808 1000000000d 99999999h $'1\n'; do
    refuses '-w ' take -w "$duration" "$SEM"
  done
  refuses "^$SEM: -w '-1' is .*seconds" take "$SEM" --timeout=-1
  refuses '-w ' run -w -1 "$SEM" touch ran
  refuses '-w ' acquire --owner $$ -w 1y "$SEM"
  [[ ! -e ran ]]
}

@test "bad input: counts: 0, not a number, more than 32 bits" {
  tsem create -j 2 "$SEM"
  local count
  for count in 0 00 -1 '' abc 1.5 1k 0x1 ' 1' '1 ' +1 4294967296 18446744073709551617 99999999999999999999999; do
    refuses "-k '" take -k "$count" "$SEM"
  done
  refuses "-k '0'.*1 to" post -k 0 "$SEM"
  refuses "-k '0'" acquire --owner $$ -k 0 "$SEM"
  refuses "-k '0'" run -k 0 "$SEM" touch ran
  [[ ! -e ran ]]
}

@test "bad input: a count beyond the capacity" {
  tsem create -j 2 "$SEM"
  refuses "^$SEM: 3 permits.*1 to 2" take -k 3 "$SEM"
  refuses "^$SEM: 3 permits.*1 to 2" take -n -k 3 "$SEM"
  refuses "^$SEM: 3 permits.*1 to 2" take -w 1 -k 3 "$SEM"
  refuses "^$SEM: 3 permits.*1 to 2" acquire --owner $$ -k 3 "$SEM"
  refuses "^$SEM: 4294967295 permits.*1 to 2" run -k 4294967295 "$SEM" touch ran
  refuses "^$SEM: 3 permits" run -j 2 -k 3 "$SEM" touch ran
  [[ ! -e ran ]]
}

@test "bad input: numbers of permits: 0, not a number, more than 32 bits" {
  local permits
  for permits in -1 '' abc 1.5 4294967296 18446744073709551617 % 0% -5% 1.5% %5 '5 %' 5%% 99999999999999999999%; do
    refuses "-j '" create -j "$permits" "$SEM"
    refuses "-j '" run -j "$permits" "$SEM" touch ran
  done
  refuses "^$SEM: with -j 0 nothing would ever run" run -j 0 "$SEM" touch ran
  [[ ! -e ran ]]
}

@test "bad input: other numbers" {
  tsem create "$SEM"
  local number
  for number in -1 256 '' x 1.0 99999999999999999999; do
    refuses "-E '" take -n -E "$number" "$SEM"
  done
  for number in 0 -1 4294967296 '' x; do
    refuses "--max '" create --max "$number" "$SEM.other"
    [[ $number == 0 ]] || refuses "--available '" create --available "$number" "$SEM.other"
  done
  [[ ! -e $FILE.other ]]
}

# ---- names ----

@test "bad input: impossible names of a variable" {
  local name
  for name in '' 9 9a CARD=1 'CARD 1' CARD-1 Ä $'CARD\n'; do
    refuses "^$SEM: --slot-env '.*letters" run -j 1 "$SEM" --slot-env "$name" touch ran
  done
  [[ ! -e ran ]]
}

@test "bad input: impossible names" {
  local name verb
  for name in '' . .. .hidden -dash a/b /abs ../up 'a b' ä $'a\nb' 'a*' a:b a,b 'a%' a@b '~'; do
    refuses 'not a name' create -- "$name"
    [[ $name == *,* ]] || refuses 'not a name' run -j 1 -- "$name" touch ran # a list of names
  done
  for verb in take post recover remove show 'acquire --owner 1' 'release --owner 1' 'create --exist-ok'; do
    # shellcheck disable=SC2086
    refuses '^\.\./up: not a name' $verb ../up
  done
  [[ ! -e ran && ! -e /dev/shm/tsem. ]]
  export LC_ALL=C
  refuses 'not a name' create $'\xff'
  refuses 'not a name' create $'a\xc3b'
}

@test "bad input: a name of 200 bytes is accepted, of 201 it is too long" {
  local longest
  longest=$SEM$(printf 'x%.0s' {1..200})
  longest=${longest:0:200}
  attempt tsem create "$longest"
  expect_silence
  attempt tsem run "$longest" true
  expect_silence
  attempt tsem remove "$longest"
  expect_silence
  refuses '200' create "${longest}x"
  refuses '200' take "${longest}x"
  refuses '200' run -j 1 "${longest}x" touch ran
  [[ ! -e ran && ! -e /dev/shm/tsem.${longest}x ]]
  attempt tsem create "$(printf 'x%.0s' {1..5000})"
  expect_status 125
}

@test "bad input: every other character of names" {
  local name=$SEM.ABCXYZabcxyz0123456789._-
  attempt tsem create "$name"
  expect_silence
  attempt tsem remove "$name"
  expect_silence
}

# ---- which semaphore ----

@test "bad input: a semaphore that does not exist" {
  local words
  for words in take 'take -n' post recover remove show 'show -J' "acquire --owner $$" "release --owner $$"; do
    # shellcheck disable=SC2086
    refuses "^$SEM: no such semaphore" $words "$SEM"
  done
  refuses "^$SEM: no such semaphore .*create" run "$SEM" touch ran
  [[ ! -e ran && ! -e $FILE ]]
}

@test "bad input: a semaphore with another number" {
  tsem create -j 2 "$SEM"
  refuses "^$SEM: .*-j 2.*-j 3" run -j 3 "$SEM" touch ran
  refuses "^$SEM: .*-j 2.*-j 1" run -n -j 1 "$SEM" touch ran
  refuses "^$SEM: .*-j 2.*-j 3" create --exist-ok -j 3 "$SEM"
  [[ ! -e ran ]]
}

@test "bad input: another user's semaphore" {
  need_another_user
  as-nobody tsem create -m 0666 "$SEM"
  theirs() {
    [[ $2 == show ]] || refuses "$@"
  }
  each_verb theirs "^$SEM: .*another user.*--foreign"
  attempt tsem take --foreign "$SEM"
  expect_silence
  attempt tsem post --foreign "$SEM"
  expect_silence
  attempt tsem run --foreign "$SEM" true
  expect_silence
  expect_at_rest 1
}

@test "bad input: a semaphore of root is trusted, and its mode is obeyed" {
  need_another_user
  tsem create -m 0666 "$SEM"
  attempt as-nobody tsem run "$SEM" true
  expect_silence
  chmod 0600 "$FILE"
  attempt as-nobody tsem take "$SEM"
  expect_failure "^$SEM: permission denied: it belongs to root, and its mode is 0600 \\(ask root"
  chmod 0644 "$FILE" # read permission is not enough
  attempt as-nobody tsem take "$SEM"
  expect_failure "^$SEM: permission denied"
  attempt as-nobody tsem recover "$SEM"
  expect_failure "^$SEM: permission denied"
  expect_at_rest 1
}

@test "bad input: messages about permission name the owner" {
  need_another_user
  as-nobody tsem create "$SEM"
  refuses "^$SEM: it belongs to nobody, another user \\(add --foreign" post "$SEM"
  attempt as-nobody tsem set -m 0060 "$SEM"
  expect_silence
  attempt as-nobody tsem take "$SEM"
  expect_failure "^$SEM: permission denied: it belongs to nobody, and its mode is 0060 \\('chmod 0600 $FILE'"
  chown 3999999 "$FILE" # no user has this number
  chmod 0600 "$FILE"
  refuses "^$SEM: it belongs to user 3999999, another user" post "$SEM"
  attempt as-nobody tsem show "$SEM"
  expect_failure "^$SEM: permission denied: it belongs to user 3999999, and its mode is 0600"
  attempt as-nobody tsem list
  expect_match 'standard error' "$ERR" "tsem: $SEM: permission denied: it belongs to user 3999999"
}

@test "bad input: the file is removed during the wait" {
  local words
  for words in 'take $SEM' 'acquire --owner $PPID $SEM' 'run $SEM touch ran'; do
    tsem create "$SEM"
    tsem take "$SEM"
    enqueue bash -c "exec tsem $words 2>said"
    rm "$FILE" # logind and careless scripts do that
    finish "$PID"
    expect_status 125
    cp said attempt.err
    ERR=$(<said)
    expect_message "^$SEM: .*removed"
  done
  [[ ! -e ran ]]
}

# ---- damage ----

fails() {
  attempt tsem "${@:2}"
  expect_failure "$1"
}

# refuses() reads the semaphore, and a damaged file has none: here the bytes of the file must stay.
keeps_file() {
  local before
  before=$(describe_file)
  "$@"
  expect_equal 'the file' "$(describe_file)" "$before"
}

describe_file() {
  stat -c '%F %i %s %f' "$FILE"
  [[ -h $FILE || ! -f $FILE ]] || cksum "$FILE"
}

@test "bad input: damaged: random bytes" {
  head -c 40960 /dev/urandom >"$FILE"
  keeps_file each_verb fails "^$SEM: not a semaphore.*remove -f"
}

@test "bad input: damaged: empty, short, and without its content" {
  : >"$FILE"
  keeps_file each_verb fails "^$SEM: not a semaphore"
  echo garbage >"$FILE"
  keeps_file each_verb fails "^$SEM: not a semaphore"
  rm "$FILE"
  truncate -s 32768 "$FILE"
  chmod 0400 "$FILE"
  attempt tsem show "$SEM"
  expect_failure "^$SEM: not a semaphore"
  chmod 0600 "$FILE"
  attempt tsem take "$SEM"
  expect_failure "^$SEM: not a semaphore"
}

@test "bad input: damaged: truncated" {
  local bytes
  for bytes in 1 4096 8192 28672 32767; do
    tsem create "$SEM"
    truncate -s "$bytes" "$FILE"
    keeps_file each_verb fails "^$SEM: not a semaphore"
    rm "$FILE"
  done
}

@test "bad input: a symbolic link, even to a semaphore" {
  tsem create "$SEM.real"
  ln -s "tsem.$SEM.real" "$FILE"
  keeps_file each_verb fails "^$SEM: "
  keeps_file fails "^$SEM: " create "$SEM"
  attempt tsem remove "$SEM.real"
  expect_silence
  keeps_file each_verb fails "^$SEM: " # to a missing file
}

@test "bad input: a directory, a pipe, a socket, a device" {
  mkdir "$FILE"
  keeps_file each_verb fails "^$SEM: "
  rmdir "$FILE"
  mkfifo "$FILE"
  keeps_file each_verb fails "^$SEM: not a semaphore"
  rm "$FILE"
  python3 -IS -c 'import _socket, sys
_socket.socket(_socket.AF_UNIX).bind(sys.argv[1])' "$FILE"
  keeps_file each_verb fails "^$SEM: not a semaphore"
  rm "$FILE"
  mknod "$FILE" c 1 5 2>/dev/null || skip 'devices may not be made here'
  keeps_file each_verb fails "^$SEM: "
}

@test "bad input: another version" {
  tsem create "$SEM"
  printf '\x02' | dd of="$FILE" bs=1 seek=8 conv=notrunc status=none
  keeps_file each_verb fails "^$SEM: .*version.*remove -f"
  rm "$FILE"
  tsem create "$SEM"
  printf '\xff\xff' | dd of="$FILE" bs=1 seek=12 conv=notrunc status=none
  keeps_file each_verb fails "^$SEM: .*version"
  # A file of another layout may be shorter, or longer.
  local bytes
  for bytes in 16 24576 1048576; do
    truncate -s "$bytes" "$FILE"
    keeps_file each_verb fails "^$SEM: .*version.*remove -f"
  done
  attempt tsem list
  expect_match 'what list says' "$ERR" "tsem: $SEM: made by another version of tsem \(.*\)"
  attempt tsem remove -f "$SEM"
  expect_silence
}

# ---- no space ----

@test "bad input: shared memory is missing, or read-only" {
  need_private_shm
  local verb
  for verb in 'create x' 'run -j 1 x true' 'take x' list; do
    # shellcheck disable=SC2086
    attempt unshare --mount --map-root-user -- bash -c 'mount -t tmpfs tmpfs /dev && exec "$@"' bash tsem $verb
    expect_failure '(x: )?/dev/shm does not exist \('
  done
  for verb in 'create x' 'run -j 1 x true'; do
    # shellcheck disable=SC2086
    attempt private-shm 1m bash -c 'remount-shm ro && exec "$@"' bash tsem $verb
    expect_failure 'x: shared memory is read-only \('
  done
}

# ---- standard output ----

# All commands that print.
printing() {
  printf '%s\n' "show $SEM" "show -J $SEM" "show --stats $SEM" "show -o PID $SEM" list 'list -J' 'list -o NAME' 'top -b -i 2 -d 10ms' \
    "top -b -i 1 $SEM" "recover $SEM" "post -p $SEM" --help --version help 'help run'
  local verb
  for verb in $(verbs_of_help); do
    echo "$verb --help"
  done
}

# Expects one line, about standard output. What list says of other tests' semaphores does not count.
expect_one_complaint() {
  expect_status 125
  sed -i "/^tsem: $SEM/!{/standard output/!d}" attempt.err
  expect_equal 'lines on standard error' "$(wc -l <attempt.err)" 1
  expect_match 'standard error' "$(<attempt.err)" '^tsem: .*standard output.* \(.+\)$'
}

# each_printing ATTEMPT...: runs all commands that print. The permit that `post -p` posts must be there even if it
# cannot print.
each_printing() {
  tsem create -j 2 "$SEM"
  hold
  local words
  while read -r -u 7 words; do
    # shellcheck disable=SC2086
    attempt "$@" $words
    "$EXPECTED"
  done 7< <(printing)
  [[ $POSTS == false ]] || tsem take "$SEM"
  expect_shown '[.available, .held, .waiting]|@csv' 1,1,0
}

@test "bad input: standard output is full" {
  [[ -e /dev/full ]] || skip 'there is no /dev/full'
  EXPECTED=expect_one_complaint POSTS=true
  each_printing bash -c 'exec tsem "$@" >/dev/full' bash
}

@test "bad input: standard output is closed" {
  EXPECTED=expect_one_complaint POSTS=false
  each_printing bash -c 'exec tsem "$@" >&-' bash
}

@test "bad input: standard output is a closed pipe" {
  POSTS=true
  died_of_it() {
    expect_status 141
    expect_out ''
    [[ $ERR != *'standard output'* ]]
  }
  EXPECTED=died_of_it
  each_printing broken-pipe 1 tsem
}

@test "bad input: standard output is a closed pipe, and SIGPIPE is ignored" {
  EXPECTED=expect_one_complaint POSTS=true
  each_printing env --ignore-signal=PIPE broken-pipe 1 tsem
}

@test "bad input: standard error is a closed pipe: no permit is lost" {
  tsem create "$SEM"
  tsem take "$SEM"
  start broken-pipe 2 tsem take -v "$SEM"
  eventually is_waiting "$PID"
  tsem post "$SEM"
  finish "$PID"
  expect_status 0
  expect_shown .held 1
  attempt broken-pipe 2 tsem take -v -n "$SEM"
  expect_status 75
  attempt broken-pipe 2 tsem take -k 2 "$SEM"
  expect_status 125
  # The command has SIGPIPE as tsem found it.
  tsem post "$SEM"
  attempt tsem run "$SEM" broken-pipe 1 echo x
  expect_status 141
}

@test "bad input: verbs that print nothing do not need standard output" {
  attempt bash -c 'exec >&-; tsem create "$SEM" && tsem take "$SEM" && tsem post "$SEM" && tsem run "$SEM" true'
  expect_silence
  attempt bash -c 'exec >/dev/full; tsem take "$SEM" && tsem post "$SEM" && tsem run "$SEM" true'
  expect_silence
}

@test "bad input: standard error is closed: the exit status still shows the error" {
  attempt bash -c 'exec tsem take "$SEM" 2>&-'
  expect_silence 125
  attempt bash -c 'exec tsem nonsense >&- 2>&- <&-'
  expect_silence 125
}
