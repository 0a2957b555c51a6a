# SPDX-License-Identifier: MIT
# Completion of tsem(1) for fish. It learns verbs and options from 'tsem help' and 'tsem VERB --help'.

function __tsem_verbs
    tsem help 2>/dev/null | string replace -rf '^  ([a-z]+) +(.*)$' '$1\t$2'
end

function __tsem_names
    tsem list --raw --noheadings -o NAME 2>/dev/null
end

# A column of the holders and waiters of the semaphores that are named, or of all.
function __tsem_participants
    set -l names (__tsem_operands)
    test (count $names) -gt 0; or set names (__tsem_names)
    test (count $names) -eq 0; or tsem show --raw --noheadings -o $argv[1] $names 2>/dev/null
end

function __tsem_columns
    tsem $argv[1] --help | string replace -rf '^ [* ]([A-Z]+) +(.*)$' '$1\t$2'
end

# Prints the words after the verb that are neither options nor their arguments: NAME, and the command of run.
function __tsem_operands
    set -l words (commandline -opc)
    set -l verb $words[2]
    set -l takes (tsem $verb --help 2>/dev/null | string replace -rf '^  (-.,|   ) (--[a-z-]+) [A-Z]+ .*' '$1\n$2' |
        string split '\n' | string trim -c ' ,')
    set -l operands
    set -l expected no
    set -l open yes
    for word in $words[3..]
        if test $expected = yes
            set expected no
        else if test $open = no
            set -a operands $word
        else if test "$word" = --
            set open no
        else if string match -q -- '-*' $word
            contains -- $word $takes; and set expected yes
        else
            set -a operands $word
            # Options may follow NAME, but not the first word of the command of run.
            test $verb = run -a (count $operands) -ge 2; and set open no
        end
    end
    string join \n -- $operands
end

function __tsem_wants_name
    test (count (__tsem_operands)) -eq 0
end

function __tsem_wants_command
    test (count (__tsem_operands)) -ge 1
end

function __tsem_command
    set -l operands (__tsem_operands)
    complete --do-complete=(string join ' ' -- (string escape -- $operands[2..]) (commandline -ct))
end

complete -c tsem -f
complete -c tsem -n __fish_use_subcommand -a '(__tsem_verbs)'
complete -c tsem -n __fish_use_subcommand -s h -l help -d 'print help'
complete -c tsem -n __fish_use_subcommand -s V -l version -d 'print the version'

for line in (__tsem_verbs)
    set -l verb (string split \t -- $line)[1]
    set -l help (tsem $verb --help)
    set -l when "__fish_seen_subcommand_from $verb"
    test $verb = run; and set when "$when; and test (count (__tsem_operands)) -lt 2"
    for option in (string match -r '^  (?:-.,|   ) --.*' -- $help)
        set -l parts (string match -r '^  (-.,|   ) --([a-z-]+) ([A-Z]*) +(.*)$' -- $option)
        set -l spec -l $parts[3] -d $parts[5]
        string match -q -- '-*' $parts[2]; and set -a spec -s (string sub -s 2 -l 1 -- $parts[2])
        switch "$parts[4]"
            case ''
            case PID
                switch $verb
                    case cancel recover
                        set -a spec -x -a '(__tsem_participants PID)'
                    case '*'
                        set -a spec -x -a '(__fish_complete_pids)'
                end
            case NS
                set -a spec -x -a '(__tsem_participants PIDNS)'
            case ACTION
                set -a spec -x -a 'stop ignore ABRT ALRM CONT HUP INT KILL QUIT STOP TERM TSTP USR1 USR2 WINCH'
            case STYLE
                set -a spec -x -a 'pipe fifo'
            case MODE
                set -a spec -x -a '0600 0660 0666'
            case DUR
                set -a spec -x -a '1s 10s 1m 10m 1h'
            case VAR
                set -a spec -x -a '(set --names --export)'
            case FILE
                set -a spec -r -F
            case K
                set -a spec -x
                string match -q -- '*or all*' $parts[5]; and set -a spec -a all
            case GROUP
                set -a spec -x -a '(__fish_complete_groups)'
            case COMMAND
                set -a spec -x -a '(__fish_complete_command)'
            case COL
                set -a spec -x -a "(__tsem_columns $verb)"
            case COLS
                set -a spec -x -a "(__fish_append , (__tsem_columns $verb))"
            case '*'
                set -a spec -x
        end
        complete -c tsem -n $when $spec
    end
    switch $verb
        case help
            complete -c tsem -n "$when; and __tsem_wants_name" -a '(__tsem_verbs)'
        case create
        case list
            complete -c tsem -n "$when; and __tsem_wants_name" -a etcd:
        case run
            complete -c tsem -n "$when; and __tsem_wants_name" -a '(__tsem_names)'
            complete -c tsem -n "__fish_seen_subcommand_from run; and __tsem_wants_command" -a '(__tsem_command)'
        case '*'
            string match -q '*NAME...*' -- $help; or set when "$when; and __tsem_wants_name"
            complete -c tsem -n $when -a '(__tsem_names)'
    end
end
