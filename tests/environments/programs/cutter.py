#!/usr/bin/python3 -IS
# Truncates all semaphores whose names have a dot, and writes them again, in a loop. It writes a line to descriptor 5
# first.
import glob
import os

files = [os.open(path, os.O_RDWR) for path in glob.glob("/dev/shm/tsem.*.*")]
good = [os.pread(file, 1 << 20, 0) for file in files]
os.write(5, b"cutting\n")
while True:
    for file, image in zip(files, good):
        os.ftruncate(file, 0)
        os.pwrite(file, image, 0)
        os.ftruncate(file, 2 * len(image))
