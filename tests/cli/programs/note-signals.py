#!/usr/bin/python3 -IS
# Appends the name of each signal that it gets to the file `signals`. When it is ready, the file `parent` has its
# parent's pid.
import os
import signal

log = os.open("signals", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
for name in "TERM HUP INT QUIT USR1 USR2 CONT TSTP WINCH".split():
    signal.signal(getattr(signal, "SIG" + name), lambda number, _: os.write(log, (signal.Signals(number).name + "\n").encode()))
with open("parent.new", "w") as file:
    file.write(str(os.getppid()))
os.rename("parent.new", "parent")
while True:
    signal.pause()
