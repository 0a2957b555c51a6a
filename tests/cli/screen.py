#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs a program on a terminal of its own, an emulated xterm, and checks what the screen shows.

Usage: screen.py COLUMNSxROWS STEP... -- COMMAND [ARGUMENT]...
Steps, done one after the other:
  see:REGEX       waits until the screen, lines joined by newlines, matches
  gone:REGEX      waits until it does not match
  key:TEXT        types it; \\n, \\x1b and the like as in Python
  until:COMMAND   waits until this shell command succeeds
  size:CxR        changes the size of the terminal
  signal:NAME     sends it to the program, SIGTERM for one
  print           prints the screen
  restored:STATUS waits until the program has ended with that status, or the negative number of a signal, and checks
                  whether the terminal is as it was

Prints the screen at the end. If a condition was not met in time, prints it and exits with 1.
"""

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import pyte

DEADLINE = float(os.environ.get("DEADLINE", "30")) / 2


class Terminal:
    def __init__(self, size, command):
        columns, rows = map(int, size.split("x"))
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.status = None
        master, slave = os.openpty()
        self.fd = master
        self.resize(size)
        self.before = termios.tcgetattr(slave)
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            for fd in range(3):
                os.dup2(slave, fd)
            os.closerange(3, 100)
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            os.environ["TERM"] = "xterm-256color"  # the emulated type, whatever the tests run on
            os.execvp(command[0], command)
        self.slave = slave  # kept open, so that it can be read after the program has ended

    def resize(self, size):
        columns, rows = map(int, size.split("x"))
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    def listen(self, seconds):
        if select.select([self.fd], [], [], seconds)[0]:
            data = os.read(self.fd, 65536)
            self.raw += data
            self.stream.feed(data)

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def has_ended(self):
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is not None

    def is_restored(self):
        """Whether the settings are restored, on the ordinary screen, with a cursor."""
        self.listen(0)
        return (
            termios.tcgetattr(self.slave) == self.before
            and self.raw.rfind(b"\x1b[?1049l") >= self.raw.rfind(b"\x1b[?1049h")
            and self.raw.rfind(b"\x1b[?25h") >= self.raw.rfind(b"\x1b[?25l")
        )

    def wait(self, condition):
        end = time.monotonic() + DEADLINE
        while not condition():
            if time.monotonic() > end:
                return False
            self.listen(0.01)
        return True


def matches(terminal, text):
    return re.search(text, terminal.text(), re.MULTILINE) is not None


def do(terminal, step):
    what, _, text = step.partition(":")
    if what == "key":
        os.write(terminal.fd, text.encode().decode("unicode_escape").encode())
    elif what == "size":
        terminal.resize(text)
    elif what == "signal":
        os.kill(terminal.pid, getattr(signal, text))
    elif what == "print":
        print(terminal.text())
    elif what == "see":
        return terminal.wait(lambda: matches(terminal, text))
    elif what == "gone":
        return terminal.wait(lambda: not matches(terminal, text))
    elif what == "until":
        return terminal.wait(lambda: subprocess.run(["bash", "-c", text], stderr=subprocess.DEVNULL).returncode == 0)
    elif what == "restored":
        if not terminal.wait(terminal.has_ended) or terminal.status != int(text):
            print(f"[status {terminal.status}]")
            return False
        return terminal.wait(terminal.is_restored)
    else:
        sys.exit(f"screen.py: no such step: {step}")
    return True


def main():
    split = sys.argv.index("--")
    terminal = Terminal(sys.argv[1], sys.argv[split + 1 :])
    for step in sys.argv[2:split]:
        if not do(terminal, step):
            print(terminal.text(), f"[not so in time: {step}]", sep="\n")
            if terminal.status is None:
                os.kill(terminal.pid, signal.SIGKILL)
            return 1
    terminal.listen(0)
    if not terminal.has_ended():
        os.kill(terminal.pid, signal.SIGKILL)
        os.waitpid(terminal.pid, 0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
