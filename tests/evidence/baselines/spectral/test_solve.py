"""The Fourier solver against exact solutions: waves, order in time, every kind of term."""

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from benchmarks import burgers_reference
from tengbc import problems
from tengbc.errors import DivergedError, NonFiniteError, OutsideError, UsageError
from tengbc.evidence.baselines.spectral import solve_spectral

NU = 0.1


def cole_hopf(x, t):
    """Exact solution of u' = −u u_x + ν u_xx: −2ν φ_x/φ with φ = 1.6 + exp(−νt) cos x."""
    decay = jnp.exp(-NU * t)
    return 2 * NU * decay * jnp.sin(x[0]) / (1.6 + decay * jnp.cos(x[0]))


def burgers_line():
    box = tb.PeriodicBox((-np.pi,), (np.pi,))
    return tb.Problem(box, tb.Burgers(NU), {}, lambda x: cole_hopf(x, 0.0), exact=cole_hopf)


def error(problem, solution):
    x = problem.domain.interior(300, rule="random", seed=3).x
    t = solution.times[-1]
    truth = problem.exact(x, t)
    return np.linalg.norm(solution(x, t) - truth) / np.linalg.norm(truth)


def test_errors_fall_geometrically_with_the_waves():
    problem = burgers_line()
    found = [
        error(problem, solve_spectral(problem, 1.0, resolution=n, dt=5e-3, times=[1.0]))
        for n in (16, 32, 64)
    ]
    assert found[0] > 1e-3 and found[2] < 1e-8
    # Geometric: as many digits again for as many waves again, here 16 more and then 32 more.
    assert np.log(found[1] / found[2]) > 1.7 * np.log(found[0] / found[1]) > 2


def test_steps_are_of_fourth_order():
    problem = burgers_line()
    found = [
        error(problem, solve_spectral(problem, 2.0, resolution=128, dt=dt, times=[2.0]))
        for dt in (0.25, 0.125, 0.0625)
    ]
    slopes = np.log2(np.array(found[:-1]) / found[1:])
    assert np.all(np.abs(slopes - 4) < 0.2), slopes


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_diffusion_and_transport_are_exact(dim):
    lower, upper = np.arange(dim) - 1.0, np.arange(dim) + 1.5
    k = 2 * np.pi / 2.5
    velocity = np.linspace(0.3, 1.0, dim)

    def exact(x, t):
        moved = k * (x - velocity * t)
        return 1 + jnp.exp(-0.05 * k**2 * dim * t) * jnp.prod(jnp.sin(moved + 0.3))

    box = tb.PeriodicBox(tuple(lower), tuple(upper))
    equation = tb.Heat(0.05) + tb.Transport(velocity)
    problem = tb.Problem(box, equation, {}, lambda x: exact(x, 0.0), exact=exact)
    solution = solve_spectral(problem, 1.0, resolution=12, dt=0.5, times=[0.0, 1.0])
    assert error(problem, solution) < 1e-12
    assert solution(lower + 0.2, 1.0) == pytest.approx(problem.exact(lower + 0.2, 1.0), abs=1e-12)


def test_terms_without_a_symbol_are_taken_by_points():
    """Varying coefficients, a mixed derivative, a reaction and a source, all in one equation."""

    def exact(x, t):
        return jnp.exp(-t) * jnp.sin(x[0] + 2 * x[1]) + 0.5 * jnp.cos(x[0])

    kappa = lambda x: 0.2 + 0.1 * jnp.cos(x[1])
    velocity = lambda x, t: jnp.stack([jnp.sin(x[1]) + t, 0.5 + 0 * x[0]])
    mixed = tb.Equation(lambda u, x, t: 0.1 * tb.gradient(lambda y: tb.gradient(u)(y)[0])(x)[1])
    known = (
        tb.Heat(kappa) + tb.Transport(velocity) + mixed + tb.Reaction(lambda u: -(u**3))
    ) + tb.Burgers(0.05)

    def source(x, t):
        slope = -jnp.exp(-t) * jnp.sin(x[0] + 2 * x[1])
        return slope - known.rhs(lambda y: exact(y, t), x, t)

    box = tb.PeriodicBox((0.0, 0.0), (2 * np.pi, 2 * np.pi))
    equation = known + tb.Source(source)
    problem = tb.Problem(box, equation, {}, lambda x: exact(x, 0.0), exact=exact)
    solution = solve_spectral(problem, 0.5, resolution=32, dt=0.0125, times=[0.5])
    assert error(problem, solution) < 1e-8


def test_systems():
    def exact(x, t):
        wave = jnp.cos(2 * x[0])
        return jnp.exp(-t) * jnp.stack([wave * jnp.cos(t), wave * jnp.sin(t)])

    # u' = ∇²u/4 − v, v' = ∇²v/4 + u turns while it decays.
    turn = lambda u: jnp.stack([-u[1], u[0]])
    box = tb.PeriodicBox((0.0,), (2 * np.pi,))
    equation = tb.ReactionDiffusion(0.25, turn)
    problem = tb.Problem(box, equation, {}, lambda x: exact(x, 0.0), exact=exact)
    solution = solve_spectral(problem, 1.0, resolution=16, dt=0.02, times=[0.5, 1.0])
    assert error(problem, solution) < 1e-7


def test_burgers_agrees_with_the_packaged_reference():
    problem = problems.get("burgers")
    times = [0.25, 0.5, 0.75, 1.0]
    solution = burgers_reference.compute(1.0, first=256, most=512, dt=0.01, workers=1)
    assert solution.facts["raised"] == [(0.0, 256), (pytest.approx(0.7, abs=0.2), 512)]
    found = burgers_reference.samples(solution)
    for t, u in zip(solution.times, found, strict=True):
        expected = problem.reference.values_at(t).reshape(256, 256)[:128]
        assert np.linalg.norm(u - expected) < 5e-9 * np.linalg.norm(expected)
    x = problem.reference.points[5::997] % [np.pi, 7]
    for t in times:
        values = problem.reference.values_at(t)[5::997]
        np.testing.assert_allclose(solution(x, t), values, atol=5e-9)


def test_progress_and_a_stop_on_request():
    seen = []

    def report(phase, fraction, known):
        seen.append((phase, fraction))
        return known["time"] > 0.45

    times = np.linspace(0, 1, 11)
    solution = solve_spectral(burgers_line(), 1.0, dt=0.02, times=times, progress=report)
    np.testing.assert_allclose(solution.times, times[:5])
    assert seen[-1][0] == "march" and 0.45 < seen[-1][1] < 0.5
    assert len(solution.spectra) == len(solution.tails) == 5
    assert solution.total_seconds > 0 and solution.facts["steps"] == len(seen)


def test_what_is_refused():
    problem = burgers_line()
    with pytest.raises(UsageError, match="periodic box"):
        solve_spectral(problems.get("heat-robin"))
    with pytest.raises(UsageError, match="t_end"):
        solve_spectral(problem)
    with pytest.raises(UsageError, match="even"):
        solve_spectral(problem, 1.0, resolution=33)
    with pytest.raises(UsageError, match="ascend"):
        solve_spectral(problem, 1.0, times=[0.5, 2.0])
    with pytest.raises(UsageError, match="dt is"):
        solve_spectral(problem, 1.0, dt=float("nan"))
    with pytest.raises(OutsideError, match="no values at"):
        solve_spectral(problem, 0.1, times=[0.1])([0.0], 0.05)
    third = tb.Equation(lambda u, x, t: tb.laplacian(lambda y: tb.gradient(u)(y)[0])(x))
    beam = tb.Problem(problem.domain, third, {}, problem.initial_function)
    with pytest.raises(UsageError, match="third order"):
        solve_spectral(beam, 1.0)
    steep = tb.Problem(problem.domain, tb.Heat(0.01) + tb.Burgers(1e-6), {}, lambda x: 9 * x[0])
    with pytest.raises(DivergedError, match="smaller dt"):
        solve_spectral(steep, 50.0, dt=1.0)
    pole = tb.Problem(
        problem.domain, tb.Reaction(lambda u: 1 / u), {}, lambda x: jnp.cos(x[0] * 0.0) - 1
    )
    with pytest.raises(NonFiniteError, match="not finite at"):
        solve_spectral(pole, 1.0)
