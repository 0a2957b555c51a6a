#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs the examples of README.md, of the help, of tsem.h and of the manual pages, and compares their output with the text.

Usage: examples.py TSEM SOURCE_ROOT. Speaks TAP. Each example has a directory, names and a shared memory of its own.

Examples are fenced blocks in README.md, the program in the first comment of tsem.h, and literal displays in the sections
EXAMPLES, PROBES and TROUBLESHOOTING of the manual pages. One with a line that begins with "$ " is a session: each command is
given to one bash, and what it prints must look like the lines below. Numbers, and what is as wide as numbers, may differ, and a
command that only looks, such as `tsem show`, is given again until it looks so. C is compiled and run, and Python is run. A unit of
systemd is verified, and its command runs. Anything else is a script, or with five fields in front a line of crontab(5): it must end well
and complain about nothing. The commands in examples that tsem does not bring are stand-ins that do nothing, and where an
example gives the path of an installed command, the command below PATH runs. The examples of README.md and of the help leave nothing in shared memory.

In README.md a comment `<!-- not run: why -->` in front of a block is an exception, and is printed as such.
"""

import glob
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

DEADLINE = float(os.environ.get("DEADLINE", "40"))
STAND_INS = "flac large small server backup train rsync make-report scp job upgrade cargo measure update-mirror search reindex".split()


# ---- finding the examples ----


def of_markdown(path):
    text = open(path, encoding="utf-8").read()
    pattern = r"(?:<!-- not run: ([^>]*) -->\n)?^```(\w*)\n(.*?)^```$"
    for number, match in enumerate(re.finditer(pattern, text, re.MULTILINE | re.DOTALL), 1):
        yield f"README.md, {number}", match[2], match[3], match[1]


def of_manual(path):
    """Renders the page with mandoc, so that the test runs what a reader sees; the source tells the blocks apart."""
    source = open(path, encoding="utf-8").read()
    number = 0
    for section in re.findall(r"^\.Sh (?:EXAMPLES|PROBES|TROUBLESHOOTING)\n(.*?)(?=^\.Sh |\Z)", source, re.MULTILINE | re.DOTALL):
        for match in re.finditer(r"^\.Bd -literal.*?\n(.*?)^\.Ed", section, re.MULTILINE | re.DOTALL):
            number += 1
            text = re.sub(r"^\\&", "", match[1], flags=re.MULTILINE).replace("\\e", "\\").replace("\\(aq", "'").replace("\\-", "-")
            yield f"{os.path.basename(path)}, {number}", "", text, None


def of_help(tsem):
    """The examples of all verbs, in the order of the verbs, as one script."""
    help_of = lambda *words: subprocess.run([tsem, "help", *words], capture_output=True, text=True, check=True).stdout
    verbs = re.findall(r"^  ([a-z]+) +[A-Z]", help_of(), re.MULTILINE)
    lines = [line for verb in verbs for line in re.findall(rf"^  (tsem {verb}\b.*)$", help_of(verb), re.MULTILINE)]
    ends = {"top": "timeout --foreground 1 ", "watch": "timeout 1 "}  # these do not end by themselves
    given = [f"{ends[verb]}{line} || [ $? -eq 124 ]" if (verb := line.split()[1]) in ends else line for line in lines]
    yield "tsem help", "", "\n".join(given), None


def of_header(path):
    """The program in the first comment: from its first #include to the end of main()."""
    program = re.search(r"^ \*     #include .*?^ \*     }\n", open(path, encoding="utf-8").read(), re.MULTILINE | re.DOTALL)[0]
    yield os.path.basename(path), "c", re.sub(r"^ \*(?:     )?", "", program, flags=re.MULTILINE), None


# ---- running the examples ----


class Place:
    """A directory with replacements of programs, and the semaphores that its examples leave."""

    def __init__(self, tsem, root):
        self.directory = tempfile.mkdtemp(prefix="tsem-examples.")
        self.tsem = tsem
        self.root = root
        bin_directory = os.path.join(self.directory, "bin")
        os.mkdir(bin_directory)
        for name in STAND_INS:
            for path in (os.path.join(bin_directory, name), os.path.join(self.directory, name)):
                with open(path, "w") as file:
                    file.write("#!/bin/sh\nexit 0\n")
                os.chmod(path, 0o755)
        for project in ("", "one", "another"):
            os.makedirs(os.path.join(self.directory, project), exist_ok=True)
            with open(os.path.join(self.directory, project, "Makefile"), "w") as file:
                file.write(".PHONY: all\nall: a.o b.o c.o\n%.c:\n\techo 'int x;' >$@\n")
        for name in "abcde":
            open(os.path.join(self.directory, name + ".wav"), "w").close()
        self.environment = dict(
            os.environ, PATH=f"{bin_directory}:{os.path.dirname(tsem)}:/usr/bin:/bin:/usr/sbin", LC_ALL="C.UTF-8", HOME=self.directory
        )

    def start(self, *command, **arguments):
        # In a private /dev/shm, because the names may be those of real semaphores.
        private = [os.path.join(self.root, "tests/cli/programs/private-shm"), "50%"]
        return subprocess.Popen([*private, *command], cwd=self.directory, env=self.environment, start_new_session=True, **arguments)

    def remove(self):
        shutil.rmtree(self.directory)


def may_have_private_memory():
    return subprocess.run(["unshare", "--mount", "--map-root-user", "true"], capture_output=True).returncode == 0


class Failure(Exception):
    pass


# Prints what is left in shared memory.
LEFT = "ls -A /dev/shm"


def run_script(place, text, leaves_nothing=False):
    text = f"...() {{ :; }}\n{text}" + (f"\n{LEFT} >&2" if leaves_nothing else "")
    shell = place.start("bash", "-ec", text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        out, err = shell.communicate(timeout=DEADLINE)
    except subprocess.TimeoutExpired:
        os.killpg(shell.pid, 9)
        raise Failure("it did not end") from None
    if shell.returncode != 0 or err != "":
        raise Failure(f"status {shell.returncode}\n{out}{err}")


def without_directories(command):
    return re.sub(r"/usr(/local)?/bin/", "", command)


def run_crontab(place, text):
    for line in text.splitlines():
        if line.startswith("#") or "=" in line.split()[0]:
            continue
        run_script(place, without_directories(line.split(None, 5)[5]))


def run_unit(place, text):
    """systemd-analyze also complains about other units of this system, and exits with 0 for an unknown key."""
    run_script(place, without_directories(re.search(r"^ExecStart=(.*)$", text, re.MULTILINE)[1]))
    if shutil.which("systemd-analyze"):
        with open(os.path.join(place.directory, "example.service"), "w") as file:
            file.write(text.replace("/usr/bin/tsem", place.tsem))
        run_script(place, "! systemd-analyze verify ./example.service 2>&1 | grep example.service")


def run_c(place, text):
    with open(os.path.join(place.directory, "example.c"), "w") as file:
        file.write(text)
    library = os.environ.get("TSEM_LIBRARY")
    run_script(place, f"cc -Wall -Werror -D_GNU_SOURCE -I{place.root}/lib -o example example.c {library} -pthread && ./example")


def run_python(place, text):
    with open(os.path.join(place.directory, "example.py"), "w") as file:
        file.write(text)
    run_script(place, f"{sys.executable} -B -W error example.py")


def looks_like(line):
    """A regular expression for the line: numbers, and blanks around them, may differ."""
    pattern = ""
    for part in re.split(r"(\d[\d.:]*(?:(?:ms|s|m|h|d)\b[\d.smh]*)?| {2,})", line.rstrip()):
        if re.fullmatch(r" {2,}", part or ""):
            pattern += " +"
        elif re.match(r"\d", part or "x"):
            pattern += r"\d[\d.:smh]*"
        else:
            pattern += re.sub(r"(?<=[\d])\\ | (?=\\d)", " +", re.escape(part)).replace(r"\ ", " +")
    return pattern.replace("root", r"\S+")


def split_session(text):
    """[command, the lines that it prints]"""
    steps = []
    for line in text.splitlines():
        if line.startswith("$ "):
            steps.append([line[2:], []])
        elif line.startswith("> ") and not steps[-1][1]:
            steps[-1][0] += "\n" + line[2:]
        else:
            steps[-1][1].append(line)
    return steps


class Session:
    END = "end-of-what-the-command-printed"

    def __init__(self, place):
        self.shell = place.start(
            "bash", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0
        )

    def give(self, command):
        """Its output, at once or within the deadline."""
        self.shell.stdin.write(f"{command}\necho {self.END}\n".encode())
        printed = b""
        end = time.monotonic() + DEADLINE
        while f"{self.END}\n".encode() not in printed:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.shell.stdout], [], [], left)[0]:
                raise Failure(f"no end of: {command}\n{printed.decode()}")
            data = os.read(self.shell.stdout.fileno(), 65536)
            if data == b"":
                raise Failure(f"the shell ended in: {command}\n{printed.decode()}")
            printed += data
        lines = printed.decode().replace(f"{self.END}\n", "").splitlines()
        # Bash reports a killed job at an unknown time: after a later command, or after the last one.
        return [line for line in lines if not re.match(r"bash: line \d+: +\d+ Killed ", line)]

    def close(self):
        os.killpg(self.shell.pid, 9)
        self.shell.wait()


def matches(printed, expected):
    return len(printed) == len(expected) and all(
        re.fullmatch(looks_like(wanted), line.rstrip()) for line, wanted in zip(printed, expected)
    )


def run_session(place, text, leaves_nothing):
    session = Session(place)
    numbers = {}  # pid in the text -> pid of the process here
    try:
        for command, expected in split_session(text):
            for written, real in numbers.items():
                command = command.replace(written, real)
            only_looks = re.match(r"tsem (show|list|top)\b", command) is not None
            end = time.monotonic() + DEADLINE
            printed = session.give(command)
            while only_looks and not matches(printed, expected) and time.monotonic() < end:
                time.sleep(0.02)
                printed = session.give(command)
            if not matches(printed, expected):
                raise Failure("\n".join([f"$ {command}", *printed, "should be like", *expected]))
            # A later command names these processes.
            for line, wanted in zip(printed, expected):
                real = re.search(r"^(?:holds|waits) +(?:\d+ +)?(\d{2,})", line)
                written = re.search(r"^(?:holds|waits) +(?:\d+ +)?(\d{2,})", wanted)
                if real and written:
                    numbers[written[1]] = real[1]
        left = session.give(LEFT) if leaves_nothing else []
        if left:
            raise Failure("\n".join(["in shared memory there is still", *left]))
    finally:
        session.close()


def run(place, kind, text, leaves_nothing):
    if re.search(r"^\$ ", text, re.MULTILINE):
        run_session(place, text, leaves_nothing)
    elif kind == "c" or text.startswith("#include"):
        run_c(place, text)
    elif kind == "python":
        run_python(place, text)
    elif kind == "ini":
        run_unit(place, text)
    elif re.match(r"([\d*/,-]+ ){5}", text):
        run_crontab(place, text)
    else:
        run_script(place, text, leaves_nothing)


def main():
    tsem, root = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    if not may_have_private_memory():
        print("1..0 # SKIP needs a mount namespace, to have a /dev/shm of its own")
        return 0
    examples = list(of_markdown(os.path.join(root, "README.md")))
    examples += of_help(tsem)
    examples += of_header(os.path.join(root, "lib", "tsem.h"))
    for page in sorted(glob.glob(os.path.join(root, "man", "*.[1-8]"))):
        examples += of_manual(page)
    print(f"1..{len(examples)}")
    failed = False
    for number, (name, kind, text, reason) in enumerate(examples, 1):
        if reason is not None or text.startswith(("cc ", "bpftrace ", "perf ")):
            print(f"ok {number} - {name} # SKIP {reason or 'needs what a test does not have'}", flush=True)
            continue
        place = Place(tsem, root)
        try:
            run(place, kind, text, leaves_nothing=name.startswith(("README", "tsem help")))
            print(f"ok {number} - {name}", flush=True)
        except Failure as failure:
            failed = True
            print(f"not ok {number} - {name}", *str(failure).splitlines(), sep="\n# ", flush=True)
        finally:
            place.remove()
    return failed


sys.exit(main())
