"""Order three in space and two in time for every kind of condition, and absolute bounds."""

import functools

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.evidence.baselines.fem import solve_fem
from tests.evidence.baselines.fem.manufactured import (
    DIRICHLET,
    NEUMANN,
    ROBIN,
    box_normals,
    l2_error,
    manufactured,
    radial,
    slopes,
    variable_robin,
    varying,
)

pytest.importorskip("skfem")
HEAT = tb.Heat(0.3)


def wavy(x, t):
    """Linear in time, which every scheme integrates exactly: what remains is the space error."""
    return (1 + t) * jnp.sin(2 * x[0] + x[1]) * jnp.exp(0.5 * x[1])


@varying
def half_and_half(x):
    """Values on the left half of the circle, Robin on the right."""
    return 1.0, jnp.where(x[0] > 1e-9, 0.5, 0.0)


DISK, CIRCLE = tb.Disk(1.0), {"circle": radial(1.0)}
ANNULUS = tb.Annulus(0.4, 1.0)
SECTOR = tb.AnnularSector(0.5, 1.0, 0.0, np.pi / 2)
RECTANGLE = tb.Rectangle((0.0, 0.0), (1.5, 1.0))
RINGS = {"inner": radial(-1.0), "outer": radial(1.0)}
SIDES = {"start": lambda x: jnp.array([0.0, -1.0]), "end": lambda x: jnp.array([-1.0, 0.0])}

SPACE = {
    "dirichlet on a disk": (DISK, HEAT, {"circle": DIRICHLET}, CIRCLE, 4e-5),
    "neumann on a disk": (DISK, HEAT, {"circle": NEUMANN}, CIRCLE, 4e-5),
    "robin on a disk": (DISK, HEAT, {"circle": ROBIN}, CIRCLE, 4e-5),
    "values on half a circle": (DISK, HEAT, {"circle": half_and_half}, CIRCLE, 4e-5),
    "variable robin on an annulus": (
        ANNULUS,
        HEAT,
        {"inner": variable_robin, "outer": NEUMANN},
        RINGS,
        6e-5,
    ),
    "mixed on a sector": (
        SECTOR,
        HEAT,
        {"inner": DIRICHLET, "outer": ROBIN, "start": NEUMANN, "end": DIRICHLET},
        {**RINGS, **SIDES},
        3e-6,
    ),
    "variable conductivity and a flow on a rectangle": (
        RECTANGLE,
        tb.Heat(lambda x: 0.3 + 0.2 * x[0] * x[1]) + tb.Transport((0.5, -0.3)),
        {"left": DIRICHLET, "right": ROBIN, "bottom": NEUMANN, "top": variable_robin},
        box_normals(),
        1e-5,
    ),
}


@pytest.mark.parametrize("case", SPACE)
def test_space_error_falls_with_order_three(case):
    domain, operator, laws, normals, bound = SPACE[case]
    problem = manufactured(domain, wavy, operator, laws, normals)
    errors = []
    for resolution in (16, 32):
        solution = solve_fem(problem, 0.5, resolution=resolution, dt=0.125, times=[0.5])
        errors.append(l2_error(problem, solution, 0.5))
    assert slopes(errors)[-1] == pytest.approx(3.0, abs=0.1)
    assert errors[-1] < bound


def quadratic(x, t):
    """Quadratic in space, which the elements hold exactly: what remains is the time error."""
    return (1 + x[0] - 2 * x[0] * x[1] + x[1] ** 2) * jnp.cos(3 * t)


TIME = {
    "dirichlet": (HEAT, DIRICHLET),
    "neumann": (HEAT, NEUMANN),
    "robin": (HEAT, ROBIN),
    "conductivity that changes in time": (tb.Heat(lambda x, t: 0.3 + 0.2 * t), ROBIN),
}


@functools.cache  # one problem for all schemes: its functions are compiled once
def time_problem(case):
    operator, law = TIME[case]
    laws = dict.fromkeys(RECTANGLE.segments, law)
    return manufactured(RECTANGLE, quadratic, operator, laws, box_normals())


def time_errors(problem, scheme, times=(0.5, 1.0)):
    errors = []
    for steps in (16, 32):
        solution = solve_fem(problem, 1.0, resolution=4, dt=1 / steps, times=times, scheme=scheme)
        errors.append(max(l2_error(problem, solution, t) for t in times))
    return errors


@pytest.mark.parametrize("scheme", ["tr-bdf2", "crank-nicolson"])
@pytest.mark.parametrize("case", TIME)
def test_time_error_falls_with_order_two(case, scheme):
    errors = time_errors(time_problem(case), scheme)
    assert slopes(errors)[-1] == pytest.approx(2.0, abs=0.1)
    assert errors[-1] < 3e-3


@pytest.mark.parametrize("case, least", [("dirichlet", 3.0), ("neumann", 3.9), ("robin", 3.0)])
def test_the_sweeps_scheme_is_of_order_four(case, least):
    """Where boundary data act on stiff modes some of it is lost, to no less than three."""
    errors = time_errors(time_problem(case), "ark4")
    assert least < slopes(errors)[-1] < 4.1
    assert errors[-1] < 1e-6


def test_time_error_of_mixed_conditions_on_four_sides():
    laws = dict(zip(RECTANGLE.segments, (DIRICHLET, ROBIN, NEUMANN, variable_robin), strict=True))
    problem = manufactured(RECTANGLE, quadratic, HEAT, laws, box_normals())
    errors = time_errors(problem, "tr-bdf2")
    assert slopes(errors)[-1] == pytest.approx(2.0, abs=0.1)


@functools.cache
def nonlinear_problem():
    laws = dict(zip(RECTANGLE.segments, (DIRICHLET, ROBIN, NEUMANN, DIRICHLET), strict=True))
    constant = lambda x, t: 0.5 + 0.4 * jnp.sin(2 * t) + 0.0 * x[0]
    return manufactured(RECTANGLE, constant, tb.AllenCahn(0.1), laws, box_normals())


@pytest.mark.parametrize("scheme, order, bound", [("ars222", 2, 1e-4), ("ark4", 4, 1e-7)])
def test_nonlinear_time_error(scheme, order, bound):
    """∂ₜu = ∇²u/10 + u − u³ + f, the reaction explicit."""
    problem, errors = nonlinear_problem(), []
    for steps in (32, 64):
        solution = solve_fem(problem, 1.0, resolution=3, dt=1 / steps, times=[1.0], scheme=scheme)
        errors.append(l2_error(problem, solution, 1.0))
    assert slopes(errors)[-1] == pytest.approx(order, abs=0.1 * order / 2)
    assert errors[-1] < bound
