"""The results page."""
from . import plots, tables

LOSES = """## What loses, and why

- A queue in order does not let a running process overtake. When one process takes and posts in a loop, or when more
  participants are runnable than there are CPUs, a semaphore without order admits a participant that runs already, out of
  its own cache and without a wake. A queue hands the permit to its first waiter, which may be asleep. glibc's semaphore is
  ahead there. The table of fairness shows the price that the other participants pay: their longest waits.
- An uncontended acquire and release records the owner of the permit, the state of the hold and the time of the acquire.
  glibc's pair takes little more than its two locked instructions. tsem adds the stores that the protocol needs around them,
  a look at the clock, which is a twentieth of the whole, and the checks of a library: which thread and which hold this is,
  whether there is room, whether a process waits. A pair without all this does not know what to give back when its owner dies.
- Two processes that play ping-pong on one CPU sleep at every step. A waiter of tsem records that it waits and since when,
  sets a timer for its next look at the other processes, and counts the wait: half a microsecond beside the two of the kernel.
- Sleeping waiters wake up from time to time, the last ones in the queue often, since perhaps no other process is left to notice
  a death. Each wake-up is a context switch of the kernel.
- Recovery happens when a process looks. The kernel walks the locks of SysV with SEM_UNDO at exit and gives them back within a
  millisecond; tsem's waiters look within half a second. A semaphore of plain shared memory that needs no daemon has no other
  moment. SEM_UNDO takes two system calls a pair instead.
"""


def write(results, machine, directory, by_default):
    drawn = plots.draw(results, directory)
    reach = tables.target_table(results)
    lines = ["# Results of the benchmark", "",
             "Written by `./dev bench`. Peers take turns within one run; a figure is the median of its repetitions, with the",
             "quartiles in brackets; behind it, in bold, how many times better tsem is: above 1 tsem is ahead, below 1 the peer.",
             "All of it is one run" + (", with the default options." if by_default else "."),
             "Each repetition has a new semaphore on another cache line. The semaphores of Dice and Kogan are rendered here from",
             "their ideas; the paper's own code may differ in details.", ""]
    lines += tables.rows(["", ""], [[name, value] for name, value in machine.items()]) + [""]
    if reach:
        lines += ["## Reach", ""] + reach + [""]
    lines += [LOSES] + [f"![{name}]({name})" for name in drawn]
    lines += ["", "## Figures"] + tables.sections(results)
    (directory / "README.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
