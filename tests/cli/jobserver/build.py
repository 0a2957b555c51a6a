#!/usr/bin/python3 -S
"""build.py NAME N: runs N jobs as make does, each with a token, except for one, which needs none."""
import os
import select
import signal
import subprocess
import sys

import jobs

tokens, back = jobs.connect(os.O_NONBLOCK)
todo = [f"{sys.argv[1]}{i}" for i in range(1, int(sys.argv[2]) + 1)]
running = {}  # each job and its token; one job needs none

ended, wake = os.pipe()
os.set_blocking(wake, False)
signal.set_wakeup_fd(wake)
signal.signal(signal.SIGCHLD, lambda *_: None)


def claim():
    if None not in running.values():
        return True, None
    try:
        return True, os.read(tokens, 1)
    except BlockingIOError:
        return False, None


while todo or running:
    while todo:
        may, token = claim()
        if not may:
            break
        running[subprocess.Popen(["./job", todo.pop(0)])] = token
    readable, _, _ = select.select([ended] + ([tokens] if todo else []), [], [])
    if ended in readable:
        os.read(ended, 4096)
    for job in [job for job in running if job.poll() is not None]:
        token = running.pop(job)
        if token is not None:
            os.write(back, token)
