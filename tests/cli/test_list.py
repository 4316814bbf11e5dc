"""tengbc list, tengbc --version."""

import importlib.metadata
import subprocess
import sys

from tengbc.problems.catalog import CATALOG


def test_every_problem_on_a_line():
    done = subprocess.run([sys.executable, "-m", "tengbc", "list"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
    lines = done.stdout.strip().splitlines()
    assert [line.split()[0] for line in lines] == list(CATALOG)
    for entry, line in zip(CATALOG.values(), lines, strict=True):
        assert entry.description in line


def test_the_version():
    command = [sys.executable, "-m", "tengbc", "--version"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout == f"tengbc {importlib.metadata.version('tengbc')}\n"
