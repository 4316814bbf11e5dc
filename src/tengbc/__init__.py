"""tengbc: march a neural network through time, boundary conditions included, error stated.

Names are imported when first used, so that the command line answers before JAX is loaded.
"""

import ast
import importlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the public names, for type checkers and, read as text, for `_homes`
    from tengbc import problems as problems
    from tengbc.conditions import *
    from tengbc.equations import *
    from tengbc.errors import *
    from tengbc.fields import *
    from tengbc.geometry import *
    from tengbc.networks import Basis as Basis
    from tengbc.networks import Network as Network
    from tengbc.networks import mlp as mlp
    from tengbc.networks import random_features as random_features
    from tengbc.outcome import Outcome as Outcome
    from tengbc.outcome import Result as Result
    from tengbc.problem import Problem as Problem
    from tengbc.reference import Reference as Reference
    from tengbc.report.run_report import write_report as write_report
    from tengbc.schemes import AbstractScheme as AbstractScheme
    from tengbc.schemes import add_scheme as add_scheme
    from tengbc.solution import Solution as Solution
    from tengbc.solution.file import load as load
    from tengbc.solver import Estimation as Estimation
    from tengbc.solver import add_strategy as add_strategy
    from tengbc.solver import fit as fit
    from tengbc.solver import select_strategy as select_strategy
    from tengbc.solver import solve as solve
    from tengbc.solver import solve_many as solve_many
    from tengbc.solver.strategies.base import AbstractStrategy as AbstractStrategy
    from tengbc.solver.strategies.base import Applies as Applies
    from tengbc.spaces import State as State
    from tengbc.storage.codec import register as register
    from tengbc.sweeps.result import Sweep as Sweep
    from tengbc.sweeps.result import load_sweep as load_sweep
    from tengbc.sweeps.sweep import sweep as sweep


@cache
def _homes() -> dict[str, str]:
    """The module of every public name; nothing is imported to find out."""
    (block,) = (node for node in _statements("tengbc") if isinstance(node, ast.If))
    homes: dict[str, str] = {}
    for line in block.body:
        assert isinstance(line, ast.ImportFrom) and line.module
        (name,) = (alias.name for alias in line.names)
        names = _exports(line.module) if name == "*" else [name]
        homes |= dict.fromkeys(names, line.module)
    return homes


def _exports(module: str) -> list[str]:
    """The names that a module defines, or passes on by `import X as X`."""
    names = []
    for node in _statements(module):
        if isinstance(node, ast.ImportFrom):
            names += [alias.name for alias in node.names if alias.asname == alias.name]
        elif isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            names.append(node.name)
    return names


def _statements(module: str) -> list[ast.stmt]:
    path = Path(__file__).parent.joinpath(*module.split(".")[1:])
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text("utf-8")).body


def __getattr__(name: str):
    if name == "__all__":
        return sorted(_homes())
    if name.startswith("__") or name not in _homes():
        raise AttributeError(f"tengbc has no {name!r}")
    home = _homes()[name]
    inside = home == "tengbc"  # a subpackage
    value = importlib.import_module(f"tengbc.{name}" if inside else home)
    globals()[name] = value = value if inside else getattr(value, name)
    return value


def __dir__():
    return sorted(_homes())
