"""The workloads, their default options, and the meaning of their figures."""
import dataclasses

PROCESS_PEERS = ("tsem", "tsem-owned", "glibc", "sysv", "sysv-undo", "ticket-futex", "ticket-semaphore", "twa-semaphore")
THREAD_PEERS = ("waiting-chains", "key-wait")


@dataclasses.dataclass
class Workload:
    """One call of the benchmark program. `participants` are queue lengths or counts where the title says so."""
    key: str
    program: str
    title: str
    seconds: float = 0.1
    repetitions: int = 7
    participants: tuple = ()
    peers: tuple = PROCESS_PEERS
    threads: bool = False
    note: str = ""
    longest: bool = False  # the tables show the longest, too
    asked_for: bool = False  # runs only if it is named


WORKLOADS = (
    Workload("pair", "pair", "Take and give without contention", 0.05, 21,
             peers=PROCESS_PEERS + THREAD_PEERS),
    Workload("contend", "contend", "Two processes contending for one permit, each on its own CPU", 0.1, 15,
             note="Each process takes and gives in a loop without other work. The peers without order let one process run "
                  "in bursts, out of its own cache; the peers in order pass the permit at each step."),
    Workload("ping-pong", "ping-pong", "Ping-pong between two processes, each on its own CPU", 0.1, 11),
    Workload("ping-pong-one-cpu", "ping-pong-one-cpu", "Ping-pong between two processes on one CPU", 0.1, 7),
    Workload("semabench", "semabench", "semabench with processes", 0.1, 7, (1, 2, 4, 8, 16, 64, 256),
             note="Critical section: a step of a shared mt19937. Outside it: up to 249 steps of a private one. Not pinned."),
    Workload("semabench-threads", "semabench", "semabench with threads", 0.1, 7, (1, 2, 4, 8, 16, 64, 256),
             peers=PROCESS_PEERS + THREAD_PEERS, threads=True,
             note="What Figure 1 of Dice and Kogan shows, with all the peers."),
    Workload("fairness", "fairness", "Fairness in semabench with processes", 0.25, 7, (2, 8, 64),
             note="Rounds of the luckiest and the unluckiest participant against the mean, and the longest single wait."),
    Workload("hand-over", "hand-over", "Hand-over to a sleeping waiter, by length of the queue", 0, 25,
             (10, 40, 100, 1000),
             peers=("tsem", "tsem-owned", "glibc", "sysv", "sysv-undo", "ticket-futex", "twa-semaphore"),
             note="Mean of the hand-overs from a full queue to a half empty one; each waiter gives as soon as it runs."),
    Workload("hand-over-long", "hand-over", "Hand-over to a sleeping waiter, long queues", 0, 25, (4000,),
             peers=("tsem", "tsem-owned", "sysv", "sysv-undo")),
    Workload("hand-over-longest", "hand-over", "Hand-over to a sleeping waiter, a queue of 10,000", 0, 3, (10000,),
             peers=("tsem", "sysv"), asked_for=True,
             note="Thousands of runnable processes at once: it slows everything else on the machine, so it runs only "
                  "if it is named."),
    Workload("post", "post", "Post for n sleeping waiters", 0, 9, (1, 10, 100), peers=("tsem", "glibc", "sysv")),
    Workload("wrapper", "wrapper", "A command around `true`", 0, 15, peers=()),
    Workload("drain", "drain", "Each of 30 queued jobs, once the one in front ends", 0, 9, (30,), peers=()),
    Workload("idle", "idle", "CPU of sleeping waiters", 0, 3, (1000,), peers=("tsem", "tsem-owned", "glibc", "sysv"),
             note="For 14 s, or 70 s with 10,000 waiters, because most waiters of a long queue of tsem look rarely for the dead. "
                  "With 10,000 waiters, or a semaphore for each: once all have waited for half a minute."),
    Workload("memory", "memory", "Memory of a semaphore", 0, 1, (1000,), peers=PROCESS_PEERS + THREAD_PEERS),
    Workload("recovery", "recovery", "From a SIGKILL to the next admission, by number of waiters", 0, 15, (40, 1000),
             peers=("tsem-owned", "sysv-undo", "tsem run"), longest=True,
             note="Holders die at random moments, about a second apart. With 0 waiters, a process comes 20 ms later, and the time "
                  "is from then on. A killed `tsem run` dies together with its command. "
                  "The other peers do not recover: a permit of a killed process is lost for good."),
    Workload("mixes", "mixes", "From a SIGKILL to the next admission, if only some waiters can judge the dead owner", 0.8, 6, peers=(),
             longest=True,
             note="A letter is a waiter, in the order of the queue: h is in the owner's PID namespace, c is in another. The owner "
                  "has no presence lock."),
)

HIGHER_IS_BETTER = ("rate", "least")


def choose(workloads, names):
    """Returns the workloads of these names, in the order of WORKLOADS. ValueError names one that does not exist."""
    known = {workload.key for workload in workloads}
    for name in names:
        if name not in known:
            raise ValueError(f"there is no workload '{name}'; there are: {', '.join(sorted(known))}")
    return [workload for workload in workloads if workload.key in names or not (names or workload.asked_for)]
