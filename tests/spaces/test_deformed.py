"""Waves that follow the solution: maps, values, slopes, files, marches, errors and estimates."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.evidence.baselines.spectral import solve_spectral
from tengbc.fourier import Lattice
from tengbc.networks import DeformedWaves, PotentialMap
from tengbc.networks.potential import (
    lattice_shape,
    padded_table,
    table_indices,
    table_shape,
    to_modes,
)
from tengbc.schemes import SSP104, RungeKutta
from tengbc.solver.march import Plan, march, trajectory_of
from tengbc.solver.steps import StableSteps
from tengbc.solver.strategies.deformed_waves import _network
from tengbc.spaces import State
from tengbc.spaces.deformed import LIMIT, SIZES, DeformedSpace
from tengbc.spaces.deformed_rates import inverse

NU = 0.03


def cole_hopf(x, t):
    """Steep solution of u' = −u u_x + ν u_xx on [−π, π): −2ν φ_x/φ, φ = 1.05 + exp(−νt) cos x."""
    decay = jnp.exp(-NU * t)
    return 2 * NU * decay * jnp.sin(x[0]) / (1.05 + decay * jnp.cos(x[0]))


def burgers_line():
    box = tb.PeriodicBox((-np.pi,), (np.pi,))
    return tb.Problem(
        box, tb.Burgers(NU), {}, lambda x: cole_hopf(x, 0.0), exact=cole_hopf, t_end=2.0
    )


def to_table(modes, lattice, shape):
    chosen = modes[table_indices(lattice, shape)] / lattice.size
    return np.stack([chosen.real, chosen.imag])


def some_body(dim, seed=0):
    rng = np.random.default_rng(seed)
    shape = (*[7, 9][: dim - 1], 5)
    lattice = Lattice((0.0,) * dim, (2 * np.pi,) * dim, lattice_shape((*[3, 4][: dim - 1], 4)))
    smooth = np.exp(-np.sum(lattice.numbers**2, axis=0) / 3) * lattice.kept
    field = lattice.forward(rng.normal(size=lattice.shape)) * smooth
    table = to_table(field, lattice, shape)
    scaled = 0.06 * table / np.abs(table).max()
    return DeformedWaves(PotentialMap(scaled, (1.0,) * dim, (3.0,) * dim)), table


@pytest.mark.parametrize("dim", [1, 2])
def test_many_points_agree_with_one_by_one(dim):
    body, table = some_body(dim)
    weight = table.reshape(1, -1)
    x = np.random.default_rng(1).uniform(-4, 8, (40, dim))
    features = jax.jit(jax.vmap(body))(x)
    np.testing.assert_allclose(body.combine(weight, x)[:, 0], features @ weight[0], atol=1e-11)
    slope = jax.jit(jax.vmap(jax.jacfwd(lambda z: (weight @ body(z))[0])))(x)
    found = body.combine(weight, x, slopes=True)
    np.testing.assert_allclose(found[:, 0], slope, atol=1e-9 * np.abs(slope).max())


def test_the_map_is_inverted():
    body, _ = some_body(2)
    y = np.random.default_rng(2).uniform(0, 2 * np.pi, (20, 2))
    slope = np.asarray(jax.jit(jax.vmap(lambda z: body.map.slope_and_hessian(z)[0]))(y))
    x = 1.0 + 3.0 / (2 * np.pi) * (y + slope)
    np.testing.assert_allclose(jax.jit(jax.vmap(body.map))(x), y, atol=1e-11)
    # Up to whole turns, which the waves do not see.
    np.testing.assert_allclose(np.exp(1j * body.map.at(x)[0]), np.exp(1j * y), atol=1e-11)


def test_tables_hold_the_waves_of_a_lattice():
    _, table = some_body(2)
    lattice = Lattice((0.0, 0.0), (1.0, 1.0), (24, 30))
    modes = to_modes(table, lattice)
    np.testing.assert_allclose(to_table(modes, lattice, table.shape[1:]), table)
    wider = to_table(modes, lattice, (11, 7))
    np.testing.assert_allclose(wider[:, 2:-2, :-2], table)
    np.testing.assert_allclose([padded_table(part, (11, 7)) for part in table], wider)
    assert table_shape(lattice) == (15, 10)  # two thirds of the waves along each axis


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_inverses_in_closed_form(dim):
    a = np.random.default_rng(dim).normal(size=(10, dim, dim))
    a = a + np.swapaxes(a, 1, 2) + 5 * np.eye(dim)
    table, determinant = inverse([[a[:, i, j] for j in range(dim)] for i in range(dim)])
    found = np.moveaxis(np.array(table), 2, 0)
    np.testing.assert_allclose(found, np.linalg.inv(a), atol=1e-13)
    np.testing.assert_allclose(determinant, np.linalg.det(a), rtol=1e-12)


@pytest.fixture(scope="module")
def line():
    return tb.solve(burgers_line(), rtol=1e-6)


def test_a_steep_line_is_solved_to_the_tolerance_and_the_error_is_stated(line):
    x = line.problem.domain.interior(500, rule="random", seed=4).x
    for t, estimate in zip(line.times[1::9], line.error_estimate[1::9], strict=True):
        truth = line.problem.exact(x, t)
        error = np.linalg.norm(line(x, t) - truth) / np.linalg.norm(truth)
        assert error <= 1e-6
        assert error <= 10 * max(estimate, 1e-11)
        assert estimate <= 10 * max(error, 1e-10)
    assert line.facts["strategy"] == "deformed-waves"
    assert max(record.measured["compression"] for record in line.history) > 4


def test_between_stored_times_and_slopes(line):
    x = line.problem.domain.interior(300, rule="random", seed=5).x
    t = float(line.times[40] + line.times[41]) / 2
    np.testing.assert_allclose(line(x, t), line.problem.exact(x, t), atol=2e-7)
    slope = jax.vmap(jax.jacfwd(lambda z: cole_hopf(z, t)))(x)
    scale = np.abs(slope).max()
    np.testing.assert_allclose(line.gradient(x, t), slope, atol=2e-5 * scale)


def test_a_file_gives_the_same_values_back(line, tmp_path):
    back = tb.load(line.save(tmp_path / "line.safetensors"), problem=line.problem)
    x = line.problem.domain.interior(50, seed=6).x
    np.testing.assert_array_equal(back(x, 1.234), line(x, 1.234))


def deformed_plan(problem, times, tail, largest_step):
    space = DeformedSpace(problem, tail, float(times[-1]))
    steps = StableSteps(np.asarray(times, dtype=float), largest_step)
    start = State(space.start())
    return Plan(space, RungeKutta(SSP104), steps, start, lambda theta: _network(problem, theta), {})


def test_the_longest_step_is_that_of_the_shortest_wave():
    """Without a front nothing is bent, and the wave at the corner diffuses fastest."""
    nu, reach = 0.3, (SIZES[0] - 1) // 3
    equation = lambda u, x, t: nu * tb.laplacian(u)(x) - 0.01 * u(x) ** 2
    box = tb.PeriodicBox((0.0, 0.0), (np.pi, np.pi))
    space = DeformedSpace(tb.Problem(box, equation, {}, lambda x: 1.0 + 0 * x[0]), 1e-6, 1.0)
    theta = space.start()
    fastest = nu * 2 * (2 * reach) ** 2
    for _ in range(8):  # each look goes on from the last
        found = LIMIT / space.longest_step(theta, 0.0)
    assert 0.9 * fastest < found < 1.001 * fastest
    other = DeformedSpace(space.problem, 1e-6, 1.0)
    other.remember(space.memory())
    assert other.longest_step(theta, 0.0) == space.longest_step(theta, 0.0)


class Recalled:
    """A stage that begins where another ended, and keeps nothing."""

    name, interval, stopping, seconds_before = "march", 0.0, False, 0.0

    def __init__(self, snapshot):
        self.snapshot = snapshot

    def recall(self):
        return self.snapshot

    def note(self, given):
        pass

    offer = finish = note


def test_a_march_taken_up_again_gives_the_same_bits():
    choices = (burgers_line(), np.linspace(0, 0.5, 6), 1e-6, 0.02)
    whole = march(deformed_plan(*choices))
    plan, seen = deformed_plan(*choices), []
    half = march(plan, callbacks=[lambda record, state: seen.append(record) or len(seen) == 6])
    assert len(half.history) == 6 < len(whole.history)

    # Its last state was kept because it was stopped there; an undisturbed march has not kept it.
    kept = half.times.pop()
    half.thetas.pop()
    assert kept not in whole.times
    snapshot = half.snapshot(plan.space)
    again = march(deformed_plan(*choices), stage=Recalled(snapshot))
    assert len(again.thetas) == len(whole.thetas) == 6 and again.steps == whole.steps
    for ours, theirs in zip(again.thetas, whole.thetas, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert trajectory_of(again.snapshot(plan.space)).times == whole.times


def test_allen_cahn_on_a_square_runs_through_the_same_code():
    start = lambda x: 0.5 * jnp.sin(x[0]) * jnp.cos(x[1]) + 0.2 * jnp.cos(2 * x[0] + x[1])
    box = tb.PeriodicBox((0.0, 0.0), (2 * np.pi, 2 * np.pi))
    problem = tb.Problem(box, tb.AllenCahn(0.01), {}, start, t_end=1.0)
    plan = deformed_plan(problem, [0.0, 0.5, 1.0], 3e-8, 0.02)
    trajectory = march(plan)
    x = box.interior(400, rule="random", seed=7).x
    truth = solve_spectral(problem, resolution=96, dt=0.01, times=[1.0])(x, 1.0)
    found = plan.network(trajectory.thetas[-1]).evaluate(x)
    assert np.linalg.norm(found - truth) <= 1e-6 * np.linalg.norm(truth)


def test_a_front_in_the_plane_is_followed_and_its_error_known():
    """Burgers at an angle: Cole–Hopf along x + y, so u = (w, w)/√2-like with a known solution."""
    nu = 0.05

    def along(s, t):
        decay = jnp.exp(-2 * nu * t)
        return 2 * nu * decay * jnp.sin(s) / (1.2 + decay * jnp.cos(s))

    # u' = −u(u_x + u_y) + ν∇²u with u = w(x + y, t): w' = −2w·w_s + 2ν·w_ss.
    equation = lambda u, x, t: -u(x) * jnp.sum(tb.gradient(u)(x)) + nu * tb.laplacian(u)(x)
    exact = lambda x, t: along(x[0] + x[1], t)
    box = tb.PeriodicBox((-np.pi, -np.pi), (np.pi, np.pi))
    problem = tb.Problem(box, equation, {}, lambda x: exact(x, 0.0), exact=exact)
    solution = tb.solve(problem, 0.5, rtol=1e-4)
    assert solution.facts["strategy"] == "deformed-waves"
    x = box.interior(300, rule="random", seed=4).x
    for k in (0, 50, 100):
        truth = problem.exact(x, float(solution.times[k]))
        error = np.linalg.norm(solution(x, float(solution.times[k])) - truth) / np.linalg.norm(
            truth
        )
        assert error <= 1e-4 and error <= 10 * max(solution.error_estimate[k], 1e-11)


@pytest.mark.long
def test_burgers_meets_the_bar_at_time_one():
    solution = tb.solve(tb.problems.get("burgers"), 1.0)
    reference = solution.problem.reference
    truth = reference.values_at(1.0)
    error = np.linalg.norm(solution(reference.points, 1.0) - truth) / np.linalg.norm(truth)
    assert error <= 2.24e-6
    # Symmetries that the solver was not told of.
    x = reference.points[::61]
    u = solution(x, 1.0)
    np.testing.assert_allclose(solution(x + np.array([np.pi, 0.0]), 1.0), u, atol=1e-6)
    np.testing.assert_allclose(solution(-x, 1.0), -u, atol=1e-6)
