"""The weak form: eigenvalues, symmetry, and polynomial solutions that leave no residual."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg as sla
from scipy.optimize import brentq
from scipy.special import jn_zeros, jnp_zeros

import tengbc as tb
from tests.patches.domains import DOMAINS
from tests.patches.spaces import even, space, uneven
from tests.solver.manufactured_problems import manufactured

SQUARE = tb.Rectangle((0.0, 0.0), (np.pi, np.pi))


def problem(domain, equation, condition):
    conditions = dict.fromkeys(domain.segments, condition)
    return tb.Problem(domain, equation, conditions, lambda x: 0.0 * x[0])


def eigenvalues(domain, condition, patches, count=8):
    matrix = space(problem(domain, tb.Heat(1.0), condition), patches).stiffness.toarray()
    assert np.abs(matrix - matrix.T).max() <= 1e-11 * np.abs(matrix).max()
    return sla.eigvalsh(matrix)[:count]


def squares(first):
    numbers = sorted(i**2 + j**2 for i in range(first, 9) for j in range(first, 9))
    return np.array(numbers[:8], dtype=float)


def robin_numbers():
    """k tan(k/2) = 1 and −k cot(k/2) = 1: u + ∂ₙu = 0 at the ends of an interval of length 1."""
    even_ = [
        brentq(lambda k: k * np.sin(k / 2) - np.cos(k / 2), a, a + np.pi)
        for a in (0.0, 2 * np.pi, 4 * np.pi)
    ]
    odd = [
        brentq(lambda k: k * np.cos(k / 2) + np.sin(k / 2), a, a + np.pi)
        for a in (np.pi, 3 * np.pi, 5 * np.pi)
    ]
    return np.sort(np.square(even_ + odd))


def disk_numbers(zeros):
    found = [z**2 for m in range(6) for z in np.repeat(zeros(m, 4), 1 if m == 0 else 2)]
    return np.sort(found)[:8]


EXACT = {
    "square, Dirichlet": (SQUARE, tb.Dirichlet(0.0), squares(1)),
    "square, Neumann": (SQUARE, tb.Neumann(0.0), squares(0)),
    "disk, Dirichlet": (tb.Disk(), tb.Dirichlet(0.0), disk_numbers(jn_zeros)),
    "disk, Neumann": (
        tb.Disk(),
        tb.Neumann(0.0),
        np.sort(np.append(0.0, disk_numbers(jnp_zeros)))[:8],
    ),
    "interval, Robin": (tb.Interval(0.2, 1.2), tb.Robin(1.0, 1.0, 0.0), robin_numbers()),
    "interval, −Robin": (tb.Interval(0.2, 1.2), tb.Robin(-2.0, -2.0, 0.0), robin_numbers()),
}


@pytest.mark.parametrize("name", EXACT)
def test_eigenvalues_of_the_laplacian(name):
    domain, condition, exact = EXACT[name]
    errors = []
    for degree in (4, 6, 9):
        found = eigenvalues(domain, condition, even(domain, degree), len(exact))
        errors.append(np.max(np.abs(found - exact) / (1 + exact)))
    assert errors[1] < errors[0] / 5 and errors[2] < errors[1] / 20
    assert errors[0] < 0.2 and errors[2] < 5e-6


@pytest.mark.parametrize("name", ["holes", "holes-turned", "sector-reflex", "l-shape-turned"])
@pytest.mark.parametrize("condition", [tb.Dirichlet(0.0), tb.Neumann(0.0), tb.Robin(2.0, 0.1, 0.0)])
def test_positive_with_patches_of_all_kinds(name, condition):
    """Never negative; zero for the constant and Neumann's condition only."""
    domain = DOMAINS[name]
    found = eigenvalues(domain, condition, uneven(domain), 2)
    if condition.a.equals(0):
        assert abs(found[0]) <= 1e-10 and found[1] > 1e-2
    else:
        assert found[0] > 1e-2


def test_a_law_that_heats_where_it_is_hot():
    """∂ₙu = u: one eigenvalue of −u″ is negative, −k² with k tanh(k/2) = 1."""
    domain = tb.Interval(0.0, 1.0)
    found = eigenvalues(domain, tb.Robin(-1.0, 1.0, 0.0), even(domain, 8), 2)
    k = brentq(lambda k: k * np.tanh(k / 2) - 1, 0.1, 3.0)
    assert found[0] == pytest.approx(-(k**2), rel=1e-9)


def test_a_diffusion_that_vanishes_on_a_patch():
    domain = tb.Interval(0.0, 1.0)
    heat = tb.Heat(lambda x: jnp.maximum(x[0] - 0.5, 0.0) ** 2)
    found = space(problem(domain, heat, tb.Dirichlet(0.0)), even(domain, 4))
    assert np.isfinite(found.stiffness.toarray()).all()


# Patch tests.


def polynomial(x):
    """x²y + y, and in one dimension x³ − x."""
    return x[0] ** 2 * x[1] + x[1] if x.size > 1 else x[0] ** 3 - x[0]


def anisotropic(u, x, t):
    """2∂₁₁u + 1.4∂₁₂u + ∂₂₂u, less what it is for the polynomial."""
    h = jax.hessian(u)(x)
    return 2.0 * h[0, 0] + 1.4 * h[0, 1] + h[1, 1] - (4 * x[1] + 2.8 * x[0])


def variable(u, x, t):
    """A(x):∇²u + b(x)·∇u + c(x)u, less what it is for the polynomial."""
    h, g = jax.hessian(u)(x), jax.grad(u)(x)
    if x.size == 1:
        p, q, r = x[0] ** 3 - x[0], 3 * x[0] ** 2 - 1, 6 * x[0]
        return (2.0 + 0.3 * x[0]) * (h[0, 0] - r) + x[0] * (g[0] - q) - (u(x) - p)
    x, y = x
    second = (6.0 + 0.2 * x + 0.1 * y) * (h[0, 0] - 2 * y) + 0.2 * x * (h[0, 1] - 2 * x)
    first = (1.0 + 0.5 * y) * (g[0] - 2 * x * y) - 0.7 * x * (g[1] - x**2 - 1)
    return second + 5.0 * h[1, 1] + first + (0.3 * x - 1.0) * (u(jnp.stack([x, y])) - x**2 * y - y)


def laplacian(u, x, t):
    return (2.0 + jnp.sin(x[0])) * (tb.laplacian(u)(x) - 6 * x[0]) - 3 * (u(x) - x[0] ** 3 + x[0])


EQUATIONS = {
    "heat": tb.Heat(0.7) + tb.Source(lambda x: -1.4 * x[1]),
    "flow": tb.Heat(0.1)
    + tb.Transport([0.8, -0.4])
    + tb.Source(lambda x: 1.6 * x[0] * x[1] - 0.4 * (x[0] ** 2 + 1) - 0.2 * x[1]),
    "anisotropic": tb.Equation(anisotropic),
    "variable": tb.Equation(variable),
    "laplacian": tb.Equation(laplacian),
}
LAWS = {
    "dirichlet": lambda k: (1.0, 0.0),
    "neumann": lambda k: (0.0, 1.0),
    "robin": lambda k: (lambda x: 2.0 + x[0] ** 2 / 9, lambda x: 1.0),
    "mixed": lambda k: [(1.0, 0.0), (0.0, 1.0), (3.0, 0.5), (-1.0, -2.0)][k % 4],
}
GIVEN = [
    ("heat", "mixed", "l-shape-turned"),
    ("heat", "robin", "holes"),
    ("heat", "neumann", "disk-moved"),
    ("flow", "dirichlet", "holes-turned"),
    ("flow", "mixed", "sector-reflex"),
    ("anisotropic", "mixed", "disk-moved"),
    ("variable", "mixed", "triangle"),
    ("variable", "mixed", "interval"),
    ("laplacian", "robin", "interval"),
]


def residual(equation, laws, domain, patches):
    """K c − F for the coefficients c of a polynomial that solves the stationary problem."""
    still = tb.Equation(lambda u, x, t: 0.0 * u(x))  # boundary data from the solution, no source
    conditions = manufactured(
        domain,
        still,
        {segment: laws(k) for k, segment in enumerate(domain.segments)},
        lambda x, t: polynomial(x),
    ).conditions
    given = tb.Problem(domain, equation, conditions, polynomial)
    found = space(given, patches)
    c = found.head(found.fitted(given.initial))
    truth = given.initial(found.form.within.x)
    near = found.form.at_nodes(c)[:, 0]
    np.testing.assert_allclose(near, truth, atol=1e-10 * (1 + np.abs(truth).max()))
    left = found.rates(found.theta(c), 0.0)[:, 0]
    return np.abs(left).max() / np.abs(abs(found.stiffness) @ np.abs(c)).max()


@pytest.mark.parametrize("equation, laws, name", GIVEN)
def test_polynomial_solutions_leave_nothing(equation, laws, name):
    domain = DOMAINS[name]
    degrees = (4, 5, 6) if name in ("disk", "disk-moved", "holes", "sector-reflex") else (3, 4, 5)
    found = residual(EQUATIONS[equation], LAWS[laws], domain, uneven(domain, degrees))
    assert found <= (1e-9 if equation == "laplacian" else 3e-12)  # sin x is no polynomial


def test_a_polynomial_of_a_higher_degree_leaves_something():
    domain = DOMAINS["l-shape-turned"]
    with pytest.raises(AssertionError, match="tolerance"):
        residual(EQUATIONS["heat"], LAWS["mixed"], domain, uneven(domain, (2,)))


# Transport.


def swirl(u, x, t):
    """∂ₜu + a·∇u = 0 with a divergence-free a."""
    return (x[1] - 0.1) * jax.grad(u)(x)[0] - (x[0] + 0.2) * jax.grad(u)(x)[1]


@pytest.mark.parametrize("name", ["disk-moved", "holes", "l-shape-turned", "rectangle"])
@pytest.mark.parametrize("flow", ["straight", "swirl"])
def test_transport_does_not_make_energy(name, flow):
    """K + Kᵀ ≥ 0 where what enters is given and zero."""
    domain = DOMAINS[name]
    equation = tb.Transport([1.0, -0.6]) if flow == "straight" else tb.Equation(swirl)
    found = space(problem(domain, equation, tb.Dirichlet(0.0)), uneven(domain, (2, 3)))
    matrix = found.stiffness.toarray()
    least = sla.eigvalsh(matrix + matrix.T)[0]
    assert least >= -1e-10 * np.abs(matrix).max()


def test_transport_carries_what_enters():
    """u = g(x − t): a polynomial in x whose residual is zero with the values that enter given."""
    domain = DOMAINS["holes-turned"]
    degree = lambda x, t: (x[0] - 10.0) ** 3 + (x[1] - 4.0) ** 2 * (x[0] - 10.0)
    given = manufactured(
        domain,
        tb.Transport([1.0, -0.6]),
        {segment: (2.0, 0.0) for segment in domain.segments},
        degree,
    )
    found = space(given, uneven(domain))
    theta = found.fitted(given.initial)
    scale = np.abs(abs(found.stiffness) @ np.abs(found.head(theta))).max()
    assert np.abs(found.rates(theta, 0.0)).max() <= 1e-12 * scale
    without = space(problem(domain, tb.Transport([1.0, -0.6]), tb.Dirichlet(0.0)), found.patches)
    assert np.abs(without.rates(theta, 0.0)).max() > 1e-4 * scale
