# SPDX-License-Identifier: MIT
# Completions in the shells themselves: bash by its completion function, fish by `complete -C`, zsh on a terminal.
load helper

COMPLETIONS=$BATS_TEST_DIRNAME/../../cli/completions

options_of_help() {
  tsem "$1" --help | sed -n '/^Options:/,/^$/p' | grep -oE '^  (-[A-Za-z],|   ) --[a-z-]+' | grep -oE -- '--?[A-Za-z-]+'
}

# in_bash WORD...: the completions of the last word.
in_bash() {
  complete.bash "$COMPLETIONS/tsem.bash" "$@"
}

# The same in fish, whose completions have descriptions.
in_fish() {
  HOME=$PWD XDG_CONFIG_HOME=$PWD XDG_DATA_HOME=$PWD complete.fish "$COMPLETIONS/tsem.fish" "$@" | cut -f1
}

need_fish() {
  command -v fish >/dev/null || skip 'there is no fish'
}

# Expects that SHELL offers everything at these places.
expect_offered() {
  local shell=$1 expected=$2
  expect_equal "in $shell, behind ${*:3}" "$("in_$shell" "${@:3}" | sort -u)" "$(sort -u <<<"$expected")"
}

expect_completions() {
  local verb
  tsem create "$SEM"
  tsem create "$SEM.other"
  for verb in $(verbs_of_help); do
    expect_offered "$1" "$(options_of_help "$verb" | grep -e ^--)" "$verb" --
    case $verb in
      list | create | help) ;;
      *) expect_offered "$1" "$SEM"$'\n'"$SEM.other" "$verb" "$SEM" ;;
    esac
  done
  expect_offered "$1" "$(verbs_of_help | grep ^re)" re
  expect_offered "$1" "$(verbs_of_help | grep ^re)" help re
  expect_offered "$1" "$SEM.other" take -k 3 "$SEM."
  expect_offered "$1" "$SEM.other" run -j 3 "$SEM."
  expect_offered "$1" UID show "$SEM" -o UI
  expect_offered "$1" UUID list --output UU
  expect_offered "$1" HELD,WAITING list -o HELD,WAITI
  expect_offered "$1" TREND top -s TR
  expect_offered "$1" --nonblock run "$SEM" --non
  expect_offered "$1" "$SEM.other" show "$SEM" "$SEM."
  expect_offered "$1" "$SEM.other" remove "$SEM" "$SEM" "$SEM."
  expect_offered "$1" "$SEM.other" watch "$SEM" "$SEM."
  expect_offered "$1" ignore run --on-lost ig
  expect_offered "$1" fifo run --jobserver-style f
  expect_offered "$1" all run -k a
  expect_offered "$1" all acquire -k a
  expect_offered "$1" '' take -k a
  expect_offered "$1" 0600 create -m 060
  expect_offered "$1" 10s top -d 10s
  expect_offered "$1" HOME run --slot-env HOM
  expect_offered "$1" etcd: list e
  touch a-log
  expect_offered "$1" a-log run --log a-
  tsem take "$SEM"
  enqueue tsem take "$SEM"
  tsem acquire --owner $$ "$SEM.other"
  expect_offered "$1" "$PID" cancel "$SEM" --owner ''
  expect_offered "$1" "$PID"$'\n'"$$" cancel "$SEM" "$SEM.other" --owner ''
  expect_offered "$1" "$(stat -Lc %i /proc/self/ns/pid)" recover "$SEM" --owner 1 --pid-ns 4
  expect_match 'owners of all semaphores' " $("in_$1" cancel --owner '' | paste -sd' ') " " $$ "
  rm -f "$FILE.other"
}

@test "completions: bash" {
  expect_completions bash
  expect_offered bash "$(verbs_of_help)"$'\n--help\n--version' ''
  expect_offered bash --nonblock run etcd : //host : 2379/deploy --non
  expect_offered bash '' run etcd : --non
  expect_offered bash "$(options_of_help run)" run -
  expect_offered bash "$SEM,$SEM" run "$SEM,$SEM"
  mkdir bin
  printf '#!/bin/sh\n' >bin/zzz-a-command
  chmod +x bin/zzz-a-command
  PATH=$PWD/bin:$PATH
  expect_offered bash zzz-a-command run "$SEM" zzz-
  expect_offered bash zzz-a-command run "$SEM" -j 3 -- zzz-
  expect_offered bash zzz-a-command run "$SEM" -c zzz-
  expect_offered bash '' acquire --owner "'0/!e touch pwned #"
  [[ ! -e pwned ]]
  expect_match processes " $(in_bash acquire --owner "$PPID" | paste -sd" ") " " $PPID "
}

@test "completions: bash, with the Tab key" {
  tsem create "$SEM"
  attempt python3 "$BATS_TEST_DIRNAME/terminal.py" 'see:$ ' 'type:source '"$COMPLETIONS"'/tsem.bash\n' 'see:$ ' \
    'type:tsem sh\t' 'see:tsem show ' "type:${SEM%??}\\t" "see:$SEM" 'type: --raw -o ALI\t' 'see:ALIVE'
  expect_status 0
}

@test "completions: fish" {
  need_fish
  expect_completions fish
  expect_offered fish "$(verbs_of_help)" ''
  expect_offered fish seq run "$SEM" -j 3 -- seq
  expect_offered fish seq run "$SEM" seq
  expect_equal 'of the command' "$(in_fish run "$SEM" mktemp --direc)" --directory
  expect_equal 'tsem has no say there' "$(in_fish run "$SEM" env --permi)" ''
}

@test "completions: zsh" {
  command -v zsh >/dev/null || skip 'there is no zsh'
  need_emulator
  local verb option steps=()
  tsem create "$SEM"
  tsem create "$SEM.other"
  # Ctrl-U clears the line, Ctrl-L the screen.
  local fresh=('key:\x15\x0c' 'see:\A%$')
  for verb in $(verbs_of_help); do
    steps+=("${fresh[@]}" "key:tsem $verb -\\t")
    for option in $(options_of_help "$verb"); do
      steps+=("see:(^| )$option( |\$)")
    done
  done
  steps+=("${fresh[@]}" 'key:tsem \t')
  for verb in $(verbs_of_help); do
    steps+=("see:^$verb +-- [A-Z]")
  done
  steps+=("${fresh[@]}" 'key:tsem sho\t' 'see:tsem show' "key:$SEM\\t\\t" "see:$SEM.other" 'key:\x15\x0c' 'see:\A%$'
    "key:tsem run -j 3 $SEM.\\t" "see:$SEM.other" 'key: mktem\t' "see:$SEM.other mktemp" 'key:\x15\x0c' 'see:\A%$'
    "key:tsem help recov\\t" 'see:help recover' 'key:\x15\x0c' 'see:\A%$'
    'key:tsem list -o NAME,UU\t' 'see:NAME,UUID' 'key:\x15\x0c' 'see:\A%$'
    'key:tsem top -s TRE\t' 'see:-s TREND' 'key:\x15\x0c' 'see:\A%$' 'key:exit 0\n' restored:0)
  HOME=$PWD
  cat >.zshrc <<END
PS1='%% '
unsetopt prompt_sp
fpath=('$COMPLETIONS' \$fpath)
autoload -Uz compinit && compinit -u -D
LISTMAX=1000
END
  # The shell starts tsem some hundred times.
  DEADLINE=180 attempt env -u ZDOTDIR HOME="$PWD" python3 "$BATS_TEST_DIRNAME/screen.py" 160x50 'see:\A%$' "${steps[@]}" -- zsh -d -i
  rm -f "$FILE.other"
  expect_status 0
}
