#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Each verb has a manual page, and each option of --help is described once: by the page of its verb or, if several verbs
share it, by tsem(1), whose table names all options. The columns of --help are those of tsem-columns(5).

Usage: options.py TSEM DIRECTORY_OF_THE_PAGES. Speaks TAP.
"""

import collections
import pathlib
import re
import subprocess
import sys


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


# ---- the command ----


class Help:
    def __init__(self, tsem, verb):
        text = output(tsem, verb, "--help")
        self.usage = set(re.findall(r"(?<![\w-])--?[A-Za-z][a-z-]*", text.split("\n\n")[0]))
        options = text.split("\nOptions:\n")[1].split("\n\n")[0]
        self.options = []
        for line in options.splitlines():
            short, name, argument = re.match(r"  (-.|  ),? *(--[a-z-]+) ([A-Z]*)", line).groups()
            self.options.append((short.strip(), name, argument))
        self.columns = re.findall(r"^ [* ]([A-Z]+) ", text.partition("\nColumns")[2], re.MULTILINE)
        self.defaults = re.findall(r"^ \*([A-Z]+) ", text.partition("\nColumns")[2], re.MULTILINE)
        self.page = re.search(r"^See (\S+)\(1\)\.$", text, re.MULTILINE)[1]


def verbs_of(tsem):
    return re.findall(r"^  ([a-z]+) +[A-Z]", output(tsem, "--help"), re.MULTILINE)


# ---- the manual pages ----


def flags(lines):
    """The options of lines of macros: -j for Fl j, --permits for Fl -permits."""
    found = []
    is_flag = False
    for word in re.sub(r"^\.", "", lines, flags=re.MULTILINE).split():
        if word in ("Fl", "Ar", "Op", "Ns", "Nm", "Cm"):
            is_flag = word == "Fl"
        elif is_flag and re.fullmatch(r"-?[A-Za-z][a-z-]*", word):
            found.append("-" + word)
    return found


def option_of(line):
    """("-j", "--permits", "N") for It Fl j , Fl -permits Ar N."""
    found = flags(line)
    argument = re.search(r"Ar ([A-Z]+)", line)
    short = next((flag for flag in found if not flag.startswith("--")), "")
    return short, found[-1], argument[1] if argument else ""


def items(text):
    """The options of a list, each with what follows its line."""
    for item in re.split(r"^\.It (?=Fl)", text, flags=re.MULTILINE)[1:]:
        line, rest = item.split("\n", 1)
        yield line, rest


def section(text, macro, title):
    return text.partition(f"\n.{macro} {title}\n")[2].split(f"\n.{macro} ")[0].split("\n.Sh ")[0] + "\n"


class Page:
    """Of a verb: its own options, and which of tsem(1) it names."""

    def __init__(self, text):
        options = section(text, "Sh", "OPTIONS")
        self.usage = set(flags(section(text, "Sh", "SYNOPSIS")))
        self.options = [option_of(line) for line, _ in items(options)]
        shared = re.search(r"^\.Xr tsem 1 :\n(\.Fl .*)$", options, re.MULTILINE)
        self.shared = flags(shared[1]) if shared else []


class Overview:
    """tsem(1)"""

    def __init__(self, text, verbs):
        self.verbs = re.findall(r"^\.It (?:Xr tsem-|Cm )(\w+)(?: 1)?$", section(text, "Ss", "Verbs").split(".El")[0], re.MULTILINE)
        self.shared = []  # (option, verb)
        for line, rest in items(section(text, "Ss", "Shared options")):
            of = re.match(r"\.Pq (.*)\n", rest)
            self.shared += [(option_of(line), verb) for verb in self.named(of[1] if of else "all", verbs)]
        self.table = []  # (option, verb, page that describes it)
        for line, _ in items(section(text, "Ss", "All options")):
            option, where, _ = line.split(" Ta ")
            page = re.match(r"Xr (tsem-(\w+)) 1", where)
            named = [page[2]] if page else self.named(where, verbs)
            self.table += [(option_of(option), verb, page[1] if page else "tsem") for verb in named]

    @staticmethod
    def named(text, verbs):
        words = set(re.findall(r"\w+", text))
        assert words & {*verbs, "all"}, text
        return [verb for verb in verbs if (verb in words) != ("all" in words)]


class Columns:
    """tsem-columns(5)"""

    def __init__(self, text):
        self.columns = {}
        self.others = {}  # those that are not printed by default
        for verb in ("show", "list", "top"):
            body = section(text, "Sh", f"COLUMNS OF {verb.upper()}")
            self.columns[verb] = re.findall(r"[A-Z]+", " ".join(re.findall(r"^\.It (.*)$", body, re.MULTILINE)))
            others = re.search(r"^All but ([A-Z, and]+) are printed by default", body, re.MULTILINE)
            self.others[verb] = re.findall(r"[A-Z]+", others[1]) if others else []


# ---- comparing ----

number = 0
failed = False


def check(what, said, written):
    global number, failed
    number += 1
    said, written = collections.Counter(said), collections.Counter(written)
    good = said == written and len(said) > 0
    failed |= not good
    print(f"{'ok' if good else 'not ok'} {number} - {what}")
    if not good:
        print(f"# only the command has: {list((said - written).elements())}")
        print(f"# only the manual has: {list((written - said).elements())}")
        print(f"# both have: {list((said & written).elements())}")


def main():
    tsem, directory = sys.argv[1], pathlib.Path(sys.argv[2])
    verbs = verbs_of(tsem)
    texts = {path.name: path.read_text(encoding="utf-8") for path in directory.glob("tsem*.[1-8]")}
    pages = {name[5:-2]: Page(text) for name, text in texts.items() if re.fullmatch(r"tsem-\w+\.1", name)}
    overview = Overview(texts["tsem.1"], verbs)
    columns = Columns(texts["tsem-columns.5"])
    found = [name for name, text in texts.items() if re.search(r"^\.Nd .*semaphore", text, re.MULTILINE)]
    check("pages that 'apropos semaphore' finds", list(texts), found)
    check("verbs in tsem(1)", verbs, overview.verbs)
    check("verbs with a page", verbs, [*pages, "help"])
    described = []
    for verb in verbs:
        said = Help(tsem, verb)
        page = pages.get(verb)
        shared = [option for option, of in overview.shared if of == verb]
        check(f"{verb} --help names its page", [said.page], ["tsem-" + verb if page else "tsem"])
        check(f"options of {verb} are described once", said.options, (page.options if page else []) + shared)
        described += [(option, verb, "tsem") for option in shared]
        if page:
            check(f"synopsis of {verb}", said.usage, page.usage)
            check(f"shared options of {verb}", [short or name for short, name, _ in shared], page.shared)
            described += [(option, verb, "tsem-" + verb) for option in page.options]
        if said.columns:
            check(f"columns of {verb}", said.columns, columns.columns[verb])
            if set(said.columns) != set(said.defaults):
                check(f"columns of {verb} by default", set(said.columns) - set(said.defaults), columns.others[verb])
    check("the table in tsem(1)", described, overview.table)
    print(f"1..{number}")
    return failed


sys.exit(main())
