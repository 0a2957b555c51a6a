#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hostile-images.py NAME IMAGES: runs every verb of tsem on damaged images of the semaphore NAME, which must exist.

Every verb must end soon, with an exit status that tsem(1) names and at most one line on standard error. Its JSON must be
valid JSON in UTF-8. The damage depends on the number of the image only, so a fault can be repeated.
"""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import time

DEADLINE = 60  # only against hanging
HEADER, ARRAY, RECORDS, END = 0, 4096, 28672, 32768
TICKETS, CAPACITY, RESERVED, REMOVED, CANCELS, STATISTICS = 64, 80, 132, 200, 196, 256

name, images = sys.argv[1], int(sys.argv[2])
path = "/dev/shm/tsem." + name
with open(path, "rb") as file:
    good = file.read()

VERBS = [
    (["show", name], (0, 125)),
    (["show", "-J", "--stats", name], (0, 125)),
    (["show", "--raw", "--noheadings", "-o", "STATE,POSITION,PID,USER,COUNT,TIME,ALIVE,COMMAND,OWNED", name], (0, 125)),
    (["list"], (0,)),
    (["list", "-J", "--stats"], (0,)),
    (["list", "--metrics"], (0,)),
    (["take", "-n", name], (0, 75, 125)),
    (["take", "-k", "2", "-w", "0.05", name], (0, 75, 125)),
    (["acquire", "-w", "0.05", "--owner", str(os.getpid()), name], (0, 75, 125)),
    (["release", "--owner", str(os.getpid()), name], (0, 125)),
    (["run", "-w", "0.05", name, "true"], (0, 75, 125)),
    (["run", "-j", "2", "-w", "0.05", name, "true"], (0, 75, 125)),
    (["run", "-n", name, "-c", "exit 3"], (3, 75, 125)),
    (["post", "-p", name], (0, 125)),
    (["recover", name], (0, 125)),
    (["create", "--exist-ok", "-j", "2", name], (0, 125)),
    (["remove", name], (0, 125)),
    (["remove", "-f", name], (0, 125)),
]


def put(image, at, layout, *values):
    struct.pack_into(layout, image, at, *values)


def damage(number):
    """Returns image `number`: the first ones are written by hand, the others are random."""
    image = bytearray(good)
    chance = random.Random(number)
    if number == 0:
        put(image, REMOVED, "<I", 1)  # although the name exists
    elif number == 1:
        image[TICKETS:ARRAY] = b"\xff" * (ARRAY - TICKETS)
    elif number == 2:
        image[RECORDS:END] = b"\xff" * (END - RECORDS)
    elif number == 3:
        put(image, CAPACITY, "<I", 0xFFFFFFFF)
        put(image, RESERVED, "<I", 0xFFFFFFFF)
        put(image, STATISTICS, "<6Q", *[2**64 - 1] * 6)
    elif number == 4:
        image[32:40] = struct.pack("<q", 2**62)  # created in the far future
        put(image, RESERVED, "<I", 0)
    elif number == 5:
        image = image[:-1]
    elif number == 6:
        image[0:TICKETS] = b"\0" * TICKETS
    else:
        for _ in range(chance.choice((1, 4, 40, 400))):
            low, high = chance.choice(((TICKETS, STATISTICS), (ARRAY, RECORDS), (RECORDS, END), (RECORDS, END)))
            at = chance.randrange(low, high - 8) & ~7
            value = chance.choice((0, 1, 2**64 - 1, 2**63, chance.getrandbits(64), chance.getrandbits(20)))
            put(image, at, "<Q", value)
        for i in range(chance.choice((0, 5, 64))):  # plausible records: some pid, some state near the counters
            owner = chance.choice((0, 1, 2, 3)) << 62 | chance.choice((1, os.getpid(), 4194303)) << 40
            state = chance.randrange(0, 3) << 16 | chance.randrange(0, 32)
            put(image, RECORDS + 64 * i, "<QQII", owner, state, 0, chance.choice((0, 1, 2, 2**32 - 1)))
    return bytes(image)


def check(number, words, allowed):
    prefix = f"image {number}: tsem {' '.join(words)}: "
    try:
        done = subprocess.run(["tsem", *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=DEADLINE)
    except subprocess.TimeoutExpired:
        sys.exit(prefix + "hangs")
    if done.returncode not in allowed:
        sys.exit(prefix + f"status {done.returncode}: {done.stderr!r}")
    try:
        out = done.stdout.decode("utf-8", "strict")
        done.stderr.decode("utf-8", "strict")
        if done.returncode == 0 and "-J" in words:
            json.loads(out)
    except ValueError as error:
        sys.exit(prefix + f"{error}: {done.stdout!r}")
    # A wait may say what it waits for, and at its end why it was in vain.
    lines = 2 if "-w" in words and done.returncode == 75 else 1
    if words[0] != "list" and done.stderr.count(b"\n") > lines:
        sys.exit(prefix + f"more than {lines} lines: {done.stderr!r}")
    return done.returncode


events = tempfile.TemporaryFile("w+b")
watch = subprocess.Popen(["tsem", "watch", "-d", "1ms", name], stdout=events, stderr=subprocess.DEVNULL)
while os.fstat(events.fileno()).st_size == 0:
    time.sleep(0.01)

accepted = 0
for number in range(images):
    for words, allowed in VERBS:
        with open(path + ".new", "wb") as file:
            file.write(damage(number))
        os.chmod(path + ".new", 0o600)
        os.rename(path + ".new", path)
        accepted += check(number, words, allowed) != 125
if watch.poll() is not None:
    sys.exit(f"tsem watch ended with status {watch.returncode}")
watch.kill()
watch.wait()
events.seek(0)
told = {json.loads(line.decode("utf-8", "strict"))["event"] for line in events.read().splitlines()}
if not {"begin", "removed"} <= told:
    sys.exit(f"tsem watch has told nothing but {told}")
if accepted < images:
    sys.exit(f"only {accepted} were accepted: these images test nothing")
print(f"{images} images, {len(VERBS)} commands on each")
