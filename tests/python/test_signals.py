# SPDX-License-Identifier: MIT
"""Ctrl-C and other signal handlers during a wait, whose only other way out is the deadline of the test."""

import functools
import signal
import threading
import unittest
import warnings

import tsem
from support import TestCase, eventually
from tsem import _semaphore, _wait


class Signals(TestCase):
    def setUp(self):
        super().setUp()
        # Waits that call progress by themselves once a quarter of an hour: what ends them here is the signal alone.
        self.addCleanup(setattr, _semaphore, "Wait", _wait.Wait)
        self.addCleanup(setattr, _semaphore, "_IDLE_S", _semaphore._IDLE_S)
        _semaphore._IDLE_S = 1000
        _semaphore.Wait = functools.partial(_wait.Wait, every_ms=1_000_000)
        self.main = threading.main_thread().ident
        self.armed = False
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, self.press))

    def press(self, number, frame):
        """As by default, but once: the signal is sent more often."""
        if self.armed:
            self.armed = False
            signal.default_int_handler(number, frame)

    def send_until(self, number, condition):
        """Sends the signal again, because one that comes before the thread sleeps does not end its sleep."""

        def send():
            if not condition():
                signal.pthread_kill(self.main, number)
            return condition()

        eventually(send)

    def interrupt(self, call, is_waiting):
        """Ctrl-C while the main thread waits in the call."""

        def press():
            eventually(is_waiting)
            self.armed = True
            self.send_until(signal.SIGINT, lambda: not self.armed)

        thread = threading.Thread(target=press)
        thread.start()
        with self.assertRaises(KeyboardInterrupt):
            call()
        thread.join()

    def test_ctrl_c_ends_each_kind_of_wait(self):
        sem, other = self.new(), self.new()

        def block():
            with sem:
                self.fail("admitted")

        waits = lambda: len(sem.waiters()) == 1
        with sem, other:
            self.interrupt(sem.acquire, waits)
            self.interrupt(block, waits)
            self.interrupt(sem.take, waits)
            self.interrupt(lambda: tsem.acquire_any([other, sem]), waits)
            self.interrupt(lambda: sem.acquire(timeout=1000), waits)
            self.assertEqual(sem.state().waiters, ())
        with sem:
            self.interrupt(lambda: tsem.acquire_all([sem, other]), waits)
        self.assertEqual((sem.available, other.available), (1, 1))

    def test_ctrl_c_ends_wait_idle(self):
        sem = self.new()
        begun = []

        def begin():
            begun.append(True)
            sem.wait_idle()

        with sem:
            self.interrupt(begin, lambda: begun)

    def test_a_handler_that_returns_keeps_the_place(self):
        sem = self.new()
        ran = []
        self.addCleanup(signal.signal, signal.SIGUSR1, signal.signal(signal.SIGUSR1, lambda *_: ran.append(1)))
        seen = []

        def disturb():
            eventually(lambda: len(sem.waiters()) == 1)
            second = threading.Thread(target=lambda: sem.acquire().release())
            second.start()
            eventually(lambda: len(sem.waiters()) == 2)
            before = sem.waiters()
            self.send_until(signal.SIGUSR1, lambda: len(ran) >= 3)
            seen.append([owner.seconds >= old.seconds for owner, old in zip(sem.waiters(), before)])
            first.release()
            second.join()

        first = sem.acquire()
        thread = threading.Thread(target=disturb)
        thread.start()
        sem.acquire().release()
        thread.join()
        self.assertEqual(seen, [[True, True]])  # one that had begun again would be the second, with less time

    def test_what_a_handler_raises_is_raised(self):
        sem = self.new()

        def handler(*_):
            raise OverflowError("of the handler")

        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, handler))
        with sem:
            signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
            try:
                with self.assertRaisesRegex(OverflowError, "of the handler"):
                    sem.acquire()
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            self.assertEqual(sem.state().waiters, ())

    def test_a_handler_that_grants_the_permit_and_raises(self):
        """The wait has succeeded as the handler's exception ends it: what it has got comes back."""
        sem = self.new()

        def handler(*_):
            if sem.available == 0 and len(sem.waiters()) == 1:
                give()
                raise OverflowError

        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, handler))
        for wait in (sem.take, sem.acquire, lambda: tsem.acquire_all([sem]), lambda: tsem.acquire_any([sem])):
            hold = sem.acquire()
            give = hold.release
            signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
            try:
                self.assertRaises(OverflowError, wait)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            self.assertEqual(sem.available, 1)

    def test_a_storm_of_interrupts_loses_no_permit(self):
        """Interrupts at any point of acquire() and release(), also just after the library has granted the permit."""
        sem = self.new()

        def block():  # whose hold is forgotten if the interrupt comes as the block ends
            with sem.acquire() as hold:
                hold.slot

        over = threading.Event()
        thread = threading.Thread(target=lambda: self.send_until(signal.SIGINT, over.is_set))
        interrupted = 0
        thread.start()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a hold may be forgotten between acquire() and the block
            while interrupted < 300:
                try:
                    self.armed = True
                    block()
                except KeyboardInterrupt:
                    interrupted += 1
        over.set()
        thread.join()
        self.assertEqual(sem.available, 1)


if __name__ == "__main__":
    unittest.main()
