#!/usr/bin/python3 -IS
# Exits with status 5 when there is a file `stop`; the file `pid` has its pid. It is a single process, because a shell
# that is just starting another process (with vfork) cannot be stopped at that moment.
import os
import time

with open("pid.new", "w") as file:
    file.write(str(os.getpid()))
os.rename("pid.new", "pid")
while not os.path.exists("stop"):
    time.sleep(0.01)
os._exit(5)
