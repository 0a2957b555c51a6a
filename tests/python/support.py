# SPDX-License-Identifier: MIT
"""What the tests of the Python module share. A test that hangs ends with a stack of each thread."""

import faulthandler
import itertools
import os
import time
import unittest

import tsem

DEADLINE_S = 60
_numbers = itertools.count()


class TestCase(unittest.TestCase):
    def setUp(self):
        faulthandler.dump_traceback_later(DEADLINE_S, exit=True)
        self.addCleanup(faulthandler.cancel_dump_traceback_later)

    def fresh_name(self):
        name = f"python.{os.getpid()}.{next(_numbers)}"
        self.addCleanup(remove_if_there, name, os.getpid())
        return name

    def new(self, permits=1, **options):
        return tsem.Semaphore(self.fresh_name(), permits=permits, **options)


def remove_if_there(name, pid):
    if os.getpid() == pid:
        try:
            tsem.remove(name, force=True)
        except tsem.NotFound:
            pass


def eventually(condition):
    """Waits until the condition is true. The deadline of the test ends it otherwise."""
    while not condition():
        time.sleep(0.002)
