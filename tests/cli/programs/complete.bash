#!/bin/bash
# complete.bash FILE WORD...: what the completion of tsem in FILE offers for the last word.
# shellcheck disable=SC1090,SC2034 # the completion reads COMP_WORDS and COMP_CWORD
source "$1"
shift
COMP_WORDS=(tsem "$@")
COMP_CWORD=$#
_tsem
printf '%s\n' "${COMPREPLY[@]}"
