# SPDX-License-Identifier: MIT
"""Semaphores, and what processes hold of them."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import operator
import os
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from . import _abi
from ._callback import Callback
from ._library import Denied, Error, Timeout, check, lib
from ._wait import Wait, deadline_of

if TYPE_CHECKING:
    import asyncio

_UINT32_MAX = 0xFFFFFFFF
_try_acquire = lib.tsem_try_acquire
_release = lib.tsem_release
_IDLE_S = 0.2  # the longest sleep of wait_idle(), in which the library calls no function


def _number(value: int, what: str, least: int, most: int = _UINT32_MAX) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{what} is {value!r}, which is not a whole number")
    number = operator.index(value)
    if not least <= number <= most:
        raise ValueError(f"{what} is {number}, which is out of range (use {least} to {most})")
    return number


def _encode(name: str) -> bytes:
    if not isinstance(name, str):
        raise TypeError(f"the name of a semaphore is text, not {type(name).__name__}")
    return name.replace("\0", "?").encode("ascii", "replace")  # with "?" no name is valid


# ---- what a look finds ----


@dataclass(frozen=True)
class Owner:
    """A process that holds or waits."""

    pid: int  #: its number here; if it has none here, that in its PID namespace
    pid_ns: int  #: that PID namespace, as lsns(8) numbers them; 0: not known
    uid: int
    count: int  #: permits
    position: int  #: 0: holds; from 1: place in the queue
    alive: bool | None  #: None: no process can tell from here
    seconds: float  #: since it holds or waits
    remaining: float | None  #: seconds until a waiter gives up; None: it does not
    slots: tuple[int, ...]  #: those that a holder has asked for


@dataclass(frozen=True)
class State:
    """A semaphore at one instant."""

    capacity: int
    available: int
    held: int  #: permits that processes hold or have taken
    holders: tuple[Owner, ...]  #: the oldest first
    waiters: tuple[Owner, ...]  #: in the order of the queue


def _owner(seen: Any) -> Owner:
    return Owner(
        pid=seen.pid_here or seen.pid,
        pid_ns=seen.pid_ns,
        uid=seen.uid,
        count=seen.count,
        position=seen.position,
        alive={_abi.TSEM_DEAD: False, _abi.TSEM_ALIVE: True}.get(seen.alive),
        seconds=seen.elapsed_ns / 1e9,
        remaining=None if seen.remaining_ns < 0 else seen.remaining_ns / 1e9,
        slots=tuple(seen.slots[: seen.slot_count]) if seen.slot_count > 0 else (),
    )


# ---- holds ----


class _Handle:
    """A handle of the library. It is closed when neither its semaphore nor a hold nor a call refers to it."""

    def __init__(self, name: str, address: int) -> None:
        self.name = name
        self.address = address

    def __del__(self, close: Any = lib.tsem_close) -> None:
        close(self.address)


class _Process:
    """The number of this process, without a system call."""

    pid = os.getpid()

    @classmethod
    def look(cls) -> None:
        cls.pid = os.getpid()


os.register_at_fork(after_in_child=_Process.look)


# Of the holds that may have permits. A reference that is here outlives its hold, also one that is garbage in a cycle.
_guards: dict[weakref.ref[Hold], tuple[_Handle, Any]] = {}


def _forgotten(guard: weakref.ref[Hold]) -> None:
    handle, hold = _guards.get(guard, (None, None))
    if handle is None:  # released, and interrupted before it had forgotten the reference
        return
    had_permits = _release(hold) == 0  # of this process
    _guards.pop(guard, None)
    if had_permits:
        warnings.warn(f"a hold of {handle.name!r} was forgotten, and is released (use `with`, or release())", ResourceWarning)


class Hold:
    """Permits of this process. They come back by release(), at the end of a `with` block, and when the process ends."""

    __slots__ = ("_handle", "_hold", "_owner", "_guard", "count", "__weakref__")

    def __init__(self, handle: _Handle, count: int, hold: Any = None) -> None:
        self._owner = 0  # the process that holds; 0: none
        self._handle = handle
        self._hold = hold = _abi.tsem_hold() if hold is None else hold
        self.count = count
        self._guard: weakref.ref[Hold] | None
        self._guard = guard = weakref.ref(self, _forgotten)
        _guards[guard] = handle, hold

    def _undo(self) -> None:
        """Gives back what an interrupted call has got, if anything: the library refuses a hold without permits."""
        self._owner = 0
        _release(self._hold)
        self._forget()

    def _forget(self) -> None:
        guard = self._guard
        if guard is not None:
            _guards.pop(guard, None)
            self._guard = None  # a reference that lives calls _forgotten()

    def release(self) -> None:
        """Gives the permits back."""
        if self._owner != _Process.pid:
            self._refuse()
        result = _release(self._hold)
        self._owner = 0
        self._forget()
        if result == -errno.EPERM:
            raise Denied(errno.EPERM, "the permits were released by another thread, or taken back by force", self.name)
        check(result, self.name)

    def _refuse(self) -> NoReturn:
        if self._owner == 0:
            raise ValueError(f"{self.name}: this hold was released before")
        raise Denied(errno.EPERM, f"process {self._owner} has these permits, not this one", self.name)

    @property
    def name(self) -> str:
        """That of its semaphore."""
        return self._handle.name

    @property
    def slot(self) -> int | None:
        """The lowest of its slots: a number that no other live hold has. None: all are in use, or it was released."""
        slot: int = lib.tsem_hold_slot(self._hold)
        return None if slot == _abi.TSEM_NO_SLOT else slot

    @property
    def slots(self) -> tuple[int, ...]:
        """All of its slots, one for each permit."""
        slots = (ctypes.c_uint32 * _abi.TSEM_SLOTS_MAX)()
        return tuple(slots[: lib.tsem_hold_slots(self._hold, slots, _abi.TSEM_SLOTS_MAX)])

    @property
    def recovered(self) -> bool:
        """Whether an owner died with permits before, and no holder was told since: what it worked on may be incomplete."""
        return bool(lib.tsem_hold_recovered(self._hold))

    def __enter__(self) -> Hold:
        if self._owner != _Process.pid:
            self._refuse()
        return self

    def __exit__(self, *_: object) -> None:
        if self._owner == _Process.pid:  # neither released inside the block, nor a copy in a child of fork()
            self.release()

    def __reduce__(self) -> Any:
        raise TypeError("a hold cannot be copied or sent to another process, which would not have the permits")

    def __repr__(self) -> str:
        return f"<tsem.Hold of {self.count} of {self.name!r}>"


class Holds(tuple[Hold, ...]):
    """Holds of several semaphores, which the end of a `with` block releases."""

    def __enter__(self) -> Holds:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.ExitStack() as stack:
            for hold in self:
                stack.callback(hold.__exit__)

    def release(self) -> None:
        """Releases those that are not released yet."""
        self.__exit__()


# ---- semaphores ----


def _wait(hold: Hold, wait: Wait) -> None:
    acquire, address = lib.tsem_acquire_wait, hold._handle.address
    check(wait.run(lambda options: acquire(address, hold.count, options, hold._hold)), hold.name)
    hold._owner = _Process.pid


def _check_try(result: int, count: int, name: str) -> None:
    """Raises what the result of a try means, unless the permits cannot be had at once."""
    if result == -errno.EINVAL:
        raise Error(errno.EINVAL, f"{count} permits are more than it can ever have", name)
    if result != -errno.EAGAIN:
        check(result, name)


class Semaphore:
    """A semaphore of this machine, which processes share by its name. Threads may share the object.

    With `permits`, it is created unless it exists with this number of permits; what else is given is then for a new one. Without
    `permits`, it must exist.

    A block of `with` holds one permit. Blocks of one thread, and blocks of `async with` of one task, end in the reverse order of
    their beginnings; where they do not, as in generators, use `with semaphore.acquire():`. That also gives the permit back if a
    signal handler raises in the very moment in which the block ends; a block of the semaphore then keeps it as long as this object.
    """

    def __init__(
        self,
        name: str,
        permits: int | None = None,
        *,
        max: int = 0,
        available: int | None = None,
        bounded: bool = True,
        mode: int = 0,
        foreign: bool = False,
    ) -> None:
        address = ctypes.c_void_p()
        encoded = _encode(name)
        flags = _abi.TSEM_FOREIGN if foreign else 0
        if permits is None:
            if max != 0 or available is not None or mode != 0:
                raise ValueError(f"{name}: max, available and mode are for a new semaphore (give permits, too)")
            check(lib.tsem_open(encoded, flags, ctypes.byref(address)), name)
        else:
            flags |= _abi.TSEM_EXIST_OK | (_abi.TSEM_BOUNDED if bounded else 0)
            permits = _number(permits, "permits", 0)
            max = _number(max, "max", permits) if max != 0 else 0
            config = _abi.tsem_config(
                size=ctypes.sizeof(_abi.tsem_config),
                permits=permits,
                max=max,
                mode=_number(mode, "mode", 0, 0o777),
                flags=flags | (_abi.TSEM_INITIAL if available is not None else 0),
                available=0 if available is None else _number(available, "available", 0, permits if bounded else max or _UINT32_MAX),
            )
            check(lib.tsem_create(encoded, ctypes.byref(config), ctypes.byref(address)), name)
        self.name = name
        self._foreign = foreign
        self._handle: _Handle | None = _Handle(name, address.value or 0)
        self._entered: dict[Hashable, list[Hold]] = {}  # by thread or task: the holds of its `with` blocks

    def close(self) -> None:
        """Closes the semaphore. Its holds stay, and can be released."""
        self._handle = None

    def _open(self) -> _Handle:
        if self._handle is None:
            raise ValueError(f"{self.name}: this semaphore is closed")
        return self._handle

    def __repr__(self) -> str:
        return f"<tsem.Semaphore {self.name!r}{' closed' if self._handle is None else ''}>"

    def __reduce__(self) -> Any:
        """Another process opens it by its name."""
        self._open()
        return _reopen, (self.name, self._foreign)

    # ---- owned permits ----

    def acquire(self, count: int = 1, *, timeout: float | None = None, max_waiting: int = 0) -> Hold:
        """Waits in the queue for the permits. After `timeout` seconds it raises Timeout, and at once NoPermit if
        `max_waiting` processes (not 0) wait already."""
        return self._acquire(_number(count, "count", 1), deadline_of(timeout), _number(max_waiting, "max_waiting", 0))

    def try_acquire(self, count: int = 1) -> Hold | None:
        """The permits if they can be had at once, else None."""
        hold = self._acquire(_number(count, "count", 1), waits=False)
        return hold if hold._owner != 0 else None

    def _acquire(
        self, count: int = 1, deadline: _abi.timespec | None = None, max_waiting: int = 0, waits: bool = True
    ) -> Hold:
        """A hold; without permits if it neither gets them at once nor waits."""
        handle = self._handle or self._open()
        hold = Hold(handle, count)
        try:
            result = _try_acquire(handle.address, count, hold._hold)
            if result == 0:
                hold._owner = _Process.pid
            else:
                _check_try(result, count, handle.name)
                if waits:
                    _wait(hold, Wait(deadline, max_waiting=max_waiting))
        except BaseException:
            hold._undo()
            raise
        return hold

    def __enter__(self) -> Hold:
        return self._enter(threading.get_ident(), self._acquire())

    def __exit__(self, *_: object) -> None:
        self._leave(threading.get_ident())

    def _enter(self, key: Hashable, hold: Hold) -> Hold:
        holds = self._entered.get(key)
        if holds is None:
            holds = self._entered.setdefault(key, [])
        try:
            holds.append(hold)
            return hold
        except BaseException:  # of a handler
            if hold in holds:
                holds.remove(hold)
            hold._undo()
            raise

    def _leave(self, key: Hashable) -> None:
        holds = self._entered.get(key) or next(filter(None, list(self._entered.values())), None)  # entered elsewhere
        if holds is None:
            raise RuntimeError(f"{self.name}: this block was not entered")
        hold = holds.pop()
        if hold._owner == _Process.pid:  # as in Hold.__exit__()
            hold.release()

    # ---- the same in a task of asyncio ----

    async def acquire_async(self, count: int = 1, *, timeout: float | None = None) -> Hold:
        """acquire() in a task, while other tasks run. A task that waits has a thread. If it is cancelled, its place in the queue goes
        within a fifth of a second."""
        import asyncio

        deadline = deadline_of(timeout)
        count = _number(count, "count", 1)
        hold = self.try_acquire(count)
        if hold is not None:
            return hold
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Hold] = loop.create_future()
        wait = Wait(deadline)
        waiting = Hold(self._open(), count)

        def deliver(error: BaseException | None) -> None:
            if future.done():
                waiting.__exit__()
            elif error is not None:
                future.set_exception(error)
            else:
                future.set_result(waiting)

        def wait_in_thread() -> None:
            error: BaseException | None = None
            try:
                _wait(waiting, wait)
            except BaseException as raised:
                waiting._undo()
                error = raised
            try:
                loop.call_soon_threadsafe(deliver, error)
            except RuntimeError:  # the loop is closed
                waiting.__exit__()

        threading.Thread(target=wait_in_thread, name=f"tsem {self.name}", daemon=True).start()
        try:
            return await future
        except BaseException:  # also if the task was cancelled after it had got the permits
            wait.end()
            waiting.__exit__()
            with contextlib.suppress(RuntimeError):  # the loop is closed
                future.cancel()
            raise

    async def __aenter__(self) -> Hold:
        import asyncio

        return self._enter(asyncio.current_task(), await self.acquire_async())

    async def __aexit__(self, *_: object) -> None:
        import asyncio

        task = asyncio.current_task()
        self._leave(task)
        if not self._entered.get(task, True):
            del self._entered[task]

    # ---- anonymous permits ----

    def take(self, count: int = 1, *, timeout: float | None = None) -> None:
        """Takes permits without an owner: only post() brings them back."""
        deadline = deadline_of(timeout)
        count = _number(count, "count", 1)
        if self.try_take(count):
            return
        handle = self._open()
        wait = Wait(deadline)
        take, post_back = lib.tsem_take_wait, lambda: lib.tsem_post(handle.address, count, None)
        check(wait.run(lambda options: take(handle.address, count, options), post_back), self.name)

    def try_take(self, count: int = 1) -> bool:
        """Takes permits without an owner if they can be had at once."""
        handle = self._open()
        result = lib.tsem_try_take(handle.address, _number(count, "count", 1))
        if result == 0:
            return True
        _check_try(result, count, self.name)
        return False

    def post(self, count: int = 1) -> int:
        """Posts permits, and returns how many were available before. If the semaphore is bounded, it only gives back what
        was taken."""
        handle = self._open()
        previous = ctypes.c_uint32()
        check(lib.tsem_post(handle.address, _number(count, "count", 1), ctypes.byref(previous)), self.name)
        return previous.value

    # ---- looking and governing ----

    @property
    def available(self) -> int:
        """Permits that are available; 0 while processes wait."""
        handle = self._open()
        available = ctypes.c_uint64()
        check(lib.tsem_available(handle.address, ctypes.byref(available)), self.name)
        return available.value

    def state(self) -> State:
        """Counts, holders and waiters of one instant."""
        handle = self._open()
        stat = _abi.tsem_stat(size=ctypes.sizeof(_abi.tsem_stat))
        owners: list[Owner] = []

        def add(owner: Any) -> int:
            owners.append(_owner(owner.contents))
            return 0

        each = Callback(ctypes.POINTER(_abi.tsem_owner), add)
        result = lib.tsem_snapshot(handle.address, ctypes.byref(stat), each.address, None)
        each.check()
        check(result, self.name)
        return State(
            capacity=stat.capacity,
            available=stat.available,
            held=stat.held,
            holders=tuple(owner for owner in owners if owner.position == 0),
            waiters=tuple(owner for owner in owners if owner.position > 0),
        )

    def holders(self) -> tuple[Owner, ...]:
        return self.state().holders

    def waiters(self) -> tuple[Owner, ...]:
        return self.state().waiters

    def set(self, permits: int) -> None:
        """Changes the capacity; with 0 no process is admitted any more. No process loses a permit."""
        handle = self._open()
        check(lib.tsem_set(handle.address, _number(permits, "permits", 0)), self.name)

    def wait_idle(self, *, timeout: float | None = None, holders: bool = False) -> None:
        """Waits until no process holds and none waits, or with `holders` until none holds."""
        handle = self._open()
        flags = _abi.TSEM_INTERRUPTIBLE | (_abi.TSEM_HOLDERS if holders else 0)
        end = float("inf") if timeout is None or deadline_of(timeout) is None else time.monotonic() + timeout
        while True:
            left = end - time.monotonic()
            part = deadline_of(min(max(left, 0), _IDLE_S))
            result = lib.tsem_wait_idle(handle.address, flags, ctypes.byref(part) if part is not None else None)
            if result == 0 or (result == -errno.ETIMEDOUT and left <= _IDLE_S):
                break
            if result not in (-errno.EINTR, -errno.ETIMEDOUT):
                break
        if result == -errno.ETIMEDOUT:
            raise Timeout(errno.ETIMEDOUT, "it did not become idle in time", self.name)
        check(result, self.name)

    def cancel(self) -> None:
        """Ends all present waits, of all processes, with Cancelled."""
        handle = self._open()
        check(lib.tsem_cancel(handle.address), self.name)

    def recover(self) -> int:
        """Gives back the permits of dead processes, as waiters do by themselves, and returns how many came back."""
        handle = self._open()
        recovered = ctypes.c_uint32()
        check(lib.tsem_recover(handle.address, ctypes.byref(recovered)), self.name)
        return recovered.value


def _reopen(name: str, foreign: bool) -> Semaphore:
    return Semaphore(name, foreign=foreign)


# ---- several semaphores ----


def _addresses(semaphores: Iterable[Semaphore]) -> tuple[list[_Handle], Any]:
    handles = []
    for semaphore in semaphores:
        if not isinstance(semaphore, Semaphore):
            raise TypeError(f"{semaphore!r} is not a Semaphore")
        handles.append(semaphore._open())
    return handles, (ctypes.c_void_p * len(handles))(*(handle.address for handle in handles))


def _check_several(result: int, handles: list[_Handle]) -> None:
    if result == -errno.EINVAL:
        raise ValueError(f"{len(handles)} semaphores (use 1 to {_abi.TSEM_SEMAPHORES_MAX}, each once)")
    check(result, ",".join(handle.name for handle in handles))


def acquire_all(semaphores: Iterable[Semaphore], *, timeout: float | None = None) -> Holds:
    """Acquires one permit of each semaphore, or none. Callers that name the same ones in any order never deadlock."""
    handles, addresses = _addresses(semaphores)
    memory = (_abi.tsem_hold * len(handles))()
    holds = Holds(Hold(handle, 1, hold) for handle, hold in zip(handles, memory))
    wait = Wait(deadline_of(timeout))
    try:
        _check_several(wait.run(lambda options: lib.tsem_acquire_all(addresses, len(handles), options, memory)), handles)
        for hold in holds:
            hold._owner = _Process.pid
    except BaseException:
        for hold in holds:
            hold._undo()
        raise
    return holds


def acquire_any(semaphores: Iterable[Semaphore], *, timeout: float | None = None) -> Hold:
    """Acquires one permit of the semaphore that grants it first, whose `name` the hold has."""
    handles, addresses = _addresses(semaphores)
    memory = _abi.tsem_hold()
    which = ctypes.c_size_t()
    wait = Wait(deadline_of(timeout))
    any_of = lib.tsem_acquire_any
    try:
        _check_several(wait.run(lambda options: any_of(addresses, len(handles), options, memory, which)), handles)
        hold = Hold(handles[which.value], 1, memory)
        hold._owner = _Process.pid
    except BaseException:
        _release(memory)
        raise
    return hold


# ---- names ----


def names() -> list[str]:
    """The names of all semaphores of this machine: sem.2 comes before sem.10."""
    found: list[str] = []

    def add(name: bytes) -> int:
        found.append(os.fsdecode(name))
        return 0

    each = Callback(ctypes.c_char_p, add)
    result = lib.tsem_list(each.address, None)
    each.check()
    check(result, None)
    return found


def remove(name: str, *, force: bool = False, foreign: bool = False) -> None:
    """Removes a semaphore: its waiters get Removed. Without `force` it must not be in use."""
    flags = (_abi.TSEM_FORCE if force else 0) | (_abi.TSEM_FOREIGN if foreign else 0)
    check(lib.tsem_remove(_encode(name), flags), name)


def unlink(name: str, *, foreign: bool = False) -> None:
    """Removes the name only: the semaphore lives on for the processes that have it open."""
    check(lib.tsem_unlink(_encode(name), _abi.TSEM_FOREIGN if foreign else 0), name)
