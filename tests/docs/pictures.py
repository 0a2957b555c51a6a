#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Makes the pictures of README.md from what `tsem show` and `tsem top` print on an emulated terminal.

Usage: pictures.py TSEM DIRECTORY
"""

import html
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "cli"))
sys.dont_write_bytecode = True  # no file is left in the source tree
from screen import Terminal, do  # noqa: E402

COLORS = {"red": "#e06c75", "green": "#98c379", "brown": "#e5c07b", "yellow": "#e5c07b"}
PLAIN, BACKGROUND = "#d0d4dc", "#22252b"
WIDTH, HEIGHT = 8.43, 18


def runs_of(line, columns):
    """Runs of characters with the same appearance, as (column, text, appearance)."""
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
        os.execvp("unshare", ["unshare", "--mount", "--pid", "--fork", "--mount-proc", "--map-root-user",
                              os.path.join(HERE, "..", "cli", "programs", "fresh-shm"), "50%", *sys.argv, "--inside"])
    subprocess.run([os.path.join(HERE, "picture_jobs.sh")], check=True, stderr=subprocess.DEVNULL)
    picture(os.path.join(directory, "show.svg"), "96x10", ["tsem", "show", "encode"], "restored:0")
    picture(os.path.join(directory, "top.svg"), "96x9", ["tsem", "top", "-d", "100ms"], "see:^gpu", "see:██$",
            "until:tsem run encode -- flac e &", "see:encode .* 3 ", "see:█████$", "until:tsem run encode -- flac f & tsem run disk.sda true &",
            "see:encode .* 4 .*(█ *){12}$", "see:^gpu")


main()
