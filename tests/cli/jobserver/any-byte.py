#!/usr/bin/python3 -S
"""Returns other bytes than it has claimed: Ctrl-C, Ctrl-D, Ctrl-S, Ctrl-Z, carriage return and newline mean something to a
terminal that is not raw."""
import os

import jobs

tokens, back = jobs.connect()
for byte in b"\x03\x04\x13\x1a\r\n+":
    assert len(os.read(tokens, 1)) == 1
    os.write(back, bytes([byte]))
