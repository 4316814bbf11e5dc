"""P8: data that do not fit together are measured and said before the march; good data, silence."""

import math
import re
import warnings

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc import costs
from tengbc.errors import UsageError
from tengbc.options import options
from tengbc.solver import solve
from tengbc.solver.examine import examine

OPTIONS = options(t_end=1.0)


def wave(x):
    return jnp.sin(x[0]) + 2.0


def slope(x, normal):
    return jnp.cos(x[0]) * normal[0]


KINDS = {
    "dirichlet": lambda jump: tb.Dirichlet(lambda x: wave(x) + jump),
    "neumann": lambda jump: lambda u, x, n, t: tb.normal_derivative(u)(x, n) - slope(x, n) - jump,
    "robin": lambda jump: (
        lambda u, x, n, t: u(x) + tb.normal_derivative(u)(x, n) - wave(x) - slope(x, n) - jump
    ),
    "nonlinear": lambda jump: lambda u, x, n, t: u(x) ** 2 - wave(x) ** 2 - jump,
}


def told(problem, level, **choices):
    found = examine(problem, options(t_end=1.0, **choices), thorough=True)
    return [finding.text for finding in found if finding.level == level]


def interval(law):
    """At rest, so that nothing moves apart: only the values at t = 0 count."""
    return tb.Problem(
        tb.Interval(0.0, 1.0),
        lambda u, x, t: 0.0 * u(x),
        {"left": law, "right": KINDS["dirichlet"](0.0)},
        wave,
    )


@pytest.mark.parametrize("jump", [1e-8, 1e-4, 1.0])
@pytest.mark.parametrize("kind", KINDS)
def test_jumps_are_measured(kind, jump):
    (said,) = told(interval(KINDS[kind](jump)), "warning", rtol=1e-10)
    found = re.search(r"miss the condition on left by (\S+) of their size .* layer", said)
    assert found and float(found[1]) == pytest.approx(jump / (2.0 + np.sin(1.0)), rel=0.02)


@pytest.mark.parametrize("kind", KINDS)
def test_jumps_below_the_tolerance_are_no_warning(kind):
    problem = interval(KINDS[kind](1e-5))
    assert told(problem, "warning", rtol=1e-4) == []
    (said,) = told(problem, "note", rtol=1e-4)
    assert "miss the condition on left" in said and "less than the tolerance" in said


@pytest.mark.parametrize("kind", KINDS)
def test_consistent_data_are_silent(kind):
    problem = interval(KINDS[kind](0.0))
    assert told(problem, "warning") == told(problem, "error") == told(problem, "note") == []


PAPER = {"preset": "paper", "widths": (4,), "interior_points": 9, "fit_iterations": 1, "dt": 0.1}


FEW = {"strategy": "frozen-features", "features": 6, "dt": 0.1}


@pytest.mark.parametrize("choices", [PAPER, FEW, {}], ids=["paper", "frozen", "default"])
def test_they_are_said_before_a_march(choices):
    """In Python as a warning, before the first step."""
    seen = []

    def first(record, state):
        seen.append(len(said))
        return True

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        solve(interval(KINDS["robin"](1e-4)), 0.2, callbacks=[first], throw=False, **choices)
    assert seen == [1] and "miss the condition on left by 3.5e-05" in str(said[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solve(interval(KINDS["robin"](0.0)), 0.2, callbacks=[first], throw=False, **choices)


@pytest.mark.parametrize("name", tb.problems.names())
def test_the_benchmarks_are_well_stated(name):
    problem = tb.problems.get(name)
    assert told(problem, "warning") == told(problem, "error") == []


def square(left, bottom=0.0):
    laws = {"left": left, "right": 0.0, "bottom": bottom, "top": 0.0}
    laws = {name: tb.Dirichlet(law) for name, law in laws.items()}
    return tb.Problem(tb.Rectangle((0.0, 0.0), (1.0, 1.0)), tb.Heat(1.0), laws, 0.0)


def test_values_that_clash_at_a_corner():
    """Along the sides all is well at t = 0; at later times two sides ask for different values."""
    said = told(square(lambda x, t: t * (1 - x[1])), "warning")
    assert any("left and bottom ask for values that differ by" in text for text in said)
    assert all("(0, 0)" in text for text in said if "ask for" in text)
    assert not told(square(lambda x, t: t * x[1] * (1 - x[1])), "warning")


def flow(data):
    return tb.Problem(
        tb.Interval(0.0, 1.0),
        tb.Transport([1.0]),
        {"left": tb.Dirichlet(lambda x, t: jnp.sin(-t)), "right": tb.Dirichlet(data)},
        lambda x: jnp.sin(x[0]),
    )


def test_data_at_the_outflow():
    (note,) = told(flow(lambda x, t: jnp.sin(x[0] - t)), "note")
    assert note == "the flow leaves through right, so its data is redundant (and agrees at t = 0)."
    assert any(
        "leaves through right" in text and "contradicts" in text
        for text in told(flow(lambda x, t: jnp.sin(x[0] + t)), "warning")
    )


class InsideOut(tb.Disk):
    """A disk whose normals point inwards."""

    def _faces(self, segment):
        from dataclasses import replace

        def turned(place):
            return lambda s: (place(s)[0], -place(s)[1])

        return tuple(replace(face, place=turned(face.place)) for face in super()._faces(segment))


def test_normals_that_point_inwards():
    problem = tb.Problem(InsideOut(), tb.Heat(1.0), {"circle": tb.Neumann(0.0)}, 1.0)
    (said,) = told(problem, "error")
    assert "The normal of circle" in said and "not the outward unit normal" in said


def test_values_that_are_not_finite():
    problem = tb.Problem(
        tb.Disk(), tb.Heat(1.0), {"circle": tb.Dirichlet(0.0)}, lambda x: jnp.log(x[0])
    )
    assert told(problem, "error")[0].startswith("The initial condition is not finite at t = 0")
    problem = tb.Problem(
        tb.Disk(), tb.Heat(1.0), {"circle": tb.Dirichlet(lambda x: jnp.log(x[0]))}, 0.0
    )
    assert told(problem, "error")[0].startswith("The condition on circle is not finite at t = 0")


@pytest.mark.parametrize(
    "choices",
    [
        {"strategy": "frozen-features", "features": 100_000},
        {"strategy": "frozen-features", "features": 500, "interior_points": 10_000_000},
        {"preset": "paper", "per_axis": 10_000},
        {"preset": "paper", "interior_points": 10_000_000, "subset": 5000},
        {"preset": "paper", "widths": (100_000, 100_000)},
    ],
)
def test_more_than_the_machine_has(choices, monkeypatch):
    monkeypatch.setattr(costs, "machine_memory", lambda: 32.0 * costs.GIGABYTE)
    problem = interval(KINDS["dirichlet"](0.0))
    expected = choices.get("per_axis") and pytest.raises(UsageError, match="per_axis")
    with expected or pytest.raises(
        UsageError, match=r"GB of memory.*this machine has 32 GB; lower"
    ):
        costs.check_options(options(**choices), dim=2)
    if "per_axis" not in choices:  # one-dimensional, 10,000 points are few
        with pytest.raises(UsageError, match="would need about"):
            solve(problem, 1.0, **choices)


def test_usual_sizes_fit_into_eight_gigabytes():
    problem = tb.problems.get("heat-robin")
    for choices in (
        {},
        {"strategy": "frozen-features"},
        {"strategy": "frozen-features", "features": 1400},
        {"preset": "paper"},
        {"preset": "paper", "per_axis": 128},
    ):
        strategy = tb.select_strategy(problem, options(**choices)).strategy
        cost = strategy.cost(problem, options(**choices), 1.0, 1e10)
        assert cost.memory < 8 * costs.GIGABYTE and 0 < cost.seconds < math.inf


def test_a_number_is_a_velocity_on_an_interval():
    """A velocity of shape () once crashed the check of what flows out."""
    problem = tb.Problem(
        tb.Interval(0.0, 1.0),
        tb.Transport(1.0),
        {"left": tb.Dirichlet(0.0), "right": tb.Dirichlet(0.0)},
        lambda x: jnp.exp(-400 * (x[0] - 0.5) ** 2),
    )
    (note,) = told(problem, "note")
    assert note.startswith("the flow leaves through right")


def test_values_that_are_zero_have_no_size_to_compare_with():
    problem = tb.Problem(
        tb.Interval(0.0, 1.0),
        tb.Heat(0.1),
        {"left": tb.Dirichlet(2.0), "right": tb.Dirichlet(0.0)},
        0.0,
    )
    (said,) = told(problem, "warning")
    assert "miss the condition on left by 2.0e+00 at t = 0;" in said


@pytest.mark.parametrize(
    ("choices", "foretold"),
    [
        ({}, True),  # one patch holds it
        ({"strategy": "frozen-features"}, False),
        ({"strategy": "frozen-features", "features": 50}, True),
        ({"preset": "paper"}, True),
    ],
)
def test_seconds_are_foretold_only_where_little_is_refined(choices, foretold):
    (said,) = (
        text for text in told(tb.problems.get("heat-robin"), "fine", **choices) if "time:" in text
    )
    assert bool(re.search(r"roughly \d+ (s|min)|less than a second", said)) == foretold
    assert ("max_seconds" in said) != foretold
