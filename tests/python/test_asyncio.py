# SPDX-License-Identifier: MIT
"""Semaphores in tasks of asyncio."""

import asyncio
import threading
import unittest
import warnings

import tsem
from support import TestCase, eventually


async def until(condition):
    while not condition():
        await asyncio.sleep(0.002)


class Tasks(TestCase):
    def setUp(self):
        """No hold may be left to the garbage collector."""
        super().setUp()
        caught = self.enterContext(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")
        self.addCleanup(lambda: self.assertEqual([str(one.message) for one in caught], []))

    def test_a_block_holds_while_other_tasks_run(self):
        sem = self.new(permits=3)
        inside = set()

        async def job():
            async with sem as hold:
                self.assertNotIn(hold.slot, inside)
                inside.add(hold.slot)
                self.assertLessEqual(len(inside), 3)
                await asyncio.sleep(0.001)
                inside.remove(hold.slot)

        async def jobs():
            await asyncio.gather(*(job() for _ in range(100)))

        asyncio.run(jobs())
        self.assertEqual(sem.available, 3)

    def test_a_waiting_task_does_not_stop_the_others(self):
        sem = self.new()

        async def release_once_it_waits(hold):
            await until(lambda: len(sem.waiters()) == 1)
            hold.release()

        async def both():
            await asyncio.gather(release_once_it_waits(sem.acquire()), self.use(sem))

        asyncio.run(both())

    async def use(self, sem):
        async with sem:
            pass

    def test_a_cancelled_task_gives_up(self):
        sem = self.new()

        async def cancel_it():
            task = asyncio.create_task(self.use(sem))
            await until(lambda: len(sem.waiters()) == 1)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            await until(lambda: sem.waiters() == ())

        with sem:
            asyncio.run(cancel_it())
        self.assertEqual(sem.available, 1)

    def test_a_task_cancelled_as_it_is_admitted_loses_no_permit(self):
        sem = self.new()

        async def one_round():
            hold = sem.acquire()
            task = asyncio.create_task(self.use(sem))
            await until(lambda: len(sem.waiters()) == 1)
            hold.release()
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])

        async def rounds():
            for _ in range(200):
                await one_round()
                await until(lambda: sem.available == 1)

        asyncio.run(rounds())

    def test_a_loop_that_ends_first_loses_no_permit(self):
        sem = self.new()
        hold = sem.acquire()

        async def leave():
            asyncio.create_task(self.use(sem))
            await until(lambda: len(sem.waiters()) == 1)

        asyncio.run(leave())  # which cancels the task
        hold.release()
        eventually(lambda: sem.available == 1)

    def test_a_time_that_passes(self):
        sem = self.new()

        async def wait():
            with self.assertRaises(tsem.Timeout):
                await sem.acquire_async(timeout=0.05)
            with self.assertRaises(TimeoutError):
                async with asyncio.timeout(0.05), sem:
                    self.fail("admitted")
            for timeout in (-1, float("nan")):
                with self.assertRaises(ValueError):
                    await sem.acquire_async(timeout=timeout)

        with sem:
            asyncio.run(wait())
        eventually(lambda: sem.available == 1)

    def test_weights_and_removal(self):
        sem = self.new(permits=3)

        async def job():
            with await sem.acquire_async(2) as hold:
                self.assertEqual(hold.count, 2)
                task = asyncio.create_task(sem.acquire_async(2))
                await until(lambda: len(sem.waiters()) == 1)
                tsem.remove(sem.name, force=True)
                with self.assertRaises(tsem.Removed):
                    await task

        asyncio.run(job())

    def test_no_thread_is_left(self):
        sem = self.new()

        async def jobs():
            await asyncio.gather(*(self.use(sem) for _ in range(50)))

        before = threading.active_count()
        asyncio.run(jobs())
        eventually(lambda: threading.active_count() <= before)


if __name__ == "__main__":
    unittest.main()
