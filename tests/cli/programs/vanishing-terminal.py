#!/usr/bin/python3 -IS
# vanishing-terminal.py COMMAND...: runs COMMAND on a terminal, with SIGHUP ignored as under nohup, and closes the terminal once
# COMMAND has shown "1 permit". Succeeds if COMMAND then exits, whatever its status.
import os
import pty
import signal
import sys

pid, fd = pty.fork()
if pid == 0:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.environ["TERM"] = "xterm"
    os.execvp(sys.argv[1], sys.argv[1:])
while b"1 permit" not in os.read(fd, 65536):
    pass
os.close(fd)
pid, status = os.waitpid(pid, 0)
sys.exit(0 if os.WIFEXITED(status) else 1)
