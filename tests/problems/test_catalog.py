"""The table of problems: complete, light to import, and in agreement with what it names."""

import os
import subprocess
import sys

import pytest

from tengbc import problems
from tengbc.errors import UsageError

PAPER = {"heat-dirichlet", "heat-neumann", "heat-flux", "heat-robin", "heat-mixed", "transport"}

LIGHT = """
import sys
from tengbc import problems
assert "heat-robin" in problems.names()
heavy = {"jax", "scipy", "equinox", "numpy"} & set(sys.modules)
assert not heavy, heavy
"""
IN_FLOAT32_JAX = """
import jax.numpy as jnp, numpy as np
from tengbc import problems
for name in problems.names():
    problem = problems.get(name)
    assert problem.initial(np.full(2, 0.5)).dtype == np.float64
value = problems.get("heat-robin").exact(np.array([0.5, 0.0]), 0.0)
assert abs(value - 0.35283402861563773) < 1e-15, repr(value)  # J₂(2)
assert jnp.ones(1).dtype == jnp.float32
"""


def run(code):
    environment = {key: value for key, value in os.environ.items() if key != "JAX_ENABLE_X64"}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


def test_the_seven_problems_are_there():
    assert set(problems.names()) == PAPER | {"burgers"}


@pytest.mark.parametrize("name", problems.names())
def test_the_table_agrees_with_the_problem(name):
    problem, entry = problems.get(name), problems.CATALOG[name]
    assert problem.name == name
    assert problem.t_end == entry.t_end == (4.0 if name == "burgers" else 1.0)
    assert problem.components == 0
    assert entry.description
    assert problem.equation.formula in problem.explain()


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(UsageError, match=r"did you mean heat-robin.*burgers"):
        problems.get("heat-robbin")


def test_names_need_no_heavy_import():
    run(LIGHT)


def test_float64_where_jax_is_set_to_float32():
    run(IN_FLOAT32_JAX)
