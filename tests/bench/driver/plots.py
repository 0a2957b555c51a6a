"""SVG plots of the rate by the number of participants, by gnuplot. The other tables have few columns and need no plot."""
import shutil
import subprocess

PLOTS = (
    ("semabench", "semabench, processes", "participants"),
    ("semabench-threads", "semabench, threads (Figure 1 of Dice and Kogan)", "threads"),
)

COMMANDS = """set terminal svg size 900,560 font 'sans,13' background 'white'
set output '{output}'
set title '{title}'
set xlabel '{across}'
set ylabel 'rounds per second'
set logscale x 2
set logscale y
set format y '%.0s%c'
set key outside right
set grid
plot {curves}
"""


def draw(results, directory):
    """Writes the plots and returns their names; writes none without gnuplot."""
    if not shutil.which("gnuplot"):
        return []
    written = []
    for workload, title, across in PLOTS:
        peers = [peer for peer in results.names(workload, 3)
                 if sum(key[:2] == (workload, "rate") and key[3] == peer for key in results.samples) > 1]
        if not peers:
            continue
        blocks, curves = [], []
        for i, peer in enumerate(peers):
            points = sorted(key[2] for key in results.samples if key[:2] == (workload, "rate") and key[3] == peer)
            figures = [(n, results.figure(workload, "rate", n, peer)) for n in points]
            blocks.append(f"$peer{i} << END\n" + "\n".join(f"{n} {f.median} {f.low} {f.high}" for n, f in figures) + "\nEND\n")
            width = 3 if peer.startswith("tsem") else 1
            curves.append(f"$peer{i} using 1:2:3:4 with yerrorlines linewidth {width} linetype {i + 1} title '{peer}'")
        output = directory / f"{workload}.svg"
        commands = COMMANDS.format(output=output, title=title, across=across, curves=", \\\n  ".join(curves))
        subprocess.run(["gnuplot"], input="".join(blocks) + commands, text=True, check=True)
        written.append(output.name)
    return written
