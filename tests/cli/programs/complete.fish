#!/usr/bin/fish
# complete.fish FILE WORD...: prints what the completion of tsem in FILE offers for the last word.
source $argv[1]
complete -C (string join " " -- tsem (string escape -- $argv[2..-2]) $argv[-1])
