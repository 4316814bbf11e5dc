"""`import tengbc`: cheap, complete, and the same to a type checker as to a program."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tengbc


def test_importing_is_cheap():
    """JAX is imported with the first name that needs it, and the user's precision is left alone."""
    script = (
        "import json, sys, tengbc; "
        "before = 'jax' in sys.modules; dir(tengbc); tengbc.UsageError; tengbc.problems.names(); "
        "still = 'jax' in sys.modules; tengbc.Heat; import jax; "
        "print(json.dumps([before, still, 'tengbc.equations' in sys.modules, "
        "bool(jax.config.jax_enable_x64)]))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [False, False, True, False]


@pytest.mark.parametrize("name", tengbc.__all__)
def test_every_name_resolves(name):
    value = getattr(tengbc, name)
    assert value is not None
    assert getattr(value, "__name__", name).split(".")[-1] == name


def test_the_names_are_read_as_an_import_would_find_them():
    """Of a package whose names are all public, those that a program gets from it."""
    lines = Path(tengbc.__file__).read_text("utf-8").splitlines()
    whole = [line.split()[1] for line in lines if line.endswith(" import *")]
    assert len(whole) == 5
    for home in whole:
        found = {
            name
            for name, value in vars(importlib.import_module(home)).items()
            if not name.startswith("_") and getattr(value, "__module__", "").startswith(home)
        }
        assert found == {name for name in tengbc.__all__ if tengbc._homes()[name] == home}


def test_the_public_names():
    """What programs rely on; more may come."""
    assert len(tengbc.__all__) == len(set(tengbc.__all__))
    assert {
        *("AbstractCondition", "AbstractEquation", "Basis", "Domain", "Network", "Outcome"),
        *("Problem", "Reference", "Result", "Solution", "TengbcError", "laplacian", "load", "mlp"),
        *("problems", "random_features", "register", "solve", "write_report"),
    } <= set(tengbc.__all__)
    assert not any(name.startswith("_") or name in sys.stdlib_module_names for name in dir(tengbc))


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="tengbc has no 'Wave'"):
        tengbc.Wave  # noqa: B018
    assert set(tengbc.__all__) <= set(dir(tengbc))


def test_programs_in_other_directories_find_the_package(tmp_path):
    """PYTHONPATH=src means nothing elsewhere: the tests make it absolute before they start any."""
    root = Path(tengbc.__file__).parent.parent.parent
    script = (
        "import os, subprocess, sys; from tests import conftest; os.chdir(sys.argv[1]); "
        "subprocess.run([sys.executable, '-c', 'import tengbc'], check=True)"
    )
    environment = {**os.environ, "PYTHONPATH": f"src{os.pathsep}."}
    command = [sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
