"""Markdown tables that are readable as plain text."""
from .figures import advantage
from .targets import TARGETS
from .workloads import WORKLOADS

REFERENCE = ("tsem", "tsem-owned", "tsem run")


def number(value):
    if value == 0:
        return "0"
    if abs(value) >= 1e6:
        return f"{value / 1e6:.2f} M"
    if abs(value) >= 1e4:
        return f"{value / 1e3:.1f} k"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def cell(results, workload, metric, participants, peer, reference):
    figure = results.figure(workload, metric, participants, peer)
    if figure is None:
        return "-"
    text = f"{number(figure.median)} ({number(figure.low)} to {number(figure.high)})"
    if any(known.key == workload and known.longest for known in WORKLOADS):
        text += f", longest {number(figure.most)}"
    ours = results.figure(workload, metric, participants, reference) if peer not in REFERENCE else None
    times = advantage(metric, ours.median, figure.median) if ours else None
    return f"{text} **{times:.2f}**" if times is not None else text


def rows(head, lines):
    widths = [max(len(line[i]) for line in [head] + lines) for i in range(len(head))]
    draw = lambda line: "| " + " | ".join(word.ljust(width) for word, width in zip(line, widths)) + " |"
    return [draw(head), "|" + "|".join("-" * (width + 2) for width in widths) + "|"] + [draw(line) for line in lines]


def metric_table(results, workload, metric):
    columns = [n for n in results.names(workload, 2)
               if any(key[:3] == (workload, metric, n) for key in results.samples)]
    peers = [peer for peer in results.names(workload, 3)
             if any(key[:2] == (workload, metric) and key[3] == peer for key in results.samples)]
    reference = next((peer for peer in peers if peer in REFERENCE), "")
    head = [f"{metric}, {results.units[(workload, metric)]}"] + [str(n) if len(columns) > 1 else "median" for n in columns]
    lines = [[peer] + [cell(results, workload, metric, n, peer, reference) for n in columns] for peer in peers]
    return rows(head, lines)


def target_table(results):
    lines = []
    for target in TARGETS:
        verdict = target.judge(results)
        bound = f"at least {target.at_least:g}" if target.at_least is not None else f"at most {target.at_most:.3g}"
        if verdict:
            lines.append([target.text, bound, f"{verdict[0]:.3g}", "yes" if verdict[1] else "**no**"])
    return rows(["", "wanted", "measured", "reached"], lines) if lines else []


def workload_section(results, workload):
    out = ["", f"### {workload.title}", ""]
    if workload.note:
        out += [workload.note, ""]
    for metric in results.names(workload.key, 1):
        out += metric_table(results, workload.key, metric) + [""]
    missing = {}
    for key, peer, participants, why in results.missing:
        if key == workload.key:
            missing.setdefault((peer, why), []).append(participants)
    for (peer, why), numbers in missing.items():
        at = ", ".join(str(n) for n in numbers if n)
        out.append(f"- without {peer}{' at ' + at if at else ''}: {why}")
    return out


def sections(results):
    return [line for workload in WORKLOADS if results.names(workload.key, 1)
            for line in workload_section(results, workload)]
