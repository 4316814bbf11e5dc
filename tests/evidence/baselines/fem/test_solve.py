"""Whole solves: benchmarks, transport, Burgers, reactions, polygons, and what is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc import problems

pytest.importorskip("skfem")

from tengbc.evidence.baselines.fem import BudgetError, solve_fem
from tests.evidence.baselines.fem.manufactured import (
    DIRICHLET,
    NEUMANN,
    ROBIN,
    l2_error,
    manufactured,
    slopes,
)


def worst_error(problem, solution):
    x = problem.domain.evaluation_grid(41)
    errors = []
    for t in solution.times:
        truth = problem.exact(x, t)
        errors.append(np.linalg.norm(solution(x, t) - truth) / np.linalg.norm(truth))
    return max(errors)


BENCHMARKS = {
    # name: bound at resolution 32, most of which is the error of holding the initial values
    "heat-dirichlet": 1.8e-4,
    "heat-neumann": 1.7e-4,
    "heat-flux": 1.5e-4,
    "heat-robin": 1e-4,
    "heat-mixed": 1.2e-4,
    "transport": 1.9e-4,
}


@pytest.mark.parametrize("name", BENCHMARKS)
def test_benchmarks(name):
    problem = problems.get(name)
    times = np.linspace(0, 1, 6)
    solution = solve_fem(problem, resolution=32, dt=0.02, times=times, scheme="ark4")
    assert BENCHMARKS[name] / 4 < worst_error(problem, solution) < BENCHMARKS[name]


@pytest.mark.parametrize("domain", [tb.Disk(100.0, (1e3, -300.0)), tb.Disk(0.01, (0.0, 5.0))])
def test_size_and_place_of_the_domain_do_not_matter(domain):
    center = np.array(domain.center)
    unit = problems.get("heat-robin")
    shape = lambda x: (x - center) / domain.radius
    law = unit.conditions["circle"]
    problem = tb.Problem(
        domain,
        tb.Heat(0.1 * domain.radius**2),
        {"circle": tb.Robin(1.0, law.b.value * domain.radius, 0.0)},
        initial=lambda x: unit.initial_function(shape(x)),
        exact=lambda x, t: unit.exact_function(shape(x), t),
        t_end=1.0,
    )
    choices = {"resolution": 16, "dt": 0.05, "times": [0.0, 0.5, 1.0]}
    expected = worst_error(unit, solve_fem(unit, **choices))
    assert worst_error(problem, solve_fem(problem, **choices)) == pytest.approx(expected, rel=1e-6)


def test_inflow_takes_its_values_and_outflow_none():
    """A wave carried across a rectangle; what is prescribed at the outflow is nonsense."""
    exact = lambda x, t: jnp.sin(3 * (x[0] - t) + 2 * (x[1] - 0.5 * t))
    nonsense = tb.Dirichlet(1e3)
    problem = tb.Problem(
        tb.Rectangle(),
        tb.Transport((1.0, 0.5)),
        {"left": tb.Dirichlet(exact), "bottom": tb.Robin(2.0, 0.0, lambda x, t: 2 * exact(x, t))}
        | {"right": nonsense, "top": tb.Neumann(5.0)},
        initial=lambda x: exact(x, 0.0),
        exact=exact,
        t_end=2.0,
    )
    errors = []
    for resolution in (8, 16):
        solution = solve_fem(problem, resolution=resolution, dt=0.02, times=[2.0], scheme="ark4")
        errors.append(l2_error(problem, solution, 2.0))
    assert slopes(errors)[-1] > 2.5
    assert errors[-1] < 1e-4


def test_upwinding_beats_plain_transport_by_far(monkeypatch):
    problem = problems.get("transport")
    choices = {"resolution": 32, "dt": 0.02, "times": [1.0], "scheme": "ark4"}
    upwinded = l2_error(problem, solve_fem(problem, **choices), 1.0)
    monkeypatch.setattr(
        "tengbc.evidence.baselines.fem.system.leaning_upstream", lambda cells, v: cells
    )
    plain = l2_error(problem, solve_fem(problem, **choices), 1.0)
    assert 5 * upwinded < plain < 30 * upwinded


def test_a_flow_that_turns_round_in_time():
    exact = lambda x, t: jnp.sin(x[0] - jnp.sin(3 * t) + 2 * x[1])
    problem = tb.Problem(
        tb.Rectangle(),
        tb.Transport(lambda x, t: jnp.array([3 * jnp.cos(3 * t), 0.0])),
        dict.fromkeys(tb.Rectangle().segments, tb.Dirichlet(exact)),
        initial=lambda x: exact(x, 0.0),
        exact=exact,
        t_end=2.0,
    )
    solution = solve_fem(problem, resolution=8, dt=0.02, times=[2.0])
    assert l2_error(problem, solution, 2.0) < 2e-3


def test_burgers_comes_close_to_the_reference():
    problem = problems.get("burgers")
    reference = problem.reference
    times = [0.25, 0.5]
    errors = {}
    for resolution in (16, 32):
        solution = solve_fem(problem, 0.5, resolution=resolution, dt=0.025, times=times)
        for t in times:
            truth = reference.values_at(t)
            gap = solution(reference.points, t) - truth
            errors[resolution, t] = np.linalg.norm(gap) / np.linalg.norm(truth)
    assert errors[32, 0.5] < 1.2e-3 and errors[16, 0.5] < 8e-3
    assert 2.2 < np.log2(errors[16, 0.5] / errors[32, 0.5]) < 3.3


def test_burgers_with_boundary_values():
    """A travelling front u = c − tanh, exact for ∂ₜu = −u(∂₁u + ∂₂u) + ν∇²u."""
    nu, c = 0.2, 0.5
    front = lambda x, t: c - jnp.tanh((x[0] + x[1] - 2 * c * t) / (2 * nu))
    conditions = dict.fromkeys(tb.Rectangle().segments, tb.Dirichlet(front))
    problem = tb.Problem(
        tb.Rectangle(), tb.Burgers(nu), conditions, lambda x: front(x, 0.0), front, t_end=0.5
    )
    errors = []
    for steps in (20, 40):
        solution = solve_fem(problem, resolution=16, dt=0.5 / steps, times=[0.5])
        errors.append(l2_error(problem, solution, 0.5))
    assert errors[1] < 5e-4
    assert slopes(errors)[0] > 1.6


def test_polygon_with_a_hole():
    domain = tb.Polygon(
        [(0, 0), (2, 0), (2, 1.5), (0, 1)], holes=[[(0.5, 0.4), (1, 0.4), (1, 0.8), (0.5, 0.8)]]
    )
    exact = lambda x, t: (1 + t) * jnp.sin(2 * x[0] + x[1])
    slant = np.array([-0.5, 2.0]) / np.hypot(0.5, 2.0)
    normals = {f"edge{i}": (lambda x, n=n: jnp.array(n)) for i, n in enumerate([(0.0, -1.0)])}
    normals["edge1"] = lambda x: jnp.array([1.0, 0.0])
    normals["edge2"] = lambda x: jnp.array(slant)
    normals["edge3"] = lambda x: jnp.array([-1.0, 0.0])
    # A hole has a normal for each of its sides: give values there.
    normals["hole0"] = lambda x: jnp.array([0.0, 0.0])
    laws = {"edge0": ROBIN, "edge1": NEUMANN, "edge2": ROBIN, "edge3": DIRICHLET}
    problem = manufactured(
        domain, exact, tb.Heat(0.2), {**laws, "hole0": DIRICHLET}, normals, t_end=1.0
    )
    errors = []
    for resolution in (12, 24):
        solution = solve_fem(problem, resolution=resolution, dt=0.25, times=[1.0])
        errors.append(l2_error(problem, solution, 1.0))
    assert slopes(errors)[0] == pytest.approx(3.0, abs=0.15)
    assert errors[1] < 1.2e-4


def test_coefficients_of_a_condition_may_change_in_time():
    exact = lambda x, t: jnp.cos(t) * (1 + x[0] * x[1])
    a, b = (lambda x, t: 1 + t), (lambda x, t: 2 - t)
    slope = lambda x, t: jnp.cos(t) * x[1]  # on the right side, where ∂ₙ = ∂₁
    conditions = dict.fromkeys(("left", "bottom", "top"), tb.Dirichlet(exact))
    conditions["right"] = tb.Robin(a, b, lambda x, t: a(x, t) * exact(x, t) + b(x, t) * slope(x, t))
    problem = tb.Problem(
        tb.Rectangle(),
        tb.Heat(0.5) + tb.Source(lambda x, t: -jnp.sin(t) * (1 + x[0] * x[1])),
        conditions,
        lambda x: exact(x, 0.0),
        exact,
        t_end=1.0,
    )
    solution = solve_fem(problem, resolution=4, dt=0.02, times=[1.0])
    assert l2_error(problem, solution, 1.0) < 1e-5


def test_values_that_do_not_fit_together_are_damped():
    """u = 1 inside, u = 0 on the rim at once: L-stable steps leave no ringing behind."""
    problem = tb.Problem(tb.Disk(), tb.Heat(1.0), {"circle": tb.Dirichlet(0.0)}, 1.0, t_end=0.2)
    x = tb.Disk().evaluation_grid(21)
    values = solve_fem(problem, resolution=32, dt=0.02, times=[0.2])(x, 0.2)
    # The first terms of Fourier and Bessel: u(0, t) = Σ 2 exp(−j²t) / (j J₁(j)).
    center = 2 * np.exp(-(2.404825557695773**2) * 0.2) / (2.404825557695773 * 0.519147497289467)
    center += 2 * np.exp(-(5.520078110286311**2) * 0.2) / (5.520078110286311 * -0.340264806)
    assert values.max() == pytest.approx(center, rel=5e-3)
    assert values.min() > -1e-6


def test_global_precision_is_neither_needed_nor_changed():
    problem = problems.get("heat-mixed")
    choices = {"resolution": 8, "dt": 0.05, "times": [0.0, 1.0]}
    expected = solve_fem(problem, **choices).values
    with jax.enable_x64(False):
        found = solve_fem(problem, **choices).values
        assert jnp.zeros(1).dtype == jnp.float32
    np.testing.assert_array_equal(found, expected)


def square(equation, **conditions):
    laws = dict.fromkeys(tb.Rectangle().segments, tb.Neumann(0.0)) | conditions
    return tb.Problem(tb.Rectangle(), equation, laws, initial=lambda x: x[0], t_end=1.0)


REFUSED = {
    "own equation": (square(tb.Equation(lambda u, x, t: -u(x))), "does not apply to Equation"),
    "own condition": (
        square(tb.Heat(1.0), left=tb.Condition(lambda u, x, n, t: u(x) ** 4)),
        "does not apply to the condition on left",
    ),
    "system": (
        tb.Problem(tb.PeriodicBox((0.0, 0.0), (1.0, 1.0)), tb.Heat(1.0), {}, [1.0, 2.0], t_end=1.0),
        "system of 2",
    ),
    "no value at the inflow": (square(tb.Transport((1.0, 0.0))), "enters through left"),
    "empty law": (
        square(tb.Heat(1.0), top=tb.Robin(lambda x: x[0] - x[0], 0.0, 1.0)),
        "vanish together",
    ),
    "b in time": (
        square(tb.Heat(1.0), top=tb.Robin(1.0, lambda x, t: t, 1.0)),
        "b a function of x alone",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_apply_is_said(case):
    problem, words = REFUSED[case]
    with pytest.raises(tb.UsageError, match=words):
        solve_fem(problem, resolution=4, dt=0.5)


def test_wrong_numbers_are_said():
    problem = square(tb.Heat(1.0))
    for wrong in ({"dt": 0.0}, {"dt": np.nan}, {"t_end": -1.0}, {"resolution": 1}):
        with pytest.raises(tb.UsageError, match=next(iter(wrong))):
            solve_fem(problem, **({"resolution": 4, "dt": 0.5} | wrong))
    with pytest.raises(tb.NonFiniteError, match="not finite"):
        solve_fem(square(tb.Heat(1.0) + tb.Source(lambda x: 1 / (x[0] - x[0]))), resolution=4)


def test_too_long_explicit_steps_are_noticed():
    problem = square(tb.ReactionDiffusion(0.1, lambda u: u**3))
    with pytest.raises(tb.DivergedError, match="smaller dt"):
        solve_fem(problem, 50.0, resolution=4, dt=0.5)


def test_the_budget_is_kept():
    problem = problems.get("heat-robin")
    with pytest.raises(BudgetError, match="budget") as caught:
        # A small mesh and a million steps: even a busy machine is in the march by then.
        solve_fem(problem, resolution=6, dt=1e-6, budget=4.0)
    assert caught.value.phase == "march"
    with pytest.raises(BudgetError) as caught:
        solve_fem(problem, resolution=48, dt=0.1, budget=1e-3)
    assert caught.value.phase == "mesh"


def test_progress_is_reported():
    seen = []
    solve_fem(
        square(tb.Heat(1.0)),
        resolution=4,
        dt=0.25,
        progress=lambda phase, fraction, known: seen.append((phase, fraction)),
    )
    assert [phase for phase, _ in seen[:3]] == ["mesh", "assemble", "factorise"]
    assert seen[-1] == ("march", 1.0) and len(seen) == 7


def test_without_scikit_fem_the_extra_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "skfem", None)
    with pytest.raises(tb.UsageError, match=r"tengbc\[fem\]"):
        solve_fem(square(tb.Heat(1.0)), resolution=4, dt=0.5)
