#!/usr/bin/python3 -IS
# editor.py HOW MODE: stops itself on Ctrl-Z, as editors do after tidying the screen.  HOW: `stop` sends SIGSTOP to
# itself, `self` SIGTSTP to itself, `group` SIGTSTP to its process group. MODE: `cooked` leaves the key to the terminal
# and exits when there is a file `stop`; `raw` reads the key itself and exits at any other key. Either exits with status
# 5.
import os
import signal
import sys
import termios
import time


def stop(*_):
    if how == "self":
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTSTP])
    os.kill(0 if how == "group" else os.getpid(), signal.SIGSTOP if how == "stop" else signal.SIGTSTP)


how, mode = sys.argv[1:]
while mode == "raw":
    terminal = termios.tcgetattr(0)
    terminal[3] &= ~termios.ISIG & ~termios.ICANON
    termios.tcsetattr(0, termios.TCSANOW, terminal)
    os.write(1, b"ready\n")
    if os.read(0, 1) != b"\x1a":
        os._exit(5)
    stop()
signal.signal(signal.SIGTSTP, stop)
os.write(1, b"ready\n")
while not os.path.exists("stop"):
    time.sleep(0.01)
os._exit(5)
