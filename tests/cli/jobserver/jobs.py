"""Finds the jobserver's tokens, in either style."""
import os
import re


def connect(flags=0):
    """The descriptors to claim tokens from and to return them to."""
    auth = re.findall(r"--jobserver-auth=(\S+)", os.environ["MAKEFLAGS"])[-1]
    if not auth.startswith("fifo:"):
        return [int(fd) for fd in auth.split(",")]
    path = auth[len("fifo:"):]
    return os.open(path, os.O_RDONLY | flags), os.open(path, os.O_WRONLY)
