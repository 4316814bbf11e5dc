"""Radau IIA: its tableau against the simplifying assumptions, its stability, its measured order."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from tengbc.projection import Fit
from tengbc.schemes import RadauIIA
from tengbc.schemes.radau import collocation_matrix, radau_nodes
from tengbc.spaces import State
from tengbc.spaces.interface import AbstractLinearisedSpace
from tests.orders.manufactured import CASES, slope
from tests.schemes.spaces import marched_error, polynomial_space, still

STAGES = pytest.mark.parametrize("stages", [1, 2, 3, 4, 5, 6, 7])


def tableau(stages):
    nodes = radau_nodes(stages)
    a = collocation_matrix(nodes)
    return a, a[-1], nodes


@STAGES
def test_quadrature_b(stages):
    """B(2s − 1): Σ bⱼ cⱼ^{k−1} = 1/k."""
    _, b, c = tableau(stages)
    for k in range(1, 2 * stages):
        assert abs(b @ c ** (k - 1) - 1 / k) <= 1e-13, k


@STAGES
def test_stages_c(stages):
    """C(s): Σⱼ aᵢⱼ cⱼ^{k−1} = cᵢᵏ/k."""
    a, _, c = tableau(stages)
    for k in range(1, stages + 1):
        assert np.abs(a @ c ** (k - 1) - c**k / k).max() <= 1e-13, k


@STAGES
def test_adjoint_d(stages):
    """D(s − 1): Σᵢ bᵢ cᵢ^{k−1} aᵢⱼ = bⱼ(1 − cⱼᵏ)/k."""
    a, b, c = tableau(stages)
    for k in range(1, stages):
        assert np.abs((b * c ** (k - 1)) @ a - b * (1 - c**k) / k).max() <= 1e-13, k


def test_two_stages_are_those_of_the_books():
    a, b, c = tableau(2)
    np.testing.assert_allclose(a, [[5 / 12, -1 / 12], [3 / 4, 1 / 4]], atol=1e-15)
    np.testing.assert_allclose(b, [3 / 4, 1 / 4], atol=1e-15)
    np.testing.assert_allclose(c, [1 / 3, 1], atol=1e-15)


def growth(stages, z):
    """R(z) = 1 + z bᵀ(1 − zA)⁻¹1."""
    a, b, _ = tableau(stages)
    return 1 + z * b @ np.linalg.solve(np.eye(stages) - z * a, np.ones(stages))


@STAGES
def test_stable_on_the_whole_left_half_plane(stages):
    """|R(iy)| ≤ 1 and no pole on the left give |R| ≤ 1 there, by the maximum principle."""
    for y in np.geomspace(1e-4, 1e6, 200):
        assert abs(growth(stages, 1j * y)) <= 1 + 1e-13
    assert (np.linalg.eigvals(tableau(stages)[0]).real > 0).all()


@STAGES
def test_stiff_parts_vanish_at_once(stages):
    """R(∞) = 0: damped like 1/|z|."""
    assert abs(growth(stages, -1e9)) <= 2e-7
    assert abs(growth(stages, 1e9j)) <= 2e-7


@STAGES
def test_the_growth_factor_is_that_of_the_exponential(stages):
    """R(z) is the Padé approximation of eᶻ of degrees s − 1 and s."""
    s, z = stages, -0.5
    # The error of the (s − 1, s) Padé approximation: (−1)^s·s!(s − 1)!/((2s − 1)!(2s)!)·z^{2s}.
    constant = math.factorial(s) * math.factorial(s - 1)
    constant /= math.factorial(2 * s - 1) * math.factorial(2 * s)
    expected = constant * abs(z) ** (2 * s)
    found = abs(growth(stages, z) - np.exp(z))
    if expected > 1e-13:
        assert 0.4 * expected <= found <= 2 * expected
    else:
        assert found <= 1e-14


@STAGES
def test_name_and_order(stages):
    assert RadauIIA(stages).order == 2 * stages - 1
    assert RadauIIA(stages).name == f"radau{2 * stages - 1}"


# Measured orders, in a space of polynomials that holds the solution at all times.


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    "stages, steps, bound", [(3, (16, 32), 5e-6), (5, (8, 16), 2e-8)], ids=["radau5", "radau9"]
)
def test_order_with_boundary_data_that_move(name, stages, steps, bound):
    """At least s + 1: what the stages miss at the boundary is of the order of the stages, s."""
    if name == "heat-radiation":  # u³ on the boundary: the stages converge for small steps only
        steps = [2 * n for n in steps]
    errors = [marched_error(polynomial_space(name), RadauIIA(stages), n, 2.0) for n in steps]
    assert slope(errors, steps) > stages + 1 - 0.35
    assert errors[-1] < bound


# Where the boundary asks for the same at all times, the order is that of the tableau.


STILL = {
    "dirichlet": lambda: still("dirichlet", lambda t: 0.3),
    "neumann": lambda: still("neumann", lambda t: 0.3),
    "robin": lambda: still("robin", lambda t: 0.3),
    "κ(t)": lambda: still("robin", lambda t: 0.3 + 0.25 * jnp.sin(2 * t)),
    "semilinear": lambda: still("dirichlet", lambda t: 0.3, reaction=0.5),
}


@pytest.mark.parametrize("name", STILL)
def test_full_order(name):
    space = STILL[name]()
    assert space.linear != (name in ("κ(t)", "semilinear"))
    five = [marched_error(space, RadauIIA(3), n, 2.0) for n in (16, 32)]
    nine = [marched_error(space, RadauIIA(5), n, 2.0) for n in (6, 11)]
    if name == "semilinear":  # sin(u)·u leaves the space: what is projected away is of both orders
        assert slope(five, (16, 32)) > 4.85
    else:
        assert slope(five, (16, 32)) == pytest.approx(5, abs=0.15)
    assert slope(nine, (6, 11)) > 8.5
    assert five[-1] < 5e-6 and nine[-1] < 1e-7


def test_a_coefficient_that_grows_eighty_times_over():
    """The matrices follow it, where the iteration around the old ones would not converge."""
    space = still("neumann", lambda t: 0.05 + t**2)
    assert marched_error(space, RadauIIA(5), 16, 2.0) < 1e-7
    assert space.linearised_at > 0.5


# The embedded error.


class Scalar(AbstractLinearisedSpace):
    """ċ = λ(c − cos t) − sin t, whose solution is cos t: one unknown, no boundary."""

    def __init__(self, rate):
        self.rate = rate

    linear = True

    head = theta = rows = staticmethod(lambda c: c)

    def remainders(self, heads, times):
        found = [self.remainder(c, t)[0] for c, t in zip(heads, times, strict=True)]
        return np.stack(found), np.zeros((len(found), 0))

    def remainder(self, c, t):
        return np.array([-self.rate * math.cos(t) - math.sin(t)]), np.zeros(0)

    def solve(self, tau, right, data):
        return right / (1 - tau * self.rate)

    def rates(self, theta, t):
        return (self.rate * theta + self.remainder(theta, t)[0])[:, None]

    def boundary_fit(self, c, t):
        return Fit(c, 0.0, 0.0, 1.0, 1)

    linearise = values = project = size = measured = noise = propagator = None
    memory = remember = None


@pytest.mark.parametrize("stages", [1, 3, 5])
@pytest.mark.parametrize("rate", [-1.0, -1e6], ids=["mild", "stiff"])
def test_the_embedded_error(stages, rate):
    """Of order s + 1 in a step, and larger than the step's own error, of order 2s."""
    scheme, t = RadauIIA(stages, estimates=True), 0.4
    found, own, lengths = [], [], np.array([0.4, 0.2]) if stages == 5 else np.array([0.1, 0.05])
    for dt in lengths:
        state = State(np.array([math.cos(t)]))
        new, (fit,) = scheme.prepare(Scalar(rate), dt)(state, t)
        found.append(fit.step_error)
        own.append(abs(new.theta[0] - math.cos(t + dt)))
        assert [time for time, _ in new.stages] == (t + scheme.nodes[:-1] * dt).tolist()
        for time, theta in new.stages:
            assert theta[0] == pytest.approx(math.cos(time), abs=5 * dt ** (stages + 1))
    if rate == -1.0:
        measured = math.log(found[0] / found[1]) / math.log(lengths[0] / lengths[1])
        assert measured == pytest.approx(stages + 1, abs=0.3)
        assert all(e > o for e, o in zip(found, own, strict=True))
    else:  # a stiff component is divided by its stiffness: no order is lost to it
        assert max(found) <= 10 * max(max(own), 1e-12) + max(lengths) ** (stages + 1)


def test_the_embedded_error_is_exact_for_polynomials():
    """Of ċ = f(t) with f of degree below s nothing is missed; of degree s, something is."""
    scheme = RadauIIA(3, estimates=True)
    for degree, exact in ((2, True), (3, False)):
        space = Scalar(0.0)
        space.remainder = lambda c, t, d=degree: (np.array([(d + 1) * t**d]), np.zeros(0))
        _, (fit,) = scheme.prepare(space, 0.5)(State(np.array([0.2 ** (degree + 1)])), 0.2)
        assert (fit.step_error < 1e-13) == exact
