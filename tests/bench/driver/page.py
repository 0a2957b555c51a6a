"""The results page, and the same as JSON."""
import json

from . import plots, tables

LOSES = """## What loses, and why

- A strict queue cannot barge. When one process takes and posts in a loop, or when there are more runnable participants
  than CPUs, an unfair lock lets whoever runs already have it again and again, out of its own cache and without a wake;
  a queue has to hand the permit to the one whose turn it is, who may be asleep. The robust mutex and glibc's semaphore
  are ahead there. What that costs the others is in the table of fairness: their longest waits.
- An uncontended acquire and release writes down whose the permit is, in which of five states, and since when. The two
  locked instructions alone are nearly all that glibc's pair takes; with the three states that have to be written around
  them, what a hold has to say, and a look at the clock, which alone is a twentieth of the whole, one gets owned-floor in
  the table of pairs. The rest is what a library needs: whose thread and whose hold this is, whether there is room, whether
  somebody waits. A pair that one instruction each could do would not know what to give back when its owner dies.
- Two processes that play ping-pong on one CPU sleep at every step. A waiter of tsem writes down that it waits and since
  when, sets a timer, for it has to look around, and counts the wait: half a microsecond beside the two of the kernel.
- Sleeping waiters wake up every 0.8 s, near the ends of the line every 0.4 s, each a context switch of the kernel, since
  nobody else might be left to notice a death. ticking-sleep in the table of idle waiters does nothing but sleep and wake up
  every 0.8 s, all at the same time, which is the cheapest; each at its own time it takes the kernel about twice as much.
- Recovery waits for somebody to look: peers whose locks lie in the kernel, or that the kernel walks at exit (SysV with
  SEM_UNDO, flock, robust mutexes), give back within a millisecond; tsem's waiters look within half a second. A semaphore
  of plain shared memory that needs no daemon has no other moment, and the others have limits of their own: SEM_UNDO
  takes two system calls a pair, a robust mutex has one permit and no order, flock no count.
"""


SEPARATE = ["Workloads may come from separate runs (--add) with other options than the defaults: compare within a workload.",
            "The machine is described as it was at the last of them."]


def write(results, machine, directory, by_default):
    drawn = plots.draw(results, directory)
    reach = tables.target_table(results)
    lines = ["# Results of the benchmark", "",
             "Written by `./dev bench`. Peers take turns within one run; a figure is the median of its repetitions, with the",
             "quartiles in brackets; behind it, in bold, how many times better tsem is: above 1 tsem is ahead, below 1 the peer.",
             *(SEPARATE if results.separate else ["All of it is one run, with the options that it has by default."
                                                  if by_default else "All of it is one run."]),
             "Each repetition has a new semaphore on another cache line. The semaphores of Dice and Kogan are rendered here from",
             "their ideas; the paper's own code may differ in details.", ""]
    lines += tables.rows(["", ""], [[name, value] for name, value in machine.items()]) + [""]
    if reach:
        lines += ["## Reach", ""] + reach + [""]
    lines += [LOSES] + [f"![{name}]({name})" for name in drawn]
    lines += ["", "## Figures"] + tables.sections(results)
    (directory / "README.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    everything = {"machine": machine, "figures": results.as_json(),
                  "missing": [dict(zip(("workload", "peer", "participants", "why"), entry)) for entry in results.missing]}
    (directory / "results.json").write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")
