#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Types into an interactive shell on a pseudo-terminal.

Arguments, done one after the other:
  type:TEXT      types it; \\n, \\x03 and the like as in Python
  until:COMMAND  waits until this shell command succeeds
  see:TEXT       waits until the terminal shows TEXT, after what was seen before

Prints all that the terminal showed. Exits with 1 if a condition was not met in time.
"""

import os
import select
import subprocess
import sys
import time

DEADLINE = float(os.environ.get("DEADLINE", "30")) / 2


class Terminal:
    def __init__(self):
        self.shown = ""
        self.seen = 0
        pid, self.fd = os.forkpty()
        if pid == 0:
            os.environ.update(PS1="$ ", TERM="dumb", HISTFILE="")
            os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])

    def listen(self, seconds):
        if select.select([self.fd], [], [], seconds)[0]:
            try:
                self.shown += os.read(self.fd, 4096).decode(errors="replace")
            except OSError:  # the shell has ended
                time.sleep(seconds)

    def type(self, text):
        os.write(self.fd, text.encode().decode("unicode_escape").encode())

    def see(self, text):
        at = self.shown.find(text, self.seen)
        if at >= 0:
            self.seen = at + len(text)
        return at >= 0

    def wait(self, condition):
        end = time.monotonic() + DEADLINE
        while not condition():
            if time.monotonic() > end:
                return False
            self.listen(0.01)
        return True


def succeeds(command):
    return subprocess.run(["bash", "-c", command], stderr=subprocess.DEVNULL).returncode == 0


def main():
    terminal = Terminal()
    for step in sys.argv[1:]:
        what, _, text = step.partition(":")
        if what == "type":
            terminal.type(text)
            continue
        condition = {"until": lambda: succeeds(text), "see": lambda: terminal.see(text)}[what]
        if not terminal.wait(condition):
            print(terminal.shown.replace("\r", ""), f"[not so in time: {step}]", sep="\n")
            return 1
    terminal.listen(0)
    print(terminal.shown.replace("\r", ""))
    return 0


sys.exit(main())
