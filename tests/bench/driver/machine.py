"""The machine on which the figures were measured."""
import datetime
import json
import os
import pathlib
import platform
import shutil
import subprocess

VERSIONS = {
    "flock": ["flock", "--version"],
    "GNU sem": ["sem", "--version"],
}


def first_line(command):
    if not shutil.which(command[0]):
        return "missing"
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return (run.stdout or run.stderr).splitlines()[0] if run.stdout or run.stderr else "?"


def processor():
    """The name, which hypervisors shorten, and what tells one kind from another."""
    facts = {}
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition(":")
        facts.setdefault(key.strip(), value.strip())
    kind = f" (family {facts['cpu family']}, model {facts['model']})" if "cpu family" in facts else ""
    return facts.get("model name", platform.machine()) + kind


def build_facts(build):
    build = pathlib.Path(build)
    try:
        options = json.loads((build / "meson-info/intro-buildoptions.json").read_text(encoding="utf-8"))
        commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
        kind = next(option["value"] for option in options if option["name"] == "buildtype")
        compiler = first_line([commands[0]["command"].split()[0], "--version"])
    except (OSError, KeyError, IndexError, StopIteration):
        return {"compiler": "?", "build type": "?"}
    return {"compiler": compiler, "build type": kind}


def facts(build):
    with open("/proc/loadavg", encoding="utf-8") as load:
        before = load.read().split()[0]
    return {
        "date": datetime.date.today().isoformat(),
        "processor": processor(),
        "CPUs": str(len(os.sched_getaffinity(0))),
        "kernel": f"{platform.system()} {platform.release()}",
        "load before": before,
        **build_facts(build),
        **{name: first_line(command) for name, command in VERSIONS.items()},
        "C library": " ".join(platform.libc_ver()),
    }
