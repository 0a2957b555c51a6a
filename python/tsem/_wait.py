# SPDX-License-Identifier: MIT
"""Waiting that leaves neither Ctrl-C nor another signal handler to the end of the wait.

With TSEM_INTERRUPTIBLE, the library calls `progress` when a signal has arrived, and the interpreter then runs the handlers that are
due. If one raises, the wait ends; otherwise it goes on, and keeps its place in the queue.
"""

import ctypes
import math
import time
from collections.abc import Callable
from typing import Any

from . import _abi
from ._callback import Callback

_FOREVER_S = 1e9  # thirty years


def deadline_of(timeout: float | None) -> _abi.timespec | None:
    """The time of CLOCK_MONOTONIC that is `timeout` seconds from now, or None if there is none."""
    if timeout is None:
        return None
    if not timeout >= 0:  # negative, or not a number
        raise ValueError(f"the timeout {timeout!r} is not a number of seconds from 0 on (None waits without end)")
    if timeout >= _FOREVER_S:
        return None
    end = time.clock_gettime_ns(time.CLOCK_MONOTONIC) + math.ceil(timeout * 1e9)
    return _abi.timespec(end // 10**9, end % 10**9)


class Wait:
    """The options of one wait. Another thread may set `stop`, which ends the wait within `every_ms`."""

    def __init__(self, timeout: float | None, *, max_waiting: int = 0, every_ms: int = 0, flags: int = 0) -> None:
        deadline = deadline_of(timeout)
        self.stop = False
        self._progress = Callback(ctypes.c_void_p, lambda _: self.stop)
        self._options = _abi.tsem_wait(
            size=ctypes.sizeof(_abi.tsem_wait),
            deadline=None if deadline is None else ctypes.pointer(deadline),
            flags=_abi.TSEM_INTERRUPTIBLE | flags,
            progress=self._progress.address,
            every_ms=every_ms,
            max_waiting=max_waiting,
        )
        self.options = ctypes.byref(self._options)

    def run(self, call: Callable[[], Any]) -> int:
        """The result of a call with the options. Raises what a handler has raised, whatever the result."""
        result: int = call()
        self._progress.check()
        return result
