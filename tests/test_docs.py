"""The documentation says what is so: its table, the files and tests it names, its code."""

import ast
import importlib
import re
from functools import cache
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.schemes import SCHEMES
from tengbc.solver import strategies

ROOT = Path(__file__).parent.parent
PAGES = [
    *sorted(ROOT.glob("docs/*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
]
HOW = ROOT / "docs/how-it-works.md"
HOMES = (ROOT, ROOT / "src/tengbc", ROOT / "examples", ROOT / "docs")
"""What paths are relative to."""
PLACEHOLDERS = ("DIR", "FILE.py", "my_file.py", "checkpoints")
"""Beginnings of paths in the reader's own directories."""


def text_of(page):
    return page.read_text("utf-8")


def spans(text):
    """`code` in the running text, outside fenced blocks."""
    return re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def paths(text):
    """Every file or folder that a page names, with the test in it if there is one."""
    named = [span for span in spans(text) if re.fullmatch(r"[\w.-]+(/[\w.-]+)*/?(::\w+)?", span)]
    found = [span for span in named if "/" in span or "::" in span]
    found += re.findall(r"(?<![\w/.])[\w/-]+\.py(?:::\w+)?", text)
    found += re.findall(r"\]\((?!https?:)([^)#\s]+)\)", text)
    return sorted({path for path in found if path.split("/")[0] not in PLACEHOLDERS})


@cache
def functions(file):
    tree = ast.parse(file.read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_path_that_is_named_exists(page):
    missing = []
    for named in paths(text_of(page)):
        path, _, test = named.partition("::")
        found = [home / path for home in HOMES if (home / path).exists()]
        if not found or (test and test not in functions(found[0])):
            missing.append(named)
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_module_and_public_name_exists(page):
    """`tengbc.x.y`, `tb.name` and `python -m benchmarks.x`."""
    text = text_of(page)
    for dotted in {span.split("(")[0] for span in spans(text) if span.startswith("tengbc.")}:
        module, _, name = dotted.rpartition(".")
        try:
            importlib.import_module(dotted)
        except ModuleNotFoundError:
            assert hasattr(importlib.import_module(module), name), dotted
    for name in set(re.findall(r"\btb\.(\w+)", text)):
        assert hasattr(tb, name), f"tb.{name}"
    for module in set(re.findall(r"python -m (benchmarks[\w.]*)", text)):
        assert (ROOT / module.replace(".", "/")).with_suffix(".py").exists(), module


def test_the_paths_are_seen():
    """A page whose paths were not recognised would pass unread."""
    found = {path for page in PAGES for path in paths(text_of(page))}
    assert {"solver/strategies/", "spaces/linear.py", "tests/faults/test_disk.py"} <= found
    assert "tests/faults/test_kill.py::test_three_runs_one_hash" in found and len(found) > 100


def test_the_table_of_strategies_is_that_of_the_code():
    """The docstring's, whose names and order tests/solver/test_strategies.py checks."""
    rows = [line for line in (strategies.__doc__ or "").splitlines() if line.startswith("|")]
    assert len(rows) > 2 and "\n".join(rows) in text_of(HOW)


@pytest.fixture
def examples():
    """What the Python blocks of docs/how-it-works.md define; what they add is forgotten after."""
    known, lists = dict(SCHEMES), (strategies.STRATEGIES, strategies.ON_REQUEST)
    before = [list(each) for each in lists]
    names = {}
    for block in re.findall(r"```python\n(.*?)```", text_of(HOW), flags=re.DOTALL):
        exec(block, names)
    yield names
    SCHEMES.clear()
    SCHEMES.update(known)
    for each, held in zip(lists, before, strict=True):
        each[:] = held


@pytest.mark.parametrize(
    ("choices", "tolerance"),
    [
        ({"strategy": "cosines", "rtol": 1e-8}, 1e-8),
        ({"strategy": "frozen-features", "scheme": "midpoint", "dt": 1e-3}, 1e-4),
    ],
    ids=["strategy", "scheme"],
)
def test_the_examples_of_the_docs_solve(examples, choices, tolerance):
    """u = exp(−κπ²t)·sin πx on an interval."""
    kappa, ends = 0.1, dict.fromkeys(("left", "right"), tb.Dirichlet(0.0))
    start = lambda x: jnp.sin(jnp.pi * x[0])
    problem = tb.Problem(tb.Interval(0.0, 1.0), tb.Heat(kappa), ends, start)
    solution = tb.solve(problem, 0.2, throw=False, **choices)
    x = np.linspace(0, 1, 101)[:, None]
    exact = np.exp(-kappa * np.pi**2 * 0.2) * np.sin(np.pi * x[:, 0])
    assert np.linalg.norm(solution(x, 0.2) - exact) <= tolerance * np.linalg.norm(exact)
    assert choices.items() <= solution.facts.items()
