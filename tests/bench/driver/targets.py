"""The goals: ratios of medians of one run, and figures."""
import dataclasses


@dataclasses.dataclass
class Target:
    text: str
    workload: str
    metric: str
    participants: int
    peer: str
    against: str  # "": the figure itself
    at_least: float = None
    at_most: float = None
    of: str = "most"  # which of the figure itself is judged: "most" or "median"

    def judge(self, results):
        """Returns (figure or ratio, whether the goal is reached), or None if it was not measured."""
        ours = results.figure(self.workload, self.metric, self.participants, self.peer)
        theirs = results.figure(self.workload, self.metric, self.participants, self.against) if self.against else None
        if ours is None or (self.against and (theirs is None or not theirs.median)):
            return None
        value = ours.median / theirs.median if self.against else getattr(ours, self.of)
        return value, (self.at_least is None or value >= self.at_least) and (self.at_most is None or value <= self.at_most)


def rates(text, workload, participants, peer, against, at_least):
    return Target(text, workload, "rate", participants, peer, against, at_least=at_least)


def recoveries():
    for peer in ("tsem-owned", "tsem run"):
        for waiters in (40, 1000):
            for of, name, at_most in (("median", "median", 35), ("most", "longest", 120)):
                yield Target(f"recovery, {peer}, {waiters:,} waiters, ms, the {name}", "recovery", "holder dies", waiters, peer, "",
                             at_most=at_most, of=of)


TARGETS = (
    rates("take + post against glibc", "pair", 1, "tsem", "glibc", 1.0),
    rates("acquire + release against glibc", "pair", 1, "tsem-owned", "glibc", 0.85),
    rates("acquire + release against SEM_UNDO", "pair", 1, "tsem-owned", "sysv-undo", 12),
    rates("two contending, anonymous, against glibc", "contend", 2, "tsem", "glibc", 1.5),
    rates("two contending, owned, against glibc", "contend", 2, "tsem-owned", "glibc", 1.3),
    rates("ping-pong against glibc", "ping-pong", 2, "tsem", "glibc", 1.0),
    rates("8 processes against SysV", "semabench", 8, "tsem", "sysv", 1.3),
    rates("64 processes against SysV", "semabench", 64, "tsem", "sysv", 1.3),
    rates("64 processes, owned, against SysV", "semabench", 64, "tsem-owned", "sysv", 1.3),
    rates("64 processes against a plain ticket lock", "semabench", 64, "tsem", "ticket-futex", 10),
    Target("hand-over with 40 queued against SysV", "hand-over", "hand-over", 40, "tsem", "sysv", at_most=1.1),
    Target("hand-over with 4,000 queued against SysV", "hand-over-long", "hand-over", 4000, "tsem", "sysv", at_most=1.1),
    Target("CPU of 1,000 sleeping waiters, % of a core", "idle", "CPU", 1000, "tsem", "", at_most=1.0),
    Target("recovery with 0 waiters, ms, the longest", "recovery", "holder dies", 0, "tsem-owned", "", at_most=500),
    *recoveries(),
    Target("recovery behind 1,000 dead, ms, the longest", "recovery", "holder and all in front die", 1000, "tsem-owned",
           "", at_most=500),
    Target("recovery if only some waiters can judge, ms, the longest", "mixes", "each way", 0, "all mixes", "", at_most=500),
    Target("`tsem run` around true against flock", "wrapper", "around true", 0, "tsem run", "flock", at_most=1.0),
    Target("`tsem run -F` around true against flock", "wrapper", "around true", 0, "tsem run -F", "flock", at_most=1.0),
    Target("`tsem run` around true against GNU sem", "wrapper", "around true", 0, "tsem run", "GNU sem", at_most=1 / 50),
    Target("draining queued jobs, ms each, the longest", "drain", "each queued job", 30, "tsem run", "", at_most=1.0),
    Target("bytes of a semaphore at rest", "memory", "at rest", 0, "tsem", "", at_most=32768),
)
