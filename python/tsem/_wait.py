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
    if not isinstance(timeout, (int, float)):
        raise TypeError(f"the timeout is a number of seconds, not {type(timeout).__name__}")
    if not timeout >= 0:  # negative, or not a number
        raise ValueError(f"the timeout {timeout!r} is not a number of seconds from 0 on (None waits without end)")
    if timeout >= _FOREVER_S:
        return None
    end = time.clock_gettime_ns(time.CLOCK_MONOTONIC) + math.ceil(timeout * 1e9)
    return _abi.timespec(end // 10**9, end % 10**9)


class Wait:
    """The options of one wait, which end() ends within `every_ms`. A signal is noticed within that time, too, if it arrives just
    before the thread sleeps, and otherwise at once."""

    def __init__(self, deadline: _abi.timespec | None, *, max_waiting: int = 0, every_ms: int = 200) -> None:
        ended: list[bool] = []  # what the callback refers to refers to nothing: then no collector has to find this wait
        self._ended = ended
        self._progress = Callback(ctypes.c_void_p, lambda _: len(ended))
        self._options = _abi.tsem_wait(
            size=ctypes.sizeof(_abi.tsem_wait),
            deadline=None if deadline is None else ctypes.pointer(deadline),
            flags=_abi.TSEM_INTERRUPTIBLE,
            progress=self._progress.address,
            every_ms=every_ms,
            max_waiting=max_waiting,
        )

    def end(self) -> None:
        self._ended.append(True)

    def run(self, call: Callable[[Any], Any], undo: Callable[[], object] | None = None) -> int:
        """The result of call(options). Raises what a handler has raised, also if the call has succeeded: then after undo()."""
        result: int = call(ctypes.byref(self._options))
        try:
            self._progress.check()
        except BaseException:
            if result == 0 and undo is not None:
                undo()
            raise
        return result
