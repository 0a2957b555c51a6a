"""Samples, their medians and quartiles, and how often tsem is better."""
import dataclasses
import json
import statistics

from .workloads import HIGHER_IS_BETTER


@dataclasses.dataclass
class Figure:
    median: float
    low: float   # quartiles
    high: float
    most: float

    @classmethod
    def of(cls, values):
        if len(values) > 1:
            low, _, high = statistics.quantiles(values, n=4, method="inclusive")
        else:
            low = high = values[0]
        return cls(statistics.median(values), low, high, max(values))


class Results:
    """Figures by (workload key, metric, participants, peer)."""

    def __init__(self):
        self.samples = {}
        self.units = {}
        self.missing = []

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

    def figure(self, workload, metric, participants, peer):
        values = self.samples.get((workload, metric, participants, peer))
        return Figure.of(values) if values else None

    def names(self, workload, place):
        """The metrics (1), participants (2) or peers (3) that occur in a workload, in order of appearance."""
        return list(dict.fromkeys(key[place] for key in self.samples if key[0] == workload))


def advantage(metric, ours, theirs):
    """How many times better tsem is: above 1 for every metric. None if a figure is zero."""
    if metric in HIGHER_IS_BETTER:
        ours, theirs = theirs, ours
    return theirs / ours if ours else None
