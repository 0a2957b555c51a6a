#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Makes the pictures of README.md from what `tsem show` and `tsem top` print on an emulated terminal.

Usage: pictures.py TSEM DIRECTORY
"""

import html
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
sys.dont_write_bytecode = True  # nothing is left in the source tree
from screen import Terminal, do  # noqa: E402

# Each job is a process that waits for ever, under the name of something that people know.
SCENE = r"""
mkfifo /dev/shm/silence
job() {
  local name=$1 permits=$2
  shift 2
  tsem run -j "$permits" "$name" -- bash -c 'exec -a "$0" cat <>/dev/shm/silence' "$*" &
}
waiting() {
  until [ "$(tsem show --raw --noheadings -o STATE "$1" 2>/dev/null | grep -c waits)" = "$2" ]; do sleep 0.01; done
}
for file in a b c; do job encode 3 flac --silent $file.wav; done
waiting encode 0
job gpu 4 ./train --config small; job gpu 4 ./train --config large; job disk.sda 1 ./backup /dev/sda1
until [ "$(tsem list --raw --noheadings -o HELD | paste -sd+ | bc)" = 6 ]; do sleep 0.01; done
kill -STOP $(tsem show --raw --noheadings -o PID encode | tail -1)
tsem run encode -- flac --silent d.wav & waiting encode 1
tsem take -w 10m encode & waiting encode 2
sleep 1000 & victim=$!
tsem create -j 16 compilers; tsem take -k 11 compilers
tsem create -j 2 database; tsem acquire --owner $victim database
kill -9 $victim; wait $victim 2>/dev/null
true
"""

COLORS = {"red": "#e06c75", "green": "#98c379", "brown": "#e5c07b", "yellow": "#e5c07b"}
PLAIN, BACKGROUND = "#d0d4dc", "#22252b"
WIDTH, HEIGHT = 8.43, 18


def runs_of(line, columns):
    """Neighbouring characters that look alike, as (column, text, appearance)."""
    run = None
    for x in range(columns):
        char = line[x]
        look = (char.fg, char.bold, char.reverse)
        if run and run[2] == look:
            run = (run[0], run[1] + char.data, look)
            continue
        if run:
            yield run
        run = (x, char.data, look)
    if run:
        yield run


def svg(screen, rows):
    width, height = screen.columns * WIDTH + 24, rows * HEIGHT + 24
    yield f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">'
    yield f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>'
    yield '<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">'
    for y in range(rows):
        for x, text, (color, bold, reverse) in runs_of(screen.buffer[y], screen.columns):
            if not text.strip() and not reverse:
                continue
            left, top, length = 12 + x * WIDTH, 12 + y * HEIGHT, len(text) * WIDTH
            ink = COLORS.get(color, PLAIN)
            if reverse:
                yield f'<rect x="{left:.1f}" y="{top}" width="{length:.1f}" height="{HEIGHT}" fill="{ink}"/>'
                ink = BACKGROUND
            weight = ' font-weight="bold"' if bold else ""
            yield (
                f'<text x="{left:.1f}" y="{top + 14}" textLength="{length:.1f}" lengthAdjust="spacingAndGlyphs" '
                f'fill="{ink}"{weight}>{html.escape(text)}</text>'
            )
    yield "</g></svg>"


def picture(path, size, command, *steps):
    terminal = Terminal(size, command)
    for step in steps:
        if not do(terminal, step):
            sys.exit(f"{terminal.text()}\nnot so in time: {step}")
    rows = max(y for y, line in enumerate(terminal.screen.display) if line.strip()) + 1
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(svg(terminal.screen, rows)) + "\n")
    if not terminal.has_ended():
        do(terminal, "key:q")
        do(terminal, "restored:0")


def main():
    tsem, directory = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.environ["PATH"] = f"{os.path.dirname(tsem)}:{os.environ['PATH']}"
    os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
    if "--inside" not in sys.argv:
        os.execvp("unshare", ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--map-root-user", "bash", "-c",
                              'mount -t tmpfs tmpfs /dev/shm && exec "$@"', "bash", *sys.argv, "--inside"])
    subprocess.run(["bash", "-c", SCENE], check=True, stderr=subprocess.DEVNULL)
    picture(os.path.join(directory, "show.svg"), "96x10", ["tsem", "show", "encode"], "restored:0")
    picture(os.path.join(directory, "top.svg"), "96x9", ["tsem", "top", "-d", "100ms"], "see:^gpu", "see:██$",
            "until:tsem run encode -- flac e &", "see:encode .* 3 ", "see:█████$", "until:tsem run encode -- flac f & tsem run disk.sda true &",
            "see:encode .* 4 .*(█ *){12}$", "see:^gpu")


main()
