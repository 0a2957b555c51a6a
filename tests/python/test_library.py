# SPDX-License-Identifier: MIT
"""The library that the module loads, and what the module knows of tsem.h."""

import os
import re
import subprocess
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Library(unittest.TestCase):
    def run_python(self, code, directory):
        environment = dict(os.environ, LD_LIBRARY_PATH=directory)
        return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)

    def test_the_module_is_that_of_the_header(self):
        made = subprocess.run(
            [sys.executable, ROOT / "python/abi.py", ROOT / "lib/tsem.h"], capture_output=True, text=True, check=True
        ).stdout
        self.assertEqual((ROOT / "python/tsem/_abi.py").read_text(), made, "run: python/abi.py lib/tsem.h >python/tsem/_abi.py")

    def test_the_version_is_that_of_the_project(self):
        version = tomllib.loads((ROOT / "python/pyproject.toml").read_text())["project"]["version"]
        self.assertRegex((ROOT / "meson.build").read_text(), rf"(?m)^  version: '{re.escape(version)}',$")

    def test_an_older_library(self):
        with tempfile.TemporaryDirectory() as directory:
            library = os.path.join(directory, "libtsem.so.1")
            source = "int tsem_create(void); int tsem_create(void) { return 0; }"
            compiler = os.environ.get("CC", "cc").split()
            subprocess.run([*compiler, "-shared", "-fPIC", "-xc", "-", "-o", library], input=source, text=True, check=True)
            result = self.run_python("import tsem", directory)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr.splitlines()[-1], r"^ImportError: libtsem.so.1 has no tsem_open\(\): it is older than")

    def test_no_library(self):
        with tempfile.TemporaryDirectory() as directory:
            (Path(directory) / "libtsem.so.1").write_text("this is no library")
            result = self.run_python("import tsem", directory)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr.splitlines()[-1], r"^ImportError: tsem needs libtsem.so.1: .*\(install libtsem1\)$")

    def test_importing_loads_no_asyncio(self):
        code = "import sys, tsem; sys.exit('asyncio' in sys.modules)"
        self.assertEqual(self.run_python(code, os.environ["LD_LIBRARY_PATH"]).returncode, 0)


if __name__ == "__main__":
    unittest.main()
