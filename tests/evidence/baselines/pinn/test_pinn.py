"""Space–time networks solve an easy problem, and every kind of row is what it should be."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.evidence.baselines.pinn import PointCounts, solve_pinn
from tengbc.evidence.baselines.pinn.network import space_time_network
from tengbc.evidence.baselines.pinn.optimisers import Bfgs, Engd
from tengbc.evidence.baselines.pinn.rows import Rows
from tengbc.networks import Parameters
from tengbc.solution.measure import Truth

FEW = PointCounts(interior=300, initial=60, boundary=60)


def decaying_wave() -> tb.Problem:
    """A quarter wave on an interval: its value is given at one end, its slope at the other."""

    def exact(x, t):
        return jnp.exp(-0.1 * t) * jnp.sin(x[0])

    return tb.Problem(
        domain=tb.Interval(0.0, np.pi / 2),
        equation=tb.Heat(kappa=0.1),
        conditions={"left": tb.Dirichlet(0.0), "right": tb.Neumann(0.0)},
        initial=lambda x: jnp.sin(x[0]),
        exact=exact,
        t_end=1.0,
    )


@pytest.mark.parametrize("optimiser, steps, bound", [("bfgs", 250, 1e-3), ("engd", 150, 1e-5)])
def test_an_easy_problem_is_solved(optimiser, steps, bound):
    problem = decaying_wave()
    solution = solve_pinn(problem, optimiser=optimiser, steps=steps, points=FEW, widths=(20,))
    errors = Truth(problem).errors(solution.at_times, 1.0)
    assert errors is not None and errors.worst <= bound
    assert solution(np.array([1.0]), 0.5) == pytest.approx(np.exp(-0.05) * np.sin(1.0), abs=1e-3)


class Exact:
    """Stands in for a network: the exact solution times θ."""

    def __init__(self, problem, theta):
        self.problem, self.theta = problem, theta

    def __call__(self, x, t):
        return self.theta[0] * self.problem.exact_function(x, t)


@pytest.mark.parametrize(
    "name", ["heat-dirichlet", "heat-flux", "heat-robin", "heat-mixed", "transport"]
)
def test_the_exact_solution_makes_every_row_zero(name):
    problem = tb.problems.get(name)
    rows = Rows(problem, lambda theta: Exact(problem, theta), 1.0, PointCounts(20, 10, 12), 0, 1.0)
    assert rows.loss_and_gradient(np.ones(1))[0] < 1e-20
    assert rows.loss_and_gradient(1.01 * np.ones(1))[0] > 1e-9


def small_rows(components: int = 0) -> tuple[np.ndarray, Rows]:
    domain = tb.PeriodicBox((0.0,), (1.0,)) if components else tb.Interval(0.0, 1.0)
    law = tb.Robin(a=1.0, b=0.5, v=lambda x, t: t)
    problem = tb.Problem(
        domain=domain,
        equation=lambda u, x, t: 0.1 * tb.laplacian(u)(x) - u(x) ** 3,
        conditions={} if components else {"left": law, "right": law},
        initial=(lambda x: jnp.stack([jnp.cos(6 * x[0])] * 2)) if components else 1.0,
    )
    parameters = Parameters(space_time_network(domain, 2.0, components, (6,), 0))
    return parameters.start, Rows(problem, parameters.network, 2.0, PointCounts(9, 4, 4), 0, 3.0)


@pytest.mark.parametrize("components", [0, 2])
def test_chunks_are_the_jacobian_of_the_loss(components):
    theta, rows = small_rows(components)
    loss, gradient = rows.loss_and_gradient(theta)
    residual = np.concatenate([r for r, _ in rows.chunks(theta)])
    jacobian = np.concatenate([j for _, j in rows.chunks(theta)])
    assert len(residual) == rows.count
    assert residual @ residual == pytest.approx(loss, rel=1e-12)
    np.testing.assert_allclose(2 * jacobian.T @ residual, gradient, rtol=1e-9, atol=1e-12)


def test_periodic_networks_are_periodic():
    network = space_time_network(tb.PeriodicBox((0.0,), (1.0,)), 1.0, 0, (6,), 0)
    with jax.enable_x64(True):
        left, right = (network(jnp.array([x]), 0.3) for x in (0.2, 1.2))
    assert float(left) == pytest.approx(float(right), abs=1e-13)


class Quadratic:
    """‖A(θ − 1)‖², badly scaled."""

    def __init__(self, size: int):
        self.scales = np.logspace(0, 2, size)
        self.count = size

    def residual(self, theta):
        return self.scales * (theta - 1)

    def loss_and_gradient(self, theta):
        r = self.residual(theta)
        return float(r @ r), 2 * self.scales * r

    def losses(self, theta, step, sizes):
        return np.array([np.sum(self.residual(theta - s * step) ** 2) for s in sizes])

    def chunks(self, theta):
        yield self.residual(theta), np.diag(self.scales)


def test_quasi_newton_steps_end_at_the_minimum():
    training = Bfgs(Quadratic(12), np.zeros(12))
    for _ in range(150):
        if not training.step():
            break
    np.testing.assert_allclose(training.theta, 1.0, atol=1e-6)


@pytest.mark.parametrize("count", [12, 5])
def test_one_natural_gradient_solves_a_linear_problem(count):
    rows = Quadratic(12)
    rows.count = count  # fewer rows than parameters: the kernel form
    training = Engd(rows, np.zeros(12), damping=1e-14)
    assert training.step()
    np.testing.assert_allclose(training.theta, 1.0, atol=1e-6)


def test_training_stops_on_request_and_keeps_what_it_has():
    solution = solve_pinn(
        decaying_wave(),
        points=FEW,
        widths=(6,),
        steps=50,
        progress=lambda phase, fraction, known: known.get("step") == 2,
    )
    assert solution.result.outcome is tb.Outcome.INTERRUPTED
    assert solution.facts["steps"] == 2
    assert np.isfinite(solution(np.array([0.5]), 1.0))


def test_outside_is_refused():
    solution = solve_pinn(decaying_wave(), points=FEW, widths=(4,), steps=1)
    with pytest.raises(tb.OutsideError):
        solution(np.array([9.0]), 0.5)
    with pytest.raises(tb.OutsideError):
        solution(np.array([0.5]), 1.5)
