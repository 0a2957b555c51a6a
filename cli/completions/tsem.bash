# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Completion of tsem(1) for bash. It learns verbs and options from 'tsem help' and 'tsem VERB --help'.

_tsem_verbs() {
  "$1" help 2>/dev/null | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

_tsem_names() {
  "$1" list --raw --noheadings -o NAME 2>/dev/null
}

# Prints a line "-j --permits N-" for each option of a help text, with "-" in place of a missing letter.
_tsem_options() {
  sed -nE '/^Options:/,/^$/s/^  (-[A-Za-z]|   )[ ,]* (--[a-z-]+) ([A-Z]*) .*/\1 \2 \3-/p' | sed 's/^   /-/'
}

_tsem_columns() {
  sed -nE '/^Columns/,/^$/s/^ [* ]([A-Z]+) .*/\1/p'
}

# Prints a column of the holders and waiters of the semaphores that are named, or of all.
_tsem_participants() {
  local tsem=$1 column=$2 names=("${@:3}")
  ((${#names[@]} > 0)) || mapfile -t names < <(_tsem_names "$tsem")
  ((${#names[@]} == 0)) || "$tsem" show --raw --noheadings -o "$column" "${names[@]}" 2>/dev/null
}

# Prints the candidates for an argument of that kind. Of a list with commas, only the last part is completed.
_tsem_arguments() {
  local kind=$1 help=$2 cur=$3 tsem=$4 verb=$5 names=("${@:6}") before=""
  case $verb,$kind in
    cancel,PID | recover,PID) compgen -W "$(_tsem_participants "$tsem" PID "${names[@]}")" -- "$cur" ;;
    *,PID) compgen -W "$(cd /proc && compgen -G '[0-9]*')" -- "$cur" ;;
    *,NS) compgen -W "$(_tsem_participants "$tsem" PIDNS "${names[@]}")" -- "$cur" ;;
  esac
  case $kind in
    ACTION) compgen -W 'stop ignore ABRT ALRM CONT HUP INT KILL QUIT STOP TERM TSTP USR1 USR2 WINCH' -- "$cur" ;;
    STYLE) compgen -W 'pipe fifo' -- "$cur" ;;
    MODE) compgen -W '0600 0660 0666' -- "$cur" ;;
    DUR) compgen -W '1s 10s 1m 10m 1h' -- "$cur" ;;
    K) [[ $help != *'or all'* ]] || compgen -W all -- "$cur" ;;
    VAR) compgen -v -- "$cur" ;;
    FILE) compgen -f -- "$cur" ;;
    GROUP) compgen -g -- "$cur" ;;
    COMMAND) compgen -c -- "$cur" ;;
    COL) compgen -W "$(_tsem_columns <<<"$help")" -- "$cur" ;;
    COLS)
      [[ $cur != *,* ]] || before=${cur%,*},
      compgen -P "$before" -W "$(_tsem_columns <<<"$help")" -- "${cur##*,}"
      ;;
  esac
}

_tsem() {
  local tsem=${COMP_WORDS[0]} verb=${COMP_WORDS[1]} cur=${COMP_WORDS[COMP_CWORD]}
  local help short long kind word several="" i names=() before="" open=1 expected=""
  local -A takes=()
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$(_tsem_verbs "$tsem") --help --version" -- "$cur")
    return
  fi
  help=$("$tsem" "$verb" --help 2>/dev/null) || return
  [[ $help != *NAME...* ]] || several=1
  while read -r short long kind; do
    kind=${kind%-}
    takes[$long]=$kind
    [[ $short == - ]] || takes[$short]=$kind
  done < <(_tsem_options <<<"$help")

  # Find out whether the cursor is after an option that takes an argument, after NAME, or in the command of run.
  for ((i = 2; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ -n $expected ]]; then
      expected=
    elif [[ $open && $word == -- ]]; then
      open=
    elif [[ $open && $word == -* ]]; then
      expected=${takes[$word]-}
    elif [[ ${#names[@]} -eq 0 || $several ]]; then
      # For bash, a colon ends a word: "etcd", ":", "deploy".
      while [[ ${COMP_WORDS[i + 1]-} == : ]]; do
        word+=:${COMP_WORDS[i + 2]-}
        ((i += 2))
      done
      names+=("$word")
    else
      break
    fi
  done
  ((i <= COMP_CWORD)) || return
  if [[ $verb == run && ${#names[@]} -gt 0 && ($i -lt $COMP_CWORD || ! $open) ]]; then
    declare -F _command_offset >/dev/null && _command_offset "$i" && return
    mapfile -t COMPREPLY < <(compgen -c -- "$cur")
  elif [[ -n $expected ]]; then
    mapfile -t COMPREPLY < <(_tsem_arguments "$expected" "$help" "$cur" "$tsem" "$verb" "${names[@]}")
  elif [[ $open && $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "${!takes[*]}" -- "$cur")
  elif [[ ${#names[@]} -eq 0 && $verb == help ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_tsem_verbs "$tsem")" -- "$cur")
  elif [[ ${#names[@]} -eq 0 && $verb == list ]]; then
    mapfile -t COMPREPLY < <(compgen -W etcd: -- "$cur")
  elif [[ (${#names[@]} -eq 0 && $verb != create) || $several ]]; then
    [[ $verb != run || $cur != *,* ]] || before=${cur%,*},
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$(_tsem_names "$tsem")" -- "${cur##*,}")
  elif [[ ${#names[@]} -gt 0 && $verb == run ]]; then
    mapfile -t COMPREPLY < <(compgen -c -- "$cur")
  fi
}

complete -F _tsem tsem
