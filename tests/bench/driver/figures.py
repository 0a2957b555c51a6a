"""Samples, and what is made of them: medians with their spread, and how often tsem is better."""
import dataclasses
import json
import statistics

from .workloads import HIGHER_IS_BETTER


@dataclasses.dataclass
class Figure:
    median: float
    low: float   # quartiles
    high: float
    least: float
    most: float
    samples: int

    @classmethod
    def of(cls, values):
        if len(values) > 1:
            low, _, high = statistics.quantiles(values, n=4, method="inclusive")
        else:
            low = high = values[0]
        return cls(statistics.median(values), low, high, min(values), max(values), len(values))


class Results:
    """Figures by (workload key, metric, participants, peer)."""

    def __init__(self):
        self.samples = {}
        self.units = {}
        self.missing = []
        self.separate = False  # measured by more than one run

    def add_line(self, workload, line):
        word = json.loads(line)
        if "missing" in word:
            entry = (workload, word["missing"], word["participants"], word["why"])
            if entry not in self.missing:
                self.missing.append(entry)
            return
        key = (workload, word["metric"], word["participants"], word["peer"])
        self.samples.setdefault(key, []).append(word["value"])
        self.units[(workload, word["metric"])] = word["unit"]

    def add_file(self, path, without):
        """What as_json() made of an earlier run, but for the workloads `without`."""
        kept = json.loads(path.read_text(encoding="utf-8"))
        self.separate = True
        for entry in kept["figures"]:
            if entry["workload"] not in without:
                key = (entry["workload"], entry["metric"], entry["participants"], entry["peer"])
                self.samples[key] = entry["values"]
                self.units[key[:2]] = entry["unit"]
        for entry in kept["missing"]:
            if entry["workload"] and entry["workload"] not in without:  # that it was interrupted is of that run
                self.missing.append((entry["workload"], entry["peer"], entry["participants"], entry["why"]))

    def figure(self, workload, metric, participants, peer):
        values = self.samples.get((workload, metric, participants, peer))
        return Figure.of(values) if values else None

    def names(self, workload, place):
        """The metrics (1), participants (2) or peers (3) that occur in a workload, in order of appearance."""
        return list(dict.fromkeys(key[place] for key in self.samples if key[0] == workload))

    def as_json(self):
        return [{"workload": key[0], "metric": key[1], "participants": key[2], "peer": key[3],
                 "unit": self.units[key[:2]], **dataclasses.asdict(Figure.of(values)), "values": values}
                for key, values in self.samples.items()]


def advantage(metric, ours, theirs):
    """How many times better ours is: above 1 whatever is measured. None where a zero forbids it."""
    if metric in HIGHER_IS_BETTER:
        ours, theirs = theirs, ours
    return theirs / ours if ours else None
