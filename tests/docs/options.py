#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Every verb, option and column of --help is in tsem(1), and the other way round.

Usage: options.py TSEM MANUAL. Speaks TAP.
"""

import re
import subprocess
import sys

ALWAYS = {("-h", "--help", ""), ("-V", "--version", "")}


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


# ---- the command ----


class Help:
    def __init__(self, tsem, verb):
        text = output(tsem, verb, "--help")
        self.usage = set(re.findall(r"(?<![\w-])--?[A-Za-z][a-z-]*", text.split("\n\n")[0]))
        options = text.split("\nOptions:\n")[1].split("\n\n")[0]
        self.options = set()
        for line in options.splitlines():
            short, name, argument = re.match(r"  (-.|  ),? *(--[a-z-]+) ([A-Z]*)", line).groups()
            self.options.add((short.strip(), name, argument))
        self.columns = re.findall(r"^ [* ]([A-Z]+) ", text.partition("\nColumns")[2], re.MULTILINE)
        self.defaults = re.findall(r"^ \*([A-Z]+) ", text.partition("\nColumns")[2], re.MULTILINE)


def verbs_of(tsem):
    return re.findall(r"^  ([a-z]+) +[A-Z]", output(tsem, "--help"), re.MULTILINE)


# ---- the manual page ----


class Manual:
    def __init__(self, path):
        with open(path) as file:
            text = file.read()
        self.synopsis = self.parse_synopsis(text.split(".Sh SYNOPSIS\n")[1].split(".Sh ")[0])
        self.verbs = re.findall(r"^\.It Cm (\w+)$", text.split(".Ss Verbs\n")[1].split(".Ss ")[0], re.MULTILINE)
        self.options = list(self.parse_options(text.split(".Ss Options\n")[1].split(".Ss ")[0]))
        columns = text.split(".Ss Columns\n")[1].split(".Ss ")[0]
        self.columns = self.parse_columns(columns)
        # The sentence after the list, for verbs that have one.
        self.others = re.findall(r"^All but ([A-Z, and]+) are printed by default", columns, re.MULTILINE)

    @staticmethod
    def flags(line):
        """The options of a line of macros: -j for Fl j, --permits for Fl -permits."""
        return ["-" + flag for flag in re.findall(r"\bFl (-?[A-Za-z][a-z-]*)", line)]

    def parse_synopsis(self, text):
        found = {}
        for use in text.split(".Nm\n")[1:]:
            verb = re.match(r"\.Cm (\w+)\n", use)
            if verb:
                found.setdefault(verb[1], set()).update(self.flags(use))
        return found

    def parse_options(self, text):
        for item in re.split(r"^\.It (?=Fl)", text, flags=re.MULTILINE)[1:]:
            first, rest = item.split("\n", 1)
            flags = self.flags(first)
            argument = re.search(r"Ar ([A-Z]+)", first)
            of = re.match(r"\.Pq (all verbs but )?Cm (.*)\n", rest)
            verbs = re.findall(r"\w+", of[2]) if of else []
            short = next((flag for flag in flags if not flag.startswith("--")), "")
            name = next(flag for flag in flags if flag.startswith("--"))
            yield (short, name, argument[1] if argument else ""), of is None or of[1] is not None, set(verbs)

    def options_of(self, verb):
        return {option for option, excludes, verbs in self.options if (verb not in verbs) == excludes}

    @staticmethod
    def parse_columns(text):
        found = {}
        for verb, body in re.findall(r"^Of\n\.Cm (\w+) :\n(.*?)^\.El", text, re.MULTILINE | re.DOTALL):
            found[verb] = re.findall(r"[A-Z]+", " ".join(re.findall(r"^\.It (.*)$", body, re.MULTILINE)))
        return found


# ---- comparing ----

number = 0
failed = False


def check(what, said, written):
    global number, failed
    number += 1
    good = said == written and len(said) > 0
    failed |= not good
    print(f"{'ok' if good else 'not ok'} {number} - {what}")
    if not good:
        print(f"# --help has: {sorted(said)}\n# tsem(1) has: {sorted(written)}")


def main():
    tsem, manual = sys.argv[1], Manual(sys.argv[2])
    verbs = verbs_of(tsem)
    check("verbs", set(verbs), set(manual.verbs))
    check("verbs in the synopsis", set(verbs), set(manual.synopsis))
    for verb in verbs:
        found = Help(tsem, verb)
        check(f"options of {verb}", found.options, manual.options_of(verb))
        if found.options != ALWAYS:
            check(f"synopsis of {verb}", found.usage, manual.synopsis.get(verb, set()))
        if found.columns:
            check(f"columns of {verb}", set(found.columns), set(manual.columns.get(verb, [])))
    for verb, others in zip(("show", "list"), manual.others, strict=True):
        found = Help(tsem, verb)
        check(f"columns of {verb} by default", set(found.columns) - set(found.defaults), set(re.findall("[A-Z]+", others)))
    print(f"1..{number}")
    return failed


sys.exit(main())
