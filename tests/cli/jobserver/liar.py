#!/usr/bin/python3 -S
"""Gives back more tokens than it has claimed, claims one, and ends; each when something comes through `gate`."""
import os

import jobs

tokens, back = jobs.connect()
open("gate").read()
os.write(back, b"++++++")
open("returned", "w").close()
open("gate").read()
os.read(tokens, 1)
open("gate").read()
