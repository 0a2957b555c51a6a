#!/usr/bin/python3 -IS
# own-group.py COMMAND...: runs COMMAND in a process group of its own and exits with its status, as a shell with job
# control does. In a group that no process can continue, SIGTSTP and similar signals would have no effect. Bash
# sometimes loses its child when the child is stopped and continued (wait_for: No record of process).
import os
import signal
import sys

pid = os.fork()
if pid == 0:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    os.setpgid(0, 0)
    os.execvp(sys.argv[1], sys.argv[1:])
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.exit(status if status >= 0 else 128 - status)
