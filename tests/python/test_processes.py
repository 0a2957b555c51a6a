# SPDX-License-Identifier: MIT
"""Semaphores in children of fork() and of multiprocessing, with its three ways to start one."""

import gc
import multiprocessing
import os
import pickle
import signal
import unittest
import warnings

import tsem
from support import TestCase, eventually

METHODS = ("fork", "spawn", "forkserver")


def use_all(sem, rounds, slots):
    for _ in range(rounds):
        with sem as hold:
            slots.put((os.getpid(), hold.slot))


def hold_until_killed(sem, holding):
    with sem:
        holding.put(os.getpid())
        signal.pause()


def wait_for_the_parent(sem, go):
    go.get()
    with sem:
        pass


class Multiprocessing(TestCase):
    def test_a_semaphore_goes_to_a_child(self):
        for method in METHODS:
            context = multiprocessing.get_context(method)
            sem = self.new(permits=2)
            slots = context.Queue()
            children = [context.Process(target=use_all, args=(sem, 20, slots)) for _ in range(3)]
            for child in children:
                child.start()
            seen = [slots.get() for _ in range(60)]
            for child in children:
                child.join()
                self.assertEqual(child.exitcode, 0)
            self.assertEqual(len({pid for pid, _ in seen}), 3)
            self.assertLessEqual({slot for _, slot in seen}, {0, 1})
            self.assertEqual(sem.available, 2)

    def test_the_others_go_on_when_a_holder_is_killed(self):
        for method in METHODS:
            context = multiprocessing.get_context(method)
            sem = self.new()
            holding = context.Queue()
            victim = context.Process(target=hold_until_killed, args=(sem, holding))
            victim.start()
            self.assertEqual(holding.get(), victim.pid)
            slots = context.Queue()
            others = [context.Process(target=use_all, args=(sem, 5, slots)) for _ in range(8)]
            for other in others:
                other.start()
            eventually(lambda: len(sem.waiters()) == 8)
            self.assertEqual([owner.pid for owner in sem.holders()], [victim.pid])
            os.kill(victim.pid, signal.SIGKILL)
            self.assertEqual(len([slots.get() for _ in range(40)]), 40)
            for other in others:
                other.join()
                self.assertEqual(other.exitcode, 0)
            victim.join()
            self.assertEqual(sem.available, 1)
            with sem as hold:
                self.assertFalse(hold.recovered)  # one of the others was told

    def test_the_next_holder_is_told(self):
        context = multiprocessing.get_context("fork")
        sem = self.new()
        holding = context.Queue()
        victim = context.Process(target=hold_until_killed, args=(sem, holding))
        victim.start()
        holding.get()
        victim.kill()
        with sem as hold:
            self.assertTrue(hold.recovered)
        victim.join()

    def test_what_cannot_be_sent(self):
        with self.new() as hold:
            for method in ("spawn", "forkserver"):
                child = multiprocessing.get_context(method).Process(target=print, args=(hold,))
                self.assertRaisesRegex(TypeError, "cannot be copied or sent", child.start)

    def test_a_semaphore_that_has_gone_meanwhile(self):
        sem = self.new()
        sent = pickle.dumps(sem)
        self.assertEqual(pickle.loads(sent).name, sem.name)
        tsem.remove(sem.name)
        self.assertRaises(tsem.NotFound, pickle.loads, sent)


class Fork(TestCase):
    def in_child(self, body):
        """Runs body() in a child; an exception is a failure."""
        pid = os.fork()
        if pid == 0:
            try:
                body()
                os._exit(0)
            except BaseException:
                import traceback

                traceback.print_exc()
                os._exit(1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)

    def test_a_child_does_not_have_the_hold(self):
        sem = self.new(permits=2)

        def body():
            self.assertRaisesRegex(tsem.Denied, f"process {os.getppid()} has these permits", hold.release)
            self.assertEqual(sem.available, 1)

        with sem as hold:
            self.in_child(body)
            self.assertEqual(sem.available, 1)
        self.assertEqual(sem.available, 2)

    def test_a_child_that_leaves_the_block(self):
        sem = self.new(permits=2)

        def body():
            context.__exit__(None, None, None)
            self.assertEqual(sem.available, 1)
            with sem:
                self.assertEqual(sem.available, 0)

        context = sem
        with context:
            self.in_child(body)
            self.assertEqual(sem.available, 1)

    def test_a_child_that_forgets_the_hold(self):
        sem = self.new()
        holds = [sem.acquire()]

        def body():
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                holds.clear()
                gc.collect()

        self.in_child(body)
        self.assertEqual(sem.available, 0)
        holds[0].release()

    def test_a_child_that_ends_with_a_permit(self):
        sem = self.new()
        pid = os.fork()
        if pid == 0:
            held = sem.acquire()  # kept until the end
            os.kill(os.getpid(), signal.SIGKILL)
            held.release()
        os.waitpid(pid, 0)
        sem.acquire(timeout=50).release()


if __name__ == "__main__":
    unittest.main()
