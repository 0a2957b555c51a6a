# SPDX-License-Identifier: MIT
load helper

mapfile -t VERBS < <(verbs_of_help)

@test "usage: the verbs in the help are those of the command" {
  expect_equal verbs "$(printf '%s\n' "${VERBS[@]}" | sort | paste -sd' ')" \
    'acquire cancel create help list post recover release remove run set show take top wait watch'
}

@test "usage: no verb at all" {
  refuses '' # without any word
  expect_match 'standard error' "$ERR" '--help'
}

@test "usage: an unknown verb is named" {
  local word
  for word in nonsense Run '' 'take '; do
    refuses "unknown verb '$word'.*--help" "$word" "$SEM"
  done
}

@test "usage: a verb, an option or a name with a typing error is suggested" {
  local typed meant
  while read -r typed meant; do
    refuses "^unknown verb '$typed' \\(did you mean '$meant'\\? see 'tsem --help'\\)" "$typed" "$SEM"
  done <<<'rum run
    RUN run
    shwo show
    lst list
    relase release
    cancell cancel
    ls list
    rm remove
    ps show
    unlock release'
  refuses "'--tiemout' \\(did you mean '--timeout'\\? see" take --tiemout 5 "$SEM"
  refuses "'--tiemout=5' \\(did you mean '--timeout'\\? see" take --tiemout=5 "$SEM"
  refuses "'--nonblok' \\(did you mean '--nonblock'\\? see" run --nonblok "$SEM" true
  tsem create "$SEM"
  refuses "^$SEM-: no such semaphore \\(did you mean '$SEM'\\? see 'tsem list'\\)" take "$SEM-"
  refuses "did you mean '$SEM'\\?" show "${SEM/bats/abts}"
  refuses "did you mean '$SEM'\\?" remove "${SEM/bats/bts}"
}

@test "usage: garbage gets no suggestion" {
  local word
  for word in nonsense x xx foobar remonstrate runrunrun $'r\x01\x02' $'\xff\xff' "$(printf 'r%.0s' {1..300})"; do
    refuses "^unknown verb [^(]* \\(see 'tsem --help'\\)$" "$word"
    refuses "^unknown option [^(]* \\(see 'tsem take --help'\\)$" take "--$word" "$SEM"
  done
  refuses "^unknown option '-Z' \\(see" take -Z "$SEM"
  refuses "^unknown option '--jobserver' \\(see" take --jobserver "$SEM"
  tsem create "$SEM"
  for word in q "no-such-$SEM" "$SEM.$SEM"; do
    refuses "^$word: no such semaphore \\(see 'tsem list'" take "$word"
  done
}

@test "usage: a path in place of a name is explained" {
  refuses "^/tmp/$SEM: not a name but a path: a semaphore needs no file \\(use '$SEM'\\)" run "/tmp/$SEM" true
  refuses "^/tmp/: not a name but a path: a semaphore needs no file \\(use 'NAME'\\)" create /tmp/
  refuses "^/dev/shm/tsem.$SEM: not a name but.*\\(use '$SEM'\\)" show "/dev/shm/tsem.$SEM"
  refuses "^/tmp/a b: not a name but.*\\(use 'NAME'\\)" show '/tmp/a b'
  refuses "^./.x: not a name but a path: a semaphore needs no file \\(use 'NAME'\\)" take ./.x
}

@test "usage: help fits 80 columns, and ends with two examples" {
  attempt tsem --help
  ! grep -q '.\{81\}' attempt.out || fail 'wider than 80 columns'
  local verb
  for verb in "${VERBS[@]}"; do
    attempt tsem "$verb" --help
    ! grep -q '.\{81\}' attempt.out || fail "wider than 80 columns: $(grep '.\{81\}' attempt.out)"
    expect_equal "the last lines of $verb" "$(tail -n 3 attempt.out | cut -d' ' -f1-4 | paste -sd,)" "Examples:,  tsem $verb,  tsem $verb"
  done
}

@test "usage: an unknown option is named, before the verb and after it" {
  refuses "'--nonsense'.*--help" --nonsense
  refuses "'-j3'.*--help" -j3 run "$SEM" true
  local verb
  for verb in "${VERBS[@]}"; do
    refuses "'--nonsense'.*tsem $verb --help" "$verb" --nonsense "$SEM"
    refuses "'-Z'.*tsem $verb --help" "$verb" -Z "$SEM"
  done
}

@test "usage: options of another verb are refused" {
  refuses "'-k'" create -k 2 "$SEM"
  refuses "'-j'" take -j 2 "$SEM"
  refuses "'-n'" post -n "$SEM"
  refuses "'-f'" run -f "$SEM" true
  refuses "'--owner'|--owner=1" take --owner=1 "$SEM"
  refuses "'-J'" remove -J "$SEM"
  refuses "'-w'" release -w 1 "$SEM"
}

@test "usage: an option without its argument" {
  refuses "missing argument.*'-j'" create "$SEM" -j
  refuses "missing argument.*'--permits'|missing argument.*'-j'" create "$SEM" --permits
  refuses "missing argument.*'-w'" take "$SEM" -w
  refuses "missing argument.*'--owner'" acquire "$SEM" --owner
  refuses "missing argument.*'-c'" run "$SEM" -c
}

@test "usage: an argument for an option that takes none" {
  tsem create "$SEM"
  refuses "nonblock" take --nonblock=5 "$SEM"
  refuses "exist-ok" create --exist-ok=yes "$SEM"
}

@test "usage: a missing name" {
  local verb
  for verb in "${VERBS[@]}"; do
    [[ $verb == @(list|help|top) ]] || refuses "$verb.*NAME.*tsem $verb --help" "$verb"
  done
  refuses 'NAME' take -n
  refuses 'NAME' run --
}

@test "usage: too many words" {
  local verb
  for verb in "${VERBS[@]}"; do
    # Of run, the rest is a command; list has no NAME; the others take several.
    [[ $verb != @(run|list|show|wait|watch|cancel|recover|remove) ]] || continue
    refuses "^$SEM: .*'surplus'.*tsem $verb --help" "$verb" "$SEM" surplus
    refuses "^$SEM: .*'surplus'" "$verb" -- "$SEM" surplus
  done
}

@test "usage: --help, on standard output" {
  local verb option
  for option in -h --help; do
    attempt tsem "$option"
    expect_status 0
    expect_err ''
    for verb in "${VERBS[@]}"; do
      expect_match "tsem $option" "$OUT" $'\n'" +$verb +[A-Z]"
    done
    for verb in "${VERBS[@]}"; do
      attempt tsem "$verb" "$option"
      expect_status 0
      expect_err ''
      expect_match "tsem $verb $option" "$OUT" "^Usage: tsem $verb .*-h, --help"
    done
  done
}

@test "usage: help of a verb lists the options of the contract" {
  local verb options option
  while read -r verb options; do
    attempt tsem "$verb" --help
    for option in $options; do
      grep -q -e "$option\\b" attempt.out || fail "tsem $verb --help does not mention $option"
    done
  done <<<'create -j --permits --max -m --mode --exist-ok
    take -k --count -n --nonblock -w --timeout -E --conflict-exit-code -q --quiet -v --verbose
    post -k --count -p
    acquire --owner -k -n -w -E
    release --owner
    run -j --permits -k --count -n --nonblock -w --timeout -E --conflict-exit-code -q --quiet -v --verbose -c
    show -J --json --stats -o --noheadings --raw
    list -J --json -o --noheadings --raw
    set -j --permits
    wait --holders -n --nonblock -w --timeout -E --conflict-exit-code -q --quiet -v --verbose
    remove -f'
}

@test "usage: the help says what -j, -k and -m mean for each verb" {
  local verb line
  while read -r verb line; do
    attempt tsem "$verb" --help
    expect_match "help of $verb" "$OUT" "  $line"
  done <<<'run -j, --permits N +permits of the semaphore, or N% of processors
    run -k, --count K +permits for the command, or all; default 1
    acquire -k, --count K +number of permits, or all; default 1
    create -j, --permits N +permits, or N% of processors; default 1
    create -m, --mode MODE +permissions in octal, default 0600
    set -j, --permits N +the new capacity, or N% of processors
    set -m, --mode MODE +permissions in octal
    post -k, --count K +number of permits; default 1'
  attempt tsem set --help
  [[ $OUT != *default* ]] || fail 'set has no defaults'
}

@test "usage: the usage line names every option but -h and -V" {
  local verb usage short
  for verb in "${VERBS[@]}"; do
    attempt tsem "$verb" --help
    usage=$(sed '/^$/,$d' attempt.out)
    while read -r short _; do
      [[ $short != -h, && $short != -V, ]] || continue
      expect_match "usage of $verb" "$usage" "[ []${short%,}( [A-Z]+)?( \\||\\]|[ "$'\n'"]|$)"
    done < <(sed -n '/^Options/,/^$/p' attempt.out | grep '^ ')
    ! grep -q '.\{80\}' <<<"$usage" || fail "usage of $verb is wider than 79 characters"
  done
}

@test "usage: help VERB prints the same as VERB --help, and help alone lists the verbs" {
  local verb
  for verb in "${VERBS[@]}"; do
    attempt tsem help "$verb"
    expect_status 0
    expect_err ''
    expect_equal "help of $verb" "$OUT" "$(tsem "$verb" --help)"
    attempt tsem --help "$verb" "$SEM"
    expect_equal "help of $verb, asked for in front" "$OUT" "$(tsem "$verb" --help)"
  done
  refuses "unknown verb 'nonsense'.*--help" --help nonsense
  attempt tsem help
  expect_status 0
  expect_out "$(tsem --help)"
  refuses "unknown verb 'nonsense'.*--help" help nonsense
  refuses "'surplus'" help take surplus
}

@test "usage: --help ignores the other words, and does nothing" {
  tsem create "$SEM"
  attempt tsem take "$SEM" --help
  expect_status 0
  expect_at_rest 1
  attempt tsem remove -f -h "$SEM"
  expect_status 0
  expect_at_rest 1
}

@test "usage: --version, on standard output" {
  local option commit=' \([0-9a-f]{12,}(-dirty)?\)'
  # Without git, only a tarball of git archive knows its commit.
  git -C "$BATS_TEST_DIRNAME" rev-parse 2>/dev/null || commit="($commit)?"
  for option in -V --version; do
    attempt tsem "$option"
    expect_status 0
    expect_err ''
    expect_match "tsem $option" "$OUT" "^tsem [0-9]+\.[0-9]+\.[0-9]+$commit\$"
  done
}

@test "usage: --version after a verb" {
  local verb version
  version=$(tsem --version)
  for verb in "${VERBS[@]}"; do
    attempt tsem "$verb" --version
    expect_status 0
    expect_out "$version"
    attempt tsem "$verb" -V
    expect_status 0
    expect_out "$version"
  done
}

@test "usage: -- ends the options" {
  attempt tsem create -- "$SEM"
  expect_silence
  attempt tsem take "$SEM" --
  expect_silence
  attempt tsem post -- "$SEM"
  expect_silence
  refuses "'-n'" take "$SEM" -- -n
  refuses "^-n: not a name" take -- -n
  attempt tsem run -- "$SEM" echo -n a
  expect_status 0
  expect_out a
}

@test "usage: the options of run end at the first word after the name that is none" {
  attempt tsem run "$SEM" -j4 echo -j8 -n -- -k
  expect_status 0
  expect_out '-j8 -n -- -k'
  expect_shown .permits 4
  attempt tsem run -j4 "$SEM" -- echo -- -j8
  expect_status 0
  expect_out '-- -j8'
  attempt tsem run "$SEM" -w 5 -k 2 -- echo a
  expect_status 0
  expect_out a
}

@test "usage: if an option is given twice, the last one counts" {
  attempt tsem create -j 2 -j 3 "$SEM" -j 4
  expect_silence
  expect_shown .permits 4
}

@test "usage: options that exclude each other" {
  tsem create "$SEM"
  refuses "^$SEM: .*-n.*-w|^$SEM: .*-w.*-n" take -n -w 1 "$SEM"
  refuses '-n.*-w|-w.*-n' run -w 1 "$SEM" --nonblock true
}

@test "usage: joined options, as getopt joins them" {
  tsem create -j 3 "$SEM"
  attempt tsem take -nk2 "$SEM"
  expect_silence
  attempt tsem take -vnE7 -k2 "$SEM"
  expect_status 7
}

@test "usage: a message is one line, whatever the words contain" {
  local word
  for word in $'two\nlines' $'\e[31mred' $'tab\there' $'\x7f'; do
    refuses '' "$word"
    refuses '' take "$word"
    refuses '' take "$SEM" "$word"
    refuses '' take --"$word"
    refuses '' take -w "$word" "$SEM"
    if grep -q $'[\e\t]' attempt.err; then
      fail 'unprintable characters on standard error'
    fi
  done
}

@test "usage: no message controls the terminal, and bytes that are no character are shown as bytes" {
  local word
  for word in $'\xff' $'a\xc3' $'\xc3(' $'\xed\xa0\x80' $'\xf5\x80\x80\x80' $'\xc0\x80' $'\x9b31m' $'\xc2\x9b31m' $'\xc2\x85' $'\u202e' $'\u200f' \
    $'\u2028' $'\u2066'; do
    refuses '\\x[0-9a-f]{2}' "$word"
    refuses '\\x[0-9a-f]{2}' take "$word"
    refuses '\\x[0-9a-f]{2}' take "$SEM" "$word"
    refuses '\\x[0-9a-f]{2}' take -w "$word" "$SEM"
    refuses '\\x[0-9a-f]{2}' run "$SEM" --"$word" true
  done
  # In this locale each byte is a character, so that only bytes count.
  refuses '\\xc2\\x9b31mä€𝄞\\xff' take $'\xc2\x9b31mä€𝄞\xff'
  if LC_ALL=C grep -qP '\xc2[\x80-\x9f]' attempt.err; then
    fail 'a control character on standard error'
  fi
  # The line is cut at its end, and not within a character or within the form of a byte.
  for word in {1..5}; do
    attempt tsem take "$(printf 'x%.0s' $(seq "$word"))$(printf '𝄞\xff%.0s' {1..600})"
    expect_status 125
    iconv -f UTF-8 -t UTF-8 attempt.err >/dev/null
    if grep -qP '\\(?!x[0-9a-f]{2})' attempt.err; then
      fail 'half of an escape'
    fi
  done
}

@test "usage: a message fits into one write, however long the words are" {
  local word
  word=$(printf 'x%.0s' {1..9000})
  attempt tsem "$word"
  expect_status 125
  attempt tsem take "$SEM" "$word"
  expect_status 125
  expect_equal 'lines' "$(wc -l <attempt.err)" 1
  expect_match 'standard error' "$ERR" "^tsem: $SEM: "
  ((${#ERR} < 4096)) || fail "${#ERR} characters"
}

# A copy of the command, beside which the test can put files.
copy_command() {
  mkdir copy
  cp "$(type -P tsem)" copy/
}

@test "usage: a program beside the command prints tables, with the same words" {
  copy_command
  # shellcheck disable=SC2016 # expanded in there
  printf '#!/bin/sh\nprintf "%%s\\n" "${0##*/}" "$@"\nexit 3\n' >copy/tsem-view
  chmod +x copy/tsem-view
  cp copy/tsem-view copy/tsem-top
  attempt copy/tsem show -J "$SEM"
  expect_status 3
  expect_out $'tsem-view\nshow\n-J\n'"$SEM"
  attempt copy/tsem list --raw
  expect_out $'tsem-view\nlist\n--raw'
  attempt copy/tsem top
  expect_out $'tsem-top\ntop'
}

@test "usage: a command without its programs says which one is missing" {
  local program
  program=$(strings -a "$(type -P tsem)" | grep -m1 '/libexec/tsem$') || skip 'where they are installed is not known'
  [[ ! -e $program ]] || skip "$program is there"
  copy_command
  attempt copy/tsem show "$SEM"
  expect_status 125
  expect_match 'standard error' "$ERR" "^tsem: cannot start '$program/tsem-view', .*: No such file.*\(install tsem again\)$"
  attempt copy/tsem top
  expect_match 'standard error' "$ERR" "'$program/tsem-top'"
  attempt copy/tsem help show # needs no other program
  expect_status 0
}

@test "usage: a command whose programs it may not execute says so" {
  copy_command
  touch copy/tsem-view
  attempt copy/tsem show "$SEM"
  expect_failure "^cannot start '$PWD/copy/tsem-view', .*: Permission denied \\(let this user"
}

@test "usage: the programs beside the command have their own verbs only" {
  local program
  for program in tsem-view tsem-top; do
    attempt "$(dirname "$(type -P tsem)")/$program" run "$SEM" true
    expect_status 125
    expect_match 'standard error' "$ERR" "^tsem: this is a part of tsem \\(see 'tsem --help'\\)$"
  done
  attempt "$(dirname "$(type -P tsem)")/tsem-top" show "$SEM"
  expect_status 125
}
