#!/usr/bin/python3 -S
"""Returns more tokens than it has claimed, claims one, and exits. Each step waits for a line through `gate`."""
import os

import jobs

tokens, back = jobs.connect()
open("gate").read()
os.write(back, b"++++++")
open("returned", "w").close()
open("gate").read()
os.read(tokens, 1)
open("gate").read()
