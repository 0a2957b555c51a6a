# SPDX-License-Identifier: MIT
"""Semaphores and holds of one process, and bad input."""

import asyncio
import contextlib
import errno
import gc
import io
import math
import os
import pickle
import textwrap
import threading
import unittest
import warnings

import tsem
from support import TestCase, eventually


class Holding(TestCase):
    def test_a_block_holds(self):
        sem = self.new(permits=4)
        with sem as hold:
            self.assertEqual(hold.slot, 0)
            self.assertEqual(hold.name, sem.name)
            with sem as inner:
                self.assertEqual(inner.slot, 1)
                self.assertEqual(sem.available, 2)
        self.assertEqual(sem.state(), tsem.State(capacity=4, available=4, held=0, holders=(), waiters=()))

    def test_the_example_of_the_module(self):
        name = self.fresh_name()
        lines = [line for line in tsem.__doc__.splitlines() if line.startswith("    ")]
        program = textwrap.dedent("\n".join(lines)).replace('"gpu"', repr(name))
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(program)
        self.assertEqual(printed.getvalue(), "working on card 0\n")

    def test_a_block_ends_with_an_exception(self):
        sem = self.new()
        with self.assertRaises(KeyError), sem:
            raise KeyError
        self.assertEqual(sem.available, 1)

    def test_the_semaphore_of_a_block_need_no_name(self):
        name = self.fresh_name()
        with tsem.Semaphore(name, permits=2):
            gc.collect()
            self.assertEqual(tsem.Semaphore(name).available, 1)
        self.assertEqual(tsem.Semaphore(name).available, 2)

    def test_weights(self):
        sem = self.new(permits=5)
        with sem.acquire(3) as hold:
            self.assertEqual(hold.count, 3)
            self.assertEqual(hold.slots, (0, 1, 2))
            self.assertIsNone(sem.try_acquire(3))
            with sem.acquire(2):
                self.assertEqual(sem.available, 0)

    def test_a_time_that_passes(self):
        sem = self.new()
        with sem:
            for timeout in (0, 0.05):
                with self.assertRaises(TimeoutError) as caught:
                    sem.acquire(timeout=timeout)
                self.assertIsInstance(caught.exception, tsem.Timeout)
                self.assertEqual(str(caught.exception), f"{sem.name}: no permit became available in time")
        sem.acquire(timeout=0).release()
        sem.acquire(timeout=math.inf).release()
        sem.acquire(timeout=1e300).release()

    def test_released_by_hand(self):
        sem = self.new()
        with sem as hold:
            hold.release()
            self.assertEqual(sem.available, 1)
        with self.assertRaisesRegex(ValueError, "released before"):
            hold.release()
        self.assertIsNone(hold.slot)

    def test_max_waiting(self):
        sem = self.new()
        thread = threading.Thread(target=lambda: sem.acquire().release())
        with sem:
            thread.start()
            eventually(lambda: len(sem.waiters()) == 1)
            with self.assertRaises(tsem.NoPermit):
                sem.acquire(max_waiting=1)
        thread.join()

    def test_several(self):
        first, second = self.new(), self.new()
        with tsem.acquire_all([second, first]) as holds:
            self.assertEqual([hold.name for hold in holds], [second.name, first.name])
            with self.assertRaisesRegex(tsem.Timeout, f"{first.name},{second.name}: "):
                tsem.acquire_all([first, second], timeout=0.01)
            holds[0].release()
            with tsem.acquire_any([first, second]) as one:
                self.assertEqual(one.name, second.name)
        self.assertEqual((first.available, second.available), (1, 1))
        self.assertRaisesRegex(ValueError, "each once", tsem.acquire_all, [first, first])
        self.assertRaisesRegex(ValueError, "^0 semaphores", tsem.acquire_any, [])

    def test_threads_wait_beside_each_other(self):
        """A wait that kept the lock of the interpreter would never end."""
        sem = self.new(permits=2)
        slots = []

        def job():
            for _ in range(50):
                with sem as hold:
                    slots.append(hold.slot)

        threads = [threading.Thread(target=job) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(slots), 400)
        self.assertEqual(sem.available, 2)


    def test_a_block_that_another_thread_ends(self):
        sem = self.new()

        def block():
            with sem:
                yield

        steps = block()
        next(steps)
        thread = threading.Thread(target=steps.close)
        thread.start()
        thread.join()
        self.assertEqual(sem.available, 1)
        self.assertRaisesRegex(RuntimeError, "was not entered", sem.__exit__, None, None, None)

    def test_a_part_of_several_is_released_by_hand(self):
        first, second = self.new(), self.new()
        holds = tsem.acquire_all([first, second])
        holds[1].release()
        holds.release()
        self.assertEqual((first.available, second.available), (1, 1))


class Anonymous(TestCase):
    def test_take_and_post(self):
        sem = self.new(permits=2)
        sem.take()
        self.assertTrue(sem.try_take())
        self.assertFalse(sem.try_take())
        with self.assertRaises(tsem.Timeout):
            sem.take(timeout=0.01)
        self.assertEqual(sem.post(), 0)
        self.assertEqual(sem.post(), 1)
        with self.assertRaises(tsem.Error) as caught:
            sem.post()
        self.assertEqual(caught.exception.errno, errno.EOVERFLOW)

    def test_a_gate(self):
        sem = self.new(permits=1, available=0)
        thread = threading.Thread(target=sem.take)
        thread.start()
        eventually(lambda: len(sem.waiters()) == 1)
        sem.post()
        thread.join()

    def test_one_that_is_not_bounded(self):
        sem = self.new(permits=0, max=2, bounded=False)
        sem.post(2)
        with self.assertRaises(tsem.Error):
            sem.post()


class Looking(TestCase):
    def test_holders_and_waiters(self):
        sem = self.new(permits=3)
        with sem.acquire(3) as hold:
            self.assertEqual(hold.slot, 0)
            thread = threading.Thread(target=lambda: sem.acquire(2, timeout=1000).release())
            thread.start()
            eventually(lambda: len(sem.waiters()) == 1)
            (holder,), (waiter,) = sem.holders(), sem.waiters()
            self.assertEqual((holder.pid, holder.count, holder.slots, holder.alive), (os.getpid(), 3, (0, 1, 2), True))
            self.assertEqual((waiter.pid, waiter.uid, waiter.position), (os.getpid(), os.geteuid(), 1))
            self.assertGreater(waiter.remaining, 900)
            self.assertGreater(holder.seconds, 0)
        thread.join()

    def test_names_and_removal(self):
        sem = self.new()
        self.assertIn(sem.name, tsem.names())
        with sem:
            with self.assertRaises(tsem.Error) as caught:
                tsem.remove(sem.name)
            self.assertEqual(caught.exception.errno, errno.EBUSY)
        tsem.remove(sem.name)
        self.assertNotIn(sem.name, tsem.names())
        with self.assertRaises(tsem.Removed):
            sem.acquire()

    def test_unlink(self):
        sem = self.new()
        tsem.unlink(sem.name)
        with sem, self.assertRaises(tsem.NotFound):
            tsem.Semaphore(sem.name)

    def test_governing(self):
        sem = self.new(permits=2)
        sem.set(0)
        self.assertIsNone(sem.try_acquire())
        thread = threading.Thread(target=lambda: self.assertRaises(tsem.Cancelled, sem.acquire))
        thread.start()
        eventually(lambda: len(sem.waiters()) == 1)
        sem.cancel()
        thread.join()
        sem.set(1)
        sem.wait_idle(timeout=10)
        with sem:
            with self.assertRaises(tsem.Timeout):
                sem.wait_idle(timeout=0.01, holders=True)
        self.assertEqual(sem.recover(), 0)


class BadInput(TestCase):
    def test_names(self):
        for name in (None, 1, b"bytes", ["a"]):
            with self.assertRaisesRegex(TypeError, "is text, not"):
                tsem.Semaphore(name)
        for name in ("", "a/b", ".a", "-a", "a b", "ä", "a\0b", "\udcff", "\ud800"):
            with self.assertRaises(tsem.Error, msg=repr(name)) as caught:
                tsem.Semaphore(name, permits=1)
            self.assertEqual(caught.exception.errno, errno.EINVAL)
            self.assertIn("a name has 1 to 200 letters", str(caught.exception))
        with self.assertRaisesRegex(tsem.Error, "at most 200 characters"):
            tsem.Semaphore("a" * 201)

    def test_what_is_not_there_or_is_another(self):
        name = self.fresh_name()
        with self.assertRaises(FileNotFoundError) as caught:
            tsem.Semaphore(name)
        self.assertTrue(str(caught.exception).startswith(f"{name}: no such semaphore"))
        sem = tsem.Semaphore(name, permits=2)
        with self.assertRaises(FileExistsError) as caught:
            tsem.Semaphore(name, permits=3)
        self.assertIn(f"'tsem show {name}'", str(caught.exception))
        self.assertEqual(sem.available, 2)

    def test_numbers(self):
        sem = self.new()
        for count in (0, -1, 2**32):
            for call in (sem.acquire, sem.try_acquire, sem.take, sem.try_take, sem.post):
                self.assertRaisesRegex(ValueError, "count is .*out of range", call, count)
        for count in (1.0, "1", None, True):
            for call in (sem.acquire, sem.try_acquire, sem.take, sem.try_take, sem.post):
                self.assertRaisesRegex(TypeError, "not a whole number", call, count)
        self.assertRaises(ValueError, tsem.Semaphore, sem.name, -1)
        self.assertRaises(ValueError, tsem.Semaphore, sem.name, max=3)
        self.assertRaises(ValueError, sem.acquire, max_waiting=-1)
        for call in (sem.acquire, sem.try_acquire, sem.take, sem.try_take):
            self.assertRaisesRegex(tsem.Error, "2 permits are more than it can ever have", call, 2)
        self.assertEqual(sem.available, 1)

    def test_numbers_of_other_types(self):
        """As those of numpy."""

        class Two:
            def __index__(self):
                return 2

        sem = self.new(permits=Two(), max=Two())
        for acquire in (sem.acquire, sem.try_acquire, lambda count: asyncio.run(sem.acquire_async(count))):
            with acquire(Two()) as hold:
                self.assertEqual((hold.count, sem.available), (2, 0))
        sem.take(Two())
        self.assertFalse(sem.try_take(Two()))
        self.assertRaises(tsem.Timeout, sem.take, Two(), timeout=0)
        self.assertEqual(sem.post(Two()), 0)

    def test_times(self):
        sem = self.new()
        for timeout in (-1, -0.001, math.nan, -math.inf):
            for call in (sem.acquire, sem.take, sem.wait_idle):
                self.assertRaisesRegex(ValueError, "number of seconds", call, timeout=timeout)
            for several in (tsem.acquire_all, tsem.acquire_any):
                self.assertRaisesRegex(ValueError, "number of seconds", several, [sem], timeout=timeout)
        self.assertRaises(TypeError, sem.acquire, timeout="1")
        self.assertEqual(sem.available, 1)

    def test_closed(self):
        sem = self.new()
        hold = sem.acquire()
        sem.close()
        sem.close()
        for call in (sem.acquire, sem.try_acquire, sem.take, sem.try_take, sem.post, sem.state, sem.cancel, sem.recover):
            self.assertRaisesRegex(ValueError, f"{sem.name}: this semaphore is closed", call)
        self.assertRaises(ValueError, lambda: sem.available)
        self.assertRaises(ValueError, pickle.dumps, sem)
        self.assertRaises(ValueError, sem.__enter__)
        hold.release()
        self.assertEqual(tsem.Semaphore(sem.name).available, 1)

    def test_forgotten(self):
        sem = self.new()
        with self.assertWarnsRegex(ResourceWarning, f"{sem.name}.*forgotten"):
            sem.acquire()
            gc.collect()
        self.assertEqual(sem.available, 1)

    def test_forgotten_in_a_cycle(self):
        """The collector finds the hold, its handle and what refers to both in any order."""
        name = self.fresh_name()

        class Worker:
            def __init__(self):
                self.me = self
                self.hold = tsem.Semaphore(name, permits=1).acquire()

        with self.assertWarns(ResourceWarning):
            Worker()
            gc.collect()
        self.assertEqual(tsem.Semaphore(name).available, 1)

    def test_waits_leave_nothing_to_the_collector(self):
        sem = self.new()
        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)
        with sem:
            for _ in range(10):
                self.assertIsNone(self.wait_in_vain(sem))
        self.assertEqual([one for one in gc.get_objects() if type(one).__name__ in ("Wait", "Callback", "Hold")], [])

    @staticmethod
    def wait_in_vain(sem):
        try:
            return sem.acquire(timeout=0)
        except tsem.Timeout:
            return None

    def test_closed_by_another_thread_during_calls(self):
        name = self.fresh_name()
        over = threading.Event()
        shared = [tsem.Semaphore(name, permits=1)]

        def call():
            while not over.is_set():
                sem = shared[0]
                for one in (sem.state, lambda: sem.available, sem.recover, sem.try_acquire):
                    try:
                        hold = one()
                        if isinstance(hold, tsem.Hold):
                            hold.release()
                    except ValueError:
                        pass

        thread = threading.Thread(target=call)
        thread.start()
        for _ in range(300):
            old, shared[0] = shared[0], tsem.Semaphore(name)
            old.close()
        over.set()
        thread.join()
        self.assertEqual(tsem.Semaphore(name).available, 1)

    def test_no_warning_without_permits(self):
        sem = self.new()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with sem:
                self.assertRaises(tsem.Timeout, sem.acquire, timeout=0)
                self.assertIsNone(sem.try_acquire())
            hold = sem.acquire()
            hold.release()
            del hold
            gc.collect()

    def test_a_hold_is_not_copied(self):
        with self.new() as hold:
            self.assertRaisesRegex(TypeError, "cannot be copied", pickle.dumps, hold)


if __name__ == "__main__":
    unittest.main()
