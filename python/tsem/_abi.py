# SPDX-License-Identifier: MIT
# Made from lib/tsem.h by python/abi.py: a test compares it, and a build checks it. Not to be edited.
"""The constants, structures and functions of tsem.h, for ctypes."""

import ctypes
from ctypes import POINTER, Structure, c_char_p, c_long, c_void_p, c_bool, c_int, c_int64, c_size_t, c_ubyte, c_uint, c_uint32, c_uint64
from typing import Any

TSEM_FORCE = 1
TSEM_FOREIGN = 2
TSEM_READ_ONLY = 4
TSEM_EXIST_OK = 8
TSEM_GROUP = 128
TSEM_BOUNDED = 64
TSEM_INITIAL = 2048
TSEM_UMASK = 4096
TSEM_NO_DESCRIPTOR = 8192
TSEM_INTERRUPTIBLE = 256
TSEM_ALL = 512
TSEM_QUEUED = 1024
TSEM_RESTART = 16384
TSEM_REALTIME = 32768
TSEM_CANCELABLE = 65536
TSEM_HOLDERS = 16
TSEM_ABANDONED = 32
TSEM_NO_SLOT = 0xFFFFFFFF
TSEM_SLOTS_MAX = 1024
TSEM_SEMAPHORES_MAX = 64
TSEM_HISTOGRAM_BINS = 48
TSEM_DEAD = 0
TSEM_ALIVE = 1
TSEM_UNKNOWN = 2


class timespec(Structure):
    _fields_ = [("tv_sec", getattr(ctypes, "c_time_t", c_long)), ("tv_nsec", c_long)]


class tsem_hold(Structure):
    _fields_ = [
        ("private_words", c_uint64 * 16),
    ]


class tsem_process(Structure):
    _fields_ = [
        ("private_words", c_uint64 * 4),
    ]


class tsem_config(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("permits", c_uint32),
        ("max", c_uint32),
        ("mode", c_uint),
        ("flags", c_uint),
        ("group", c_uint),
        ("available", c_uint64),
    ]


class tsem_wait(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("deadline", POINTER(timespec)),
        ("flags", c_uint),
        ("progress", c_void_p),
        ("arg", c_void_p),
        ("every_ms", c_uint32),
        ("max_waiting", c_uint32),
    ]


class tsem_stat(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("permits", c_uint32),
        ("capacity", c_uint32),
        ("max", c_uint32),
        ("waiting", c_uint32),
        ("available", c_uint64),
        ("held", c_uint64),
        ("ticket", c_uint64),
        ("grant", c_uint64),
        ("created", c_int64),
        ("uid", c_uint),
        ("mode", c_uint),
        ("uuid", c_ubyte * 16),
        ("contended", c_uint64),
        ("wait_total_ns", c_uint64),
        ("wait_longest_ns", c_uint64),
        ("recovered", c_uint64),
        ("timeouts", c_uint64),
        ("handed_over", c_uint64),
        ("histogram", c_uint64 * TSEM_HISTOGRAM_BINS),
        ("excess", c_uint64),
        ("gid", c_uint),
        ("flags", c_uint),
        ("first_wanted", c_uint64),
        ("first_free", c_int64),
    ]


class tsem_owner(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("pid", c_int),
        ("uid", c_uint),
        ("count", c_uint32),
        ("position", c_uint32),
        ("alive", c_int),
        ("owned", c_bool),
        ("handed_over", c_bool),
        ("foreign_pid", c_bool),
        ("ticket", c_uint64),
        ("elapsed_ns", c_uint64),
        ("remaining_ns", c_int64),
        ("slot", c_uint32),
        ("slot_count", c_uint32),
        ("slots", POINTER(c_uint32)),
        ("pid_here", c_int),
        ("pid_ns", c_uint32),
    ]


# Name: type of the result, types of the parameters.
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "tsem_create": (c_int, [c_char_p, POINTER(tsem_config), POINTER(c_void_p)]),
    "tsem_open": (c_int, [c_char_p, c_uint, POINTER(c_void_p)]),
    "tsem_close": (None, [c_void_p]),
    "tsem_remove": (c_int, [c_char_p, c_uint]),
    "tsem_unlink": (c_int, [c_char_p, c_uint]),
    "tsem_take": (c_int, [c_void_p, c_uint32, POINTER(timespec)]),
    "tsem_try_take": (c_int, [c_void_p, c_uint32]),
    "tsem_take_wait": (c_int, [c_void_p, c_uint32, POINTER(tsem_wait)]),
    "tsem_post": (c_int, [c_void_p, c_uint32, POINTER(c_uint32)]),
    "tsem_post_and_take": (c_int, [c_void_p, c_void_p]),
    "tsem_post_and_take_wait": (c_int, [c_void_p, c_void_p, POINTER(tsem_wait)]),
    "tsem_acquire": (c_int, [c_void_p, c_uint32, POINTER(timespec), POINTER(tsem_hold)]),
    "tsem_try_acquire": (c_int, [c_void_p, c_uint32, POINTER(tsem_hold)]),
    "tsem_acquire_wait": (c_int, [c_void_p, c_uint32, POINTER(tsem_wait), POINTER(tsem_hold)]),
    "tsem_release": (c_int, [POINTER(tsem_hold)]),
    "tsem_hold_slot": (c_uint32, [POINTER(tsem_hold)]),
    "tsem_hold_slots": (c_size_t, [POINTER(tsem_hold), POINTER(c_uint32), c_size_t]),
    "tsem_hold_recovered": (c_bool, [POINTER(tsem_hold)]),
    "tsem_find_process": (c_int, [c_int, POINTER(tsem_process)]),
    "tsem_hand_over_to": (c_int, [POINTER(tsem_hold), POINTER(tsem_process)]),
    "tsem_hand_over": (c_int, [POINTER(tsem_hold), c_int]),
    "tsem_release_for": (c_int, [c_void_p, c_int]),
    "tsem_lend": (c_int, [POINTER(tsem_hold), POINTER(tsem_process)]),
    "tsem_adopt": (c_int, [POINTER(tsem_hold)]),
    "tsem_reap": (c_int, [POINTER(tsem_hold), c_uint]),
    "tsem_acquire_all": (c_int, [POINTER(c_void_p), c_size_t, POINTER(tsem_wait), POINTER(tsem_hold)]),
    "tsem_acquire_any": (c_int, [POINTER(c_void_p), c_size_t, POINTER(tsem_wait), POINTER(tsem_hold), POINTER(c_size_t)]),
    "tsem_set": (c_int, [c_void_p, c_uint32]),
    "tsem_set_access": (c_int, [c_void_p, c_uint, c_uint]),
    "tsem_set_exact": (c_int, [c_void_p, POINTER(c_int64)]),
    "tsem_wait_idle": (c_int, [c_void_p, c_uint, POINTER(timespec)]),
    "tsem_cancel": (c_int, [c_void_p]),
    "tsem_cancel_owner": (c_int, [c_void_p, c_int, c_uint32]),
    "tsem_size_at": (c_size_t, [c_uint32]),
    "tsem_init_at": (c_int, [c_void_p, c_size_t, POINTER(tsem_config), POINTER(c_void_p)]),
    "tsem_open_at": (c_int, [c_void_p, c_size_t, POINTER(c_void_p)]),
    "tsem_recover": (c_int, [c_void_p, POINTER(c_uint32)]),
    "tsem_recover_owner": (c_int, [c_void_p, c_int, c_uint32, c_uint, POINTER(c_uint32)]),
    "tsem_available": (c_int, [c_void_p, POINTER(c_uint64)]),
    "tsem_stat": (c_int, [c_void_p, POINTER(tsem_stat)]),
    "tsem_owners": (c_int, [c_void_p, c_void_p, c_void_p]),
    "tsem_snapshot": (c_int, [c_void_p, POINTER(tsem_stat), c_void_p, c_void_p]),
    "tsem_list": (c_int, [c_void_p, c_void_p]),
    "tsem_strerror": (c_char_p, [c_int]),
    "tsem_deadline": (timespec, [c_uint64]),
}
