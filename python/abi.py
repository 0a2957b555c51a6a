#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What the Python module knows of tsem.h, without typing it twice.

abi.py HEADER           prints tsem/_abi.py: the constants, structures and functions of the header, for ctypes
abi.py --check MODULE   prints a C file that compiles only if ctypes gives the structures of MODULE the sizes and offsets, and
                        the constants the values, that the C compiler gives them
"""

import re
import runpy
import sys
from collections.abc import Iterator

SCALARS = {
    "size_t": "c_size_t",
    "uint32_t": "c_uint32",
    "uint64_t": "c_uint64",
    "int64_t": "c_int64",
    "unsigned": "c_uint",
    "unsigned char": "c_ubyte",
    "int": "c_int",
    "bool": "c_bool",
    "pid_t": "c_int",
    "uid_t": "c_uint",
    "gid_t": "c_uint",
    "mode_t": "c_uint",
    "enum tsem_alive": "c_int",
}


def ctype(text: str) -> str:
    """The type of ctypes for a type of C. Handles, callbacks and void pointers are addresses."""
    text = re.sub(r"\bconst\b|\bstruct\b", "", text)
    stars = text.count("*")
    base = " ".join(text.replace("*", "").split())
    if stars == 0:
        return SCALARS.get(base, base)
    if base == "char":
        return "c_char_p"
    if base in ("void", "tsem") or base.endswith("_fn"):
        inner, stars = "c_void_p", stars - 1
    else:
        inner = ctype(base)
    for _ in range(stars):
        inner = f"POINTER({inner})"
    return inner


def declarator(text: str) -> tuple[str, str]:
    """(name, type) of a member or a parameter."""
    if match := re.fullmatch(r"\w+ \(\*(\w+)\)\(.*\)", text):
        return match[1], "c_void_p"
    base, name, length = re.findall(r"^(.*?)(\w+)(?:\[(\w*)\])?$", text.strip())[0]
    if length != "":
        return name, f"{ctype(base)} * {length}"
    return name, ctype(base + "*" if text.endswith("[]") else base)


def without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def structures(text: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    for name, body in re.findall(r"^(?:typedef )?struct (tsem_\w+) \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL):
        yield name, [declarator(" ".join(member.split())) for member in body.split(";") if member.strip()]


def functions(text: str) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    for result, name, parameters in re.findall(r"^([\w ]+?[ *]+)(tsem_\w+)\(([^{}]*?)\);$", text, re.MULTILINE | re.DOTALL):
        if not result.startswith("typedef"):
            yield name, result, [declarator(" ".join(parameter.split())) for parameter in parameters.split(",")]


def print_module(header: str) -> None:
    text = without_comments(open(header, encoding="utf-8").read())
    print("# SPDX-License-Identifier: MIT")
    print("# Made from lib/tsem.h by python/abi.py: a test compares it, and a build checks it. Not to be edited.")
    print('"""The constants, structures and functions of tsem.h, for ctypes."""\n\nimport ctypes')
    print(f"from ctypes import POINTER, Structure, c_char_p, c_long, c_void_p, {', '.join(sorted(set(SCALARS.values())))}")
    print("from typing import Any\n")
    for name, value in re.findall(r"^#define (TSEM_\w+) (\d+|UINT32_MAX)U?\s*$", text, re.MULTILINE):
        print(f"{name} = {'0xFFFFFFFF' if value == 'UINT32_MAX' else value}")
    for value, name in enumerate(re.findall(r"enum tsem_alive \{(.*?)\}", text)[0].split(",")):
        print(f"{name.strip()} = {value}")
    print("\n\nclass timespec(Structure):")
    print('    _fields_ = [("tv_sec", getattr(ctypes, "c_time_t", c_long)), ("tv_nsec", c_long)]')
    for name, members in structures(text):
        print(f"\n\nclass {name}(Structure):\n    _fields_ = [")
        for member, kind in members:
            print(f'        ("{member}", {kind}),')
        print("    ]")
    print("\n\n# Name: type of the result, types of the parameters.\nFUNCTIONS: dict[str, tuple[Any, list[Any]]] = {")
    for name, result, parameters in functions(text):
        of_result = "None" if result.strip() == "void" else ctype(result)
        print(f'    "{name}": ({of_result}, [{", ".join(kind for _, kind in parameters)}]),')
    print("}")


def print_check(module: str) -> None:
    names = runpy.run_path(module)
    print('#include "tsem.h"\n')
    for name, value in names.items():
        if name.startswith("TSEM_"):
            print(f'_Static_assert({name} == {value}U, "{name}");')
        elif isinstance(value, type) and hasattr(value, "_fields_"):
            print(f'_Static_assert(sizeof(struct {name}) == {names["ctypes"].sizeof(value)}, "{name}");')
            for member, _ in value._fields_:
                offset = getattr(value, member).offset
                print(f'_Static_assert(offsetof(struct {name}, {member}) == {offset}, "{name}.{member}");')


if sys.argv[1] == "--check":
    print_check(sys.argv[2])
else:
    print_module(sys.argv[1])
