"""`import tengbc`: cheap, complete, and the same to a type checker as to a program."""

import ast
import json
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


def test_the_type_checker_sees_the_same_names():
    tree = ast.parse(Path(tengbc.__file__).read_text("utf-8"))
    (checked,) = (
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    names = {
        alias.asname: f"{line.module}.{alias.name}"
        for line in checked.body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    }
    assert set(names) == set(tengbc.__all__)
    assert len(tengbc.__all__) == len(set(tengbc.__all__))
    homes = {name: f"tengbc.{home}.{name}" for name, home in tengbc._HOME_OF.items()}
    assert names == homes | {"problems": "tengbc.problems"}


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="tengbc has no 'Wave'"):
        tengbc.Wave  # noqa: B018
    assert set(tengbc.__all__) <= set(dir(tengbc))
