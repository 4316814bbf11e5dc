"""Which strategy a problem gets, and why; what one cannot honour is refused in a sentence."""

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.options import options
from tengbc.solver import strategies

WAVE = lambda x: jnp.sin(2 * jnp.pi * x[0])
SYSTEM = lambda u, x, t: tb.laplacian(u)(x) + jnp.stack([u(x)[0] * u(x)[1], -u(x)[1]])
THIRD = lambda u, x, t: u(x) * tb.laplacian(lambda y: tb.gradient(u)(y)[0])(x)
LINEAR_THIRD = lambda u, x, t: tb.laplacian(lambda y: tb.gradient(u)(y)[0])(x)
LINEAR_IN_U = lambda u, x, t: jnp.exp(x[0] - t) * tb.laplacian(u)(x) - jnp.cos(t) * u(x)


def problem(domain, equation, initial=WAVE):
    return tb.Problem(
        domain, equation, dict.fromkeys(domain.segments, lambda u, x, n, t: u(x)), initial
    )


LINE, RING, SQUARE = tb.Interval(0.0, 1.0), tb.PeriodicBox([0.0], [1.0]), tb.Rectangle()
CUBE = tb.Box((0.0,) * 3, (1.0,) * 3)
TORUS = tb.PeriodicBox([0.0, 0.0], [1.0, 1.0])
TABLE = {
    "heat on a disk": (problem(tb.Disk(), tb.Heat(0.1)), "local-features"),
    "heat on an interval": (problem(LINE, tb.Heat(0.1)), "local-features"),
    "heat on a ring": (problem(RING, tb.Heat(0.1)), "frozen-features"),
    "heat in a box": (problem(CUBE, tb.Heat(0.1)), "local-features"),
    "coefficients of time": (problem(LINE, LINEAR_IN_U), "local-features"),
    "burgers on an interval": (problem(LINE, tb.Burgers(0.1)), "local-features"),
    "reaction on an interval": (problem(LINE, tb.AllenCahn(0.1)), "local-features"),
    "a step of u": (problem(LINE, lambda u, x, t: jnp.sign(u(x))), "local-features"),
    "transport on a disk": (problem(tb.Disk(), tb.Transport([1.0, 0.0])), "local-features"),
    "burgers on a square": (problem(SQUARE, tb.Burgers(0.1)), "local-features"),
    "a system on a square": (
        problem(SQUARE, SYSTEM, lambda x: jnp.stack([WAVE(x), WAVE(x)])),
        "local-features",
    ),
    "one law for two components": (
        tb.Problem(
            LINE,
            SYSTEM,
            dict.fromkeys(LINE.segments, lambda u, x, n, t: u(x)[0]),
            lambda x: jnp.stack([WAVE(x), WAVE(x)]),
        ),
        "local-features",  # which holds conditions that speak of some components only
    ),
    "waves on an interval": (
        tb.Problem(
            LINE,
            lambda u, x, t: -tb.gradient(u)(x)[::-1, 0],
            dict.fromkeys(LINE.segments, lambda u, x, n, t: u(x)[0]),
            lambda x: jnp.stack([WAVE(x), WAVE(x)]),
        ),
        "frozen-features",  # the fluxes between patches are not those along characteristics
    ),
    "third derivatives on an interval": (problem(LINE, THIRD), "moving-features"),
    "linear third derivatives on an interval": (problem(LINE, LINEAR_THIRD), "frozen-features"),
    "third derivatives on a square": (problem(SQUARE, THIRD), "frozen-features"),
    "burgers on a ring": (problem(RING, tb.Burgers(0.1)), "deformed-waves"),
    "burgers on a torus": (problem(TORUS, tb.Burgers(0.1)), "deformed-waves"),
    "a system on a torus": (
        problem(TORUS, SYSTEM, lambda x: jnp.stack([WAVE(x), WAVE(x)])),
        "deformed-waves",
    ),
    "third derivatives on a ring": (problem(RING, THIRD), "frozen-features"),
    "four periodic axes": (
        problem(tb.PeriodicBox([0.0] * 4, [1.0] * 4), tb.Burgers(0.1)),
        "frozen-features",
    ),
}
FROZEN = {"strategy": "frozen-features"}
BENCHMARKS = {
    **dict.fromkeys(tb.problems.CATALOG, "local-features"),
    "burgers": "deformed-waves",
}


@pytest.mark.parametrize("name", TABLE)
def test_which_problem_gets_which_strategy(name):
    given, expected = TABLE[name]
    selection = tb.select_strategy(given)
    assert selection.strategy.name == expected
    assert str(selection) in given.explain() and selection.reason


@pytest.mark.parametrize("name", BENCHMARKS)
def test_which_benchmark_gets_which_strategy(name):
    given = tb.problems.get(name)
    assert tb.select_strategy(given).strategy.name == BENCHMARKS[name]
    assert tb.select_strategy(given, options(preset="paper")).strategy.name == "paper"


def test_the_table_is_the_code():
    """The docstring names every strategy, in the order in which they are asked."""
    rows = [line.split("|")[1:3] for line in strategies.__doc__.splitlines() if "|" in line][2:]
    known = [*strategies.STRATEGIES, *strategies.ON_REQUEST]
    assert [(name.strip(), what.strip()) for name, what in rows] == [
        (strategy.name, strategy.what) for strategy in known
    ]


@pytest.mark.parametrize(
    ("given", "choices", "said"),
    [
        (
            "burgers on a torus",
            {"scheme": "radau9"},
            "deformed-waves .* not take .* scheme",
        ),
        ("burgers on a torus", {"features": 50}, "deformed-waves .* not take .* features"),
        (
            "heat on a disk",
            {"scheme": "bdf2"},
            "local-features .* not take .* scheme; .* strategy='frozen-features', which does",
        ),
        (
            "burgers on an interval",
            {"dt": 0.1},
            "local-features .* not take .* dt; .* choose strategy='moving-features', which does",
        ),
        ("heat on a disk", {"widths": (8, 8)}, "local-features .* not take the option widths"),
        ("heat on a disk", FROZEN | {"widths": (8, 8)}, "frozen-features .* not take .* widths"),
        ("heat on a disk", {"cutoff": 1e-8}, "not take the option cutoff"),
        ("heat on a disk", {"preset": "paper", "rtol": 1e-3}, "paper .* not take the option rtol"),
        ("heat on a disk", {"preset": "paper", "scheme": "bdf2"}, "bdf2.* cannot march with"),
        (
            "burgers on an interval",
            {"strategy": "moving-features", "scheme": "rk4"},
            "moving-features cannot march with .* rk4",
        ),
        ("heat on a disk", {"strategy": "moving-features"}, "does not apply: .* no interval"),
        ("heat on a disk", {"strategy": "deformed-waves"}, "does not apply: .* no periodic box"),
        ("heat on a disk", {"strategy": "frozen-feature"}, "did you mean 'frozen-features'"),
    ],
)
def test_what_a_strategy_cannot_honour_is_refused(given, choices, said):
    with pytest.raises(tb.UsageError, match=said):
        tb.solve(TABLE[given][0], 0.1, **choices)


def test_a_strategy_may_be_forced():
    """A front on an interval by frozen and moving features, too: smooth for a short while."""
    given, t_end = TABLE["reaction on an interval"][0], 0.02
    chosen, x = tb.solve(given, t_end, rtol=1e-4), given.domain.interior(40).x
    assert chosen.facts["strategy"] == "local-features"
    for name in ("frozen-features", "moving-features"):
        forced = tb.solve(given, t_end, strategy=name, rtol=1e-4)
        assert forced.facts["strategy"] == name
        np.testing.assert_allclose(forced(x, t_end), chosen(x, t_end), atol=1e-3)
