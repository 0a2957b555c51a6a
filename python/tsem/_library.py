# SPDX-License-Identifier: MIT
"""libtsem.so.1 itself, and what its errors become."""

import ctypes
import errno
import os

from . import _abi

LIBRARY = "libtsem.so.1"


class Error(OSError):
    """A function of the library has failed. `errno` is the number, `strerror` what tsem_strerror() says about it."""

    def __str__(self) -> str:
        if self.strerror is None:
            return super().__str__()
        return f"{self.filename}: {self.strerror}" if self.filename is not None else str(self.strerror)


class NoPermit(Error, BlockingIOError):
    """As many processes wait as `max_waiting` allows."""


class Timeout(Error, TimeoutError):
    """The time has passed."""


class Cancelled(Error):
    """Another process has ended this wait."""


class Removed(Error):
    """The semaphore was removed."""


class NotFound(Error, FileNotFoundError):
    """There is no semaphore of this name."""


class Exists(Error, FileExistsError):
    """There is a semaphore of this name, and it has another number of permits."""


class Denied(Error, PermissionError):
    """The semaphore belongs to another user, or its mode does not allow it."""


_KINDS: dict[int, type[Error]] = {
    errno.EAGAIN: NoPermit,
    errno.ETIMEDOUT: Timeout,
    errno.ECANCELED: Cancelled,
    errno.EIDRM: Removed,
    errno.ENOENT: NotFound,
    errno.EEXIST: Exists,
    errno.EACCES: Denied,
    errno.EPERM: Denied,
}


def _load() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise ImportError(f"tsem needs {LIBRARY}: {error} (install libtsem1)") from None
    for name, (result, parameters) in _abi.FUNCTIONS.items():
        function = getattr(library, name, None)
        if function is None:
            raise ImportError(f"{LIBRARY} has no {name}(): it is older than this module (install libtsem1 of the same version)")
        function.restype = result
        function.argtypes = parameters
    return library


lib = _load()


def check(result: int, name: str | None) -> None:
    """Raises what a negative result means for the semaphore `name`."""
    if result < 0:
        text = os.fsdecode(lib.tsem_strerror(result))
        raise _KINDS.get(-result, Error)(-result, text if name is None else text.replace("NAME", name), name)
