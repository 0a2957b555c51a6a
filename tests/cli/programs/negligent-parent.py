#!/usr/bin/python3 -IS
# negligent-parent.py COMMAND...: starts COMMAND and never waits for its end. The file `child` has its pid.
import os
import sys
import time

pid = os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
with open("child.new", "w") as file:
    file.write(str(pid))
os.rename("child.new", "child")
time.sleep(1000)
