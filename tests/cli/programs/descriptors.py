#!/usr/bin/python3 -IS
# Writes into the file `seen` which descriptors are open, and what each refers to.
import os

lines = []
for fd in range(1024):
    try:
        lines.append("%d %s %o\n" % (fd, os.readlink("/proc/self/fd/%d" % fd), os.stat(fd).st_mode))
    except OSError:
        pass
file = os.open("seen", os.O_CREAT | os.O_WRONLY)
os.write(file, "".join(lines).encode())
