# SPDX-License-Identifier: MIT
"""Functions of Python that the library calls, in which a signal handler may raise."""

import ctypes
from collections.abc import Callable, Generator
from typing import Any


class Callback:
    """Calls each(argument) with the first argument of the callback; the library gets the result as an int.

    A handler of Python, such as that of Ctrl-C, runs when the interpreter begins to run something, and ctypes drops what it
    raises there. So this is a generator: each call continues it inside its `try`. After an exception the library gets 1, which
    ends what it does, and check() raises the exception again. Between the `except` and the next `yield` the interpreter runs no
    handler.

    The library passes a second argument. The callee does not see it, and the caller removes it in every calling convention of
    Linux.
    """

    def __init__(self, kind: Any, each: Callable[[Any], int]) -> None:
        self._raised: list[BaseException | None] = [None]
        steps = self._steps(each, self._raised)
        next(steps)
        self._function = ctypes.CFUNCTYPE(ctypes.c_int, kind)(steps.send)
        self.address = ctypes.cast(self._function, ctypes.c_void_p)

    @staticmethod
    def _steps(each: Callable[[Any], int], raised: list[BaseException | None]) -> Generator[int, Any, None]:
        result = 0
        try:
            while True:
                argument = yield result
                result = each(argument)
        except GeneratorExit:
            return
        except BaseException as error:
            raised[0] = error
        yield 1

    def check(self) -> None:
        if self._raised[0] is not None:
            raise self._raised[0]
