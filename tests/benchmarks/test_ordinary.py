"""The references of the ordinary problems against facts that do not come from NGSolve."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import erfc

from benchmarks import ordinary
from benchmarks.ordinary_child import ladder, settings
from benchmarks.ordinary_closed_forms import CLOSED_FORMS, jump, step_answer, wall
from benchmarks.ordinary_problems import (
    JUMP_CENTRE,
    JUMP_RADIUS,
    PROBLEMS,
    WALL_KAPPA,
    flow,
    history,
    stream,
)
from benchmarks.ordinary_references import PLACE, errors, load

WORTH = {"pattern": 2e-6, "seventeen": 1e-6, "corner": 5e-7}
"""What a reference is worth where it is not 10⁻⁷."""
BOUNDS = {
    # The maximum principle: between the initial values and what the boundary strives for.
    "fin": (0.0, 1.0),
    "wall": (0.0, 1.0),
    "wall-plane": (0.0, 1.5),
    "jump": (0.0, 1.0),
    "channel": (0.0, 1.5),
    "seventeen": (0.0, 5.0),
    "sources": (0.0, 20.0),
    "corner": (0.0, 1.0),
    "mixed-edge": (0.0, 1.0),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_reference_belongs_to_its_problem_and_is_worth_something(name):
    stored, problem = load(name), PROBLEMS[name].build()
    np.testing.assert_allclose(stored.times, PROBLEMS[name].times(), rtol=1e-12)
    assert stored.times[-1] == problem.t_end
    assert problem.domain.contains(stored.points).all()
    assert stored.values.shape == (len(stored.times), len(stored.points), *problem.shape)
    assert np.isfinite(stored.values).all()
    assert 0 < stored.worth < WORTH.get(name, 1e-7)
    assert "NGSolve" in stored.source


def test_the_files_are_small():
    assert sum(path.stat().st_size for path in PLACE.iterdir()) < 6e5


@pytest.mark.parametrize("name", BOUNDS)
def test_the_maximum_principle_holds(name):
    low, high = BOUNDS[name]
    values = load(name).values
    assert values.min() >= low - 1e-7 * high and values.max() <= high


def test_plate_stays_between_its_coldest_and_hottest_pipe_but_for_the_fluxes():
    """−½ and 2 are what the pipes strive for; a flux of one may heat its edge beyond by little."""
    values = load("plate").values
    assert values.min() > -0.75 and values.max() < 2.5


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_closed_forms_are_what_is_stored(name):
    stored = load(name)
    again = np.stack([CLOSED_FORMS[name](stored.points, float(t)) for t in stored.times])
    assert errors(again, stored.values).max() < 1e-13


def test_the_answer_to_a_jump_of_the_surface():
    x = np.linspace(0.0, 0.3, 7)
    np.testing.assert_allclose(
        step_answer(x, 10.0, 0.0), erfc(x / (2 * np.sqrt(WALL_KAPPA * 10))), rtol=1e-12
    )
    k, dx, dt = 5.0, 1e-3, 1e-2
    inside = np.array([0.02, 0.05])
    second = sum(step_answer(inside + s * dx, 20.0, k) for s in (-1, 1))
    second = (second - 2 * step_answer(inside, 20.0, k)) / dx**2
    rate = (step_answer(inside, 20 + dt, k) - step_answer(inside, 20 - dt, k)) / (2 * dt)
    expected = WALL_KAPPA * (second - k**2 * step_answer(inside, 20.0, k))
    np.testing.assert_allclose(rate, expected, rtol=1e-4)
    assert step_answer(np.zeros(1), 7.0, k) == pytest.approx(1.0, rel=1e-14)


@pytest.mark.parametrize("t", [10.0, 30.0, 45.0, 60.0, 100.0])
def test_the_surface_of_the_wall_follows_its_history(t):
    assert wall(np.zeros((1, 1)), t) == pytest.approx(float(history(t)), rel=1e-9)


def test_the_jump_is_what_the_initial_values_become():
    """Soon after the start it is 1 well inside the hot disk and 0 well outside; it dies out."""
    centre, rim = np.array(JUMP_CENTRE), np.array([np.cos(0.4), np.sin(0.4)])
    points = np.stack([centre, centre + JUMP_RADIUS * np.array([0.0, 1.0]), -0.5 * rim, rim])
    early = jump(points, 0.004)
    np.testing.assert_allclose(early[[0, 2, 3]], [1.0, 0.0, 0.0], atol=1e-8)
    # At the jump itself, half; a circle bends by 1/R, which takes √(κt/π)/2R away.
    assert early[1] == pytest.approx(
        0.5 - np.sqrt(0.1 * 0.004 / np.pi) / (2 * JUMP_RADIUS), abs=2e-3
    )
    late = jump(points[:1], 13.0) / jump(points[:1], 12.0)
    assert late == pytest.approx(np.exp(-0.1 * 2.404825557695773**2), rel=1e-3)


def test_seventeen_holes_agree_with_the_values_of_others():
    """PINNacle's file, which is good to about 2·10⁻³, at a point near one of ours, at t = 3."""
    stored = load("seventeen")
    for place, value in (
        ((-7.0386015651963385, 2.7575720260601737), 0.6958353),
        ((-5.782513433929211, 1.62200395645237), 1.2947783),
        ((7.228190120008353, -10.080514878624692), 0.5219629),
    ):
        away = stored.points - np.array(place)
        near = np.argsort(np.linalg.norm(away, axis=1))[:12]
        x, y = away[near].T
        basis = np.stack([np.ones(12), x, y, x * x, x * y, y * y], axis=1)
        fitted = np.linalg.lstsq(basis, stored.values[-1, near], rcond=None)[0][0]
        assert fitted == pytest.approx(value, rel=0.06)


def test_heat_of_the_mixed_edge_and_the_corner_comes_from_the_source_at_first():
    """Far from the cold part u = t until the cold arrives."""
    stored = load("mixed-edge")
    far = np.linalg.norm(stored.points - [1.0, 1.0], axis=1) < 0.3
    np.testing.assert_allclose(stored.values[0, far], stored.times[0], rtol=1e-4)
    stored = load("corner")
    middle = np.linalg.norm(stored.points - [-0.5, 0.2], axis=1) < 0.1
    assert middle.any()
    np.testing.assert_allclose(stored.values[0, middle], stored.times[0], rtol=1e-3)


def test_the_pattern_is_one_and_keeps_its_balance():
    """∫u' + ∫v' = ∫(1 − u): the mean of u + v changes at the rate 1 − mean u."""
    stored = load("pattern")
    u = stored.values[-1, :, 0]
    assert u.max() - u.min() > 0.5
    mean = stored.values.mean(axis=(1,))
    total, grown = mean.sum(axis=1), np.diff(mean.sum(axis=1))
    middle = 1 - (mean[1:, 0] + mean[:-1, 0]) / 2
    late = slice(4, None)
    expected = (middle * np.diff(stored.times))[late]
    np.testing.assert_allclose(grown[late], expected, atol=0.02 * total[-1])


def test_the_stream_runs_along_cylinder_and_walls_without_divergence():
    with jax.enable_x64(True):
        angle = np.linspace(0, 2 * np.pi, 9)
        normal = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        around = np.array([0.6, 0.25]) + 0.1 * normal
        through = np.sum(np.asarray(jax.vmap(flow)(jnp.array(around))) * normal, axis=1)
        np.testing.assert_allclose(through, 0.0, atol=1e-12)
        walls = jnp.array([[s, y] for s in (0.1, 0.6, 1.7) for y in (0.0, 0.5)])
        np.testing.assert_allclose(np.asarray(jax.vmap(flow)(walls))[:, 1], 0.0, atol=1e-12)
        divergence = lambda x: jnp.trace(jax.jacfwd(flow)(x))
        np.testing.assert_allclose(jax.vmap(divergence)(jnp.array(around * 1.3)), 0.0, atol=1e-10)
        assert float(stream(jnp.array([0.3, 0.25]))) == 0.0


def test_errors_are_relative_and_worst_times_are_seen():
    truth = np.array([[3.0, 4.0], [6.0, 8.0]])
    found = errors(truth + np.array([[0.0, 0.5], [0.0, 0.0]]), truth)
    np.testing.assert_allclose(found, [0.1, 0.0], atol=1e-15)


def test_the_ladder_goes_from_coarse_to_fine():
    pairs = ladder()
    assert pairs[0] == (0, 0)
    assert pairs[-1] == (len(ordinary.SPACES) - 1, len(ordinary.STEPS) - 1)
    assert settings("jump", pairs[0]).interfaces and settings("wall", pairs[0]).layers == ("left",)
    assert settings("channel", pairs[-1]).start_levels == 0


def test_a_line_names_the_cheapest_rival_that_is_as_accurate():
    run = {"outcome": "done", "error": 1e-3, "stated": 2e-3, "seconds": 4.0}
    rivals = [
        {"error": 1e-2, "seconds": 0.1},
        {"error": 9e-4, "seconds": 2.0},
        {"error": 5e-4, "seconds": 0.5},
        {"error": 1e-6, "seconds": 8.0},
    ]
    cells = ordinary._line("fin", 1e-2, run, rivals).split()
    assert cells == ["fin", "1e-02", "done", "1.0e-03", "2.0e-03", "4.00", "0.50", "8.0", "5.0e-04"]
    assert ordinary._line("fin", 1e-2, run, []).split()[-3:] == ["-", "-", "-"]


def test_a_child_that_takes_too_long_is_ended(monkeypatch):
    monkeypatch.setattr(ordinary, "WARMING", 0.2)
    said = ordinary._ours("fin", 1e-2, 0.2)
    assert said["outcome"] == "over the limit" and said["error"] is None
