#!/usr/bin/python3 -S
"""client.py FILE N COMMAND...: claims N tokens, creates FILE, and executes COMMAND."""
import os
import sys

import jobs

tokens, _ = jobs.connect()
for _ in range(int(sys.argv[2])):
    os.read(tokens, 1)
open(sys.argv[1], "w").close()
os.execvp(sys.argv[3], sys.argv[3:])
