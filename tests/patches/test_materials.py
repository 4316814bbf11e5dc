"""Regions with laws of their own: exact solutions leave no residual, orders, estimates, files."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg as sla
from scipy.optimize import brentq

import tengbc as tb
from tengbc.patches.laws import Laws
from tengbc.patches.library import cells_of, form_over
from tengbc.spaces.energy import EnergySpace

DISK = tb.Rectangle().with_regions(core=tb.Disk(0.3, (0.5, 0.5)))
LAYERS = tb.Rectangle((0.0, 0.0), (1.7, 1.0)).with_regions(
    core=tb.Rectangle((0.0, 0.0), (0.6, 1.0)), end=tb.Rectangle((1.2, 0.0), (1.7, 1.0))
)
LINE = tb.Interval(0.0, 2.0).with_regions(core=tb.Interval(0.0, 0.7), end=tb.Interval(1.5, 2.0))
DOMAINS = {"disk": DISK, "layers": LAYERS, "line": LINE}


def space(problem, degrees=(4, 3), level=1):
    """Leaves of a level, in the regions of different degrees and one level apart."""
    cuts, laws, leaves = cells_of(problem.domain), Laws(problem), {}
    for k, cut in enumerate(cuts):
        cells = set(cut.grid.cells)
        for _ in range(level + k % 2):
            cells = {child for cell in cells for child in cell.children}
        leaves |= dict.fromkeys(cells, degrees[k % len(degrees)])
    return EnergySpace(laws, form_over(cuts, tuple(sorted(leaves.items())), laws.components))


def slope(u, x, t):
    return jax.jacfwd(lambda y: u(y, t))(x)


def manufactured(domain, fields, kappas, resistance, robin=True, t_end=1.0):
    """A problem with the solution u_k in region k, whatever the fields: jumps are made to fit.

    A κ is a number, a matrix, or a function of u.
    """
    names, equations, contacts = domain.region_names, {}, {}

    def flux(k, x, t):
        kappa = kappas[k](fields[k](x, t)) if callable(kappas[k]) else jnp.asarray(kappas[k])
        g = slope(fields[k], x, t)
        return kappa @ g if kappa.ndim == 2 else kappa * g

    for k, name in enumerate(names):

        def source(x, t, k=k):
            rate = jax.jvp(lambda s: fields[k](x, s), (t,), (1.0,))[1]
            return rate - jnp.trace(jax.jacfwd(lambda y: flux(k, y, t))(x))

        equations[name] = tb.Diffusion(kappas[k]) + tb.Source(source)
    for name in domain.interfaces:
        i, j = (names.index(part) for part in name.split("|"))

        def normal(x, name=name):
            if domain is not DISK:
                points = domain.interface_points(name, 1)
                return jnp.asarray(points.normal[0])
            return (x - 0.5) / jnp.linalg.norm(x - 0.5)

        def flows(x, t, i=i, j=j, normal=normal):
            return jnp.stack([flux(k, x, t) @ normal(x) for k in (i, j)])

        def jump(x, t, i=i, j=j, flows=flows):
            return fields[i](x, t) - fields[j](x, t) + resistance * jnp.mean(flows(x, t))

        contacts[name] = tb.Contact(
            resistance, jump, lambda x, t, flows=flows: flows(x, t)[0] - flows(x, t)[1]
        )
    where = domain.region_of

    def exact(x, t):
        here = where(np.atleast_2d(x))
        values = np.stack([np.asarray(jax.vmap(u, (0, None))(np.atleast_2d(x), t)) for u in fields])
        return values[here, np.arange(len(here))]

    conditions = {}
    for segment in domain.segments:
        part = next(k for k, p in enumerate(domain.parts) if segment in p.segments)
        only = [k for k, p in enumerate(domain.parts) if segment in p.segments] == [part]
        u = fields[part]
        if robin and only:
            edge = domain.boundary(segment, 1).normal[0]
            data = lambda x, t, u=u, edge=edge: 2 * u(x, t) + slope(u, x, t) @ edge
            conditions[segment] = tb.Robin(2.0, 1.0, data)
        else:
            along = lambda x, t: jnp.where(
                x[0] < 0.6, fields[0](x, t), jnp.where(x[0] > 1.2, fields[1](x, t), fields[2](x, t))
            )
            conditions[segment] = tb.Dirichlet(u if only else along)
    initial = {name: (lambda x, u=fields[k]: u(x, 0.0)) for k, name in enumerate(names)}
    problem = tb.Problem(
        domain, equations, conditions, initial, interfaces=contacts, t_end=t_end, rtol=1e-4
    )
    return problem, exact


SQUARES = [
    lambda x, t: jnp.exp(-t) * (1 + jnp.sum(x**2) + x[0]),
    lambda x, t: jnp.exp(-t) * (2 - x[-1] + 0.5 * x[0] ** 2),
    lambda x, t: jnp.exp(-t) * (0.3 + x[0] * x[-1]),
]
"""Polynomials of degree two, which the features hold."""


def rate(of, c, t=0.0):
    return of.remainder(c, t)[0] - of.moved(c)


@pytest.mark.parametrize("resistance", [0.0, 0.3])
@pytest.mark.parametrize("name", DOMAINS)
def test_polynomials_with_jumps_leave_no_residual(name, resistance):
    domain = DOMAINS[name]
    problem, _ = manufactured(domain, SQUARES, (3.0, 0.5, 1.7), resistance)
    of = space(problem)
    c = of.head(of.fitted(problem.initial))
    assert np.linalg.norm(rate(of, c) + c) < 1e-8 * np.linalg.norm(c)


def test_a_matrix_leaves_no_residual():
    kappa = np.array([[2.0, 0.5], [0.5, 1.0]])
    problem, _ = manufactured(LAYERS, SQUARES, (kappa, 0.5, 1.7), 0.2)
    of = space(problem)
    c = of.head(of.fitted(problem.initial))
    assert np.linalg.norm(rate(of, c) + c) < 1e-8 * np.linalg.norm(c)


@pytest.mark.parametrize("name", DOMAINS)
def test_diffusion_that_depends_on_u_leaves_no_residual_wherever_it_is_linearised(name):
    kappas = (lambda u: 1 + u, 0.5, lambda u: 2 + u**2)
    problem, _ = manufactured(DOMAINS[name], SQUARES, kappas, 0.3)
    of = space(problem, degrees=(5, 5))
    c = of.head(of.fitted(problem.initial))
    for shift in (0.0, 0.1):
        of.linearise(0.0, (1 + shift) * c)
        assert np.linalg.norm(rate(of, c) + c) < 1e-7 * np.linalg.norm(c)


def test_the_linearised_form_is_the_derivative():
    kappas = (lambda u: 1 + u, 0.5, lambda u: 2 + u**2)
    problem, _ = manufactured(DISK, SQUARES, kappas, 0.3)
    of = space(problem)
    c = of.head(of.fitted(problem.initial))
    of.linearise(0.0, c)
    step = 1e-4 * np.random.default_rng(1).normal(size=len(c)) / np.arange(1, len(c) + 1)
    ahead, behind = of.remainder(c + step, 0.0)[0], of.remainder(c - step, 0.0)[0]
    # All that is linear stands in K: the remainder does not change to first order.
    assert np.linalg.norm(ahead - behind) < 1e-3 * np.linalg.norm(of.moved(2 * step))


def wall_number(kappas, resistance):
    """The lowest k: sin(kx/√κ₁) and B·sin(k(2 − x)/√κ₂) meet at x = 1."""
    a, b = np.sqrt(kappas)

    def apart(k):
        other = -a * np.cos(k / a) / (b * np.cos(k / b))
        return np.sin(k / a) - other * np.sin(k / b) + resistance * a * k * np.cos(k / a)

    return brentq(apart, 1.0, 3.0)


@pytest.mark.parametrize("resistance", [0.0, 0.5])
def test_eigenvalues_of_two_layers_converge_with_twice_the_degree(resistance):
    domain = tb.Interval(0.0, 2.0).with_regions(a=tb.Interval(0.0, 1.0), b=tb.Interval(1.0, 2.0))
    kappas = (1.0, 5.0)
    problem = tb.Problem(
        domain,
        tb.Diffusion(dict(zip("ab", kappas, strict=True))),
        {"left": tb.Dirichlet(0.0), "right": tb.Dirichlet(0.0)},
        0.0,
        interfaces={"a|b": tb.Contact(resistance)},
    )
    exact, errors = wall_number(kappas, resistance) ** 2, []
    for level in (2, 3, 4):
        matrix = space(problem, (2, 2), level).stiffness.toarray()
        assert np.abs(matrix - matrix.T).max() < 1e-11 * np.abs(matrix).max()
        errors.append(abs(sla.eigvalsh(matrix)[0] - exact))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert errors[0] < 0.05 * exact and (orders > 3.5).all()


WAVES = [
    lambda x, t: jnp.exp(-t) * jnp.sin(2 * x[0] + x[-1] + 1),
    lambda x, t: jnp.exp(-2 * t) * jnp.cos(x[0] - 2 * x[-1]),
    lambda x, t: jnp.exp(-t) * jnp.sin(3 * x[0]) + 1,
]


@pytest.mark.parametrize("rtol", [1e-2, 1e-5])
@pytest.mark.parametrize("name", DOMAINS)
def test_solutions_are_as_accurate_as_they_say(name, rtol):
    problem, exact = manufactured(DOMAINS[name], WAVES, (2.0, 1.0, 0.5), 0.2, t_end=0.5)
    solution = tb.solve(problem, rtol=rtol)
    x = problem.domain.interior(400, seed=3).x
    errors = [
        np.linalg.norm(solution(x, t) - exact(x, t)) / np.linalg.norm(exact(x, t))
        for t in solution.times
    ]
    assert max(errors) <= rtol
    assert max(errors) <= 3 * max(solution.error_estimate.max(), 1e-2 * rtol)


def test_a_heated_core_with_contact_is_kept_in_files_and_flows_into_the_rest(tmp_path):
    problem = tb.Problem(
        DISK,
        tb.Diffusion({"core": 10.0, "rest": 1.0}) + tb.Source({"core": 5.0}),
        dict.fromkeys(DISK.segments, tb.Dirichlet(0.0)),
        0.0,
        interfaces={"rest|core": tb.Contact(resistance=0.1)},
        t_end=1.0,
    )
    solution = tb.solve(problem, rtol=1e-4)
    generated = 5 * np.pi * 0.3**2  # at t = 1 all is steady
    assert solution.flux("core|rest", 1.0) == pytest.approx(-generated, rel=1e-3)
    assert solution.flux("rest|core", 1.0) == pytest.approx(generated, rel=1e-3)
    assert solution.flux(None, 1.0) == pytest.approx(-generated, rel=1e-3)
    near = np.array([[0.8 - 1e-9, 0.5], [0.8 + 1e-9, 0.5]])
    u, q = solution(near, 1.0), -10 * solution.gradient(near[0], 1.0)[0]
    assert u[0] - u[1] == pytest.approx(0.1 * q, rel=1e-3)
    solution.save(tmp_path / "core.npz")
    again = tb.load(tmp_path / "core.npz")
    x = DISK.interior(200).x
    assert np.array_equal(again(x, 0.7), solution(x, 0.7))
    assert again.problem.explain() == problem.explain()
    assert np.array_equal(tb.solve(again.problem, rtol=1e-4)(x, 0.7), solution(x, 0.7))
    numbers = solution.to_xarray(5, [1.0])["region"].values
    assert numbers[2, 2] == 0 and numbers[0, 0] == 1


def test_explain_names_regions_and_interfaces():
    equation = {"core": tb.Heat(2.0), "rest": tb.Heat(1.0) + tb.Transport([1.0, 0.0])}
    conditions = dict.fromkeys(DISK.segments, tb.Dirichlet(0.0))
    text = tb.Problem(DISK, equation, conditions, 0.0).explain()
    for part in ("in core", "2·∇²u", "in rest", "at core|rest", "u continuous", "local-features"):
        assert part in text
