# SPDX-License-Identifier: MIT
"""Semaphores that processes share, first come, first served, and that lose no permit when a process is killed.

    import tsem

    with tsem.Semaphore("gpu", permits=4) as hold:
        print("working on card", hold.slot)

At most four processes do this at the same time, also those of the command `tsem run -j 4 gpu`. The others wait in the order of their
arrival. If a process is killed, its permit comes back.
"""

from ._library import Cancelled, Denied, Error, Exists, NoPermit, NotFound, Removed, Timeout
from ._semaphore import Hold, Holds, Owner, Semaphore, State, acquire_all, acquire_any, names, remove, unlink

__all__ = [
    "Cancelled",
    "Denied",
    "Error",
    "Exists",
    "Hold",
    "Holds",
    "NoPermit",
    "NotFound",
    "Owner",
    "Removed",
    "Semaphore",
    "State",
    "Timeout",
    "acquire_all",
    "acquire_any",
    "names",
    "remove",
    "unlink",
]
