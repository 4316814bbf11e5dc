"""Manufactured problems whose solution lies in a small linear space, so that all error is in time.

u* is a polynomial in x with coefficients that oscillate in time; the source ∂ₜu* − L(u*) and the
boundary data a·u* + b·∂ₙu* are made from it by differentiation, so they depend on time too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np

import tengbc as tb
from tengbc.coefficient import CoefficientLike, coefficient
from tengbc.conditions import AbstractCondition, Condition, Robin
from tengbc.equations import AbstractEquation, ReactionDiffusion, Source
from tengbc.geometry.domain import Domain
from tengbc.networks import Basis
from tengbc.networks.network import with_head
from tengbc.projection import Collocation, Fit, SeparableProjection
from tengbc.schemes import RungeKutta
from tengbc.spaces import NetworkSpace, State

NORMALS = {
    "left": (-1.0, 0.0),
    "right": (1.0, 0.0),
    "bottom": (0.0, -1.0),
    "top": (0.0, 1.0),
}


def chebyshev(x, degree: int):
    """T₀ … T_degree at a number x."""
    values = [jnp.ones_like(x), x]
    for _ in range(degree - 1):
        values.append(2 * x * values[-1] - values[-2])
    return values


def polynomials(dim: int, degree: int) -> Callable:
    """Products of Chebyshev polynomials up to a total degree; the head has its own constant."""

    def functions(x):
        if dim == 1:
            return jnp.stack(chebyshev(x[0], degree)[1:])
        first, second = chebyshev(x[0], degree), chebyshev(x[1], degree)
        total = [(i, j) for i in range(degree + 1) for j in range(degree + 1 - i) if i + j]
        return jnp.stack([first[i] * second[j] for i, j in total])

    return functions


def solution(x, t):
    """u*(x, t): of degree 4 in x, each coefficient with its own frequency and phase."""
    y = x[1] if x.size > 1 else 0.5
    return (
        jnp.cos(2.0 * t + 0.3)
        + jnp.cos(3.0 * t + 1.0) * x[0]
        + jnp.cos(2.5 * t + 0.5) * (x[0] ** 2 + y)
        + jnp.cos(3.5 * t + 2.0) * x[0] ** 3
        + jnp.cos(3.0 * t + 0.1) * x[0] ** 2 * (x[0] ** 2 - y**2)
    )


def law(a: CoefficientLike, b: CoefficientLike) -> Callable[[Callable], AbstractCondition]:
    """a·u + b·∂ₙu = v, with v from u*."""
    a, b = coefficient(a, "a"), coefficient(b, "b")

    def make(normal: Callable) -> AbstractCondition:
        def v(x, t):
            u = lambda y: solution(y, t)
            return a(x, t) * u(x) + b(x, t) * tb.normal_derivative(u)(x, normal(x))

        return Robin(a, b, v)

    return make


def radiation(normal: Callable) -> AbstractCondition:
    """∂ₙu + u³ = v(x, t), nonlinear in u, with v from u*."""

    def residual(u, x, n, t):
        exact = lambda y: solution(y, t)
        return (
            tb.normal_derivative(u)(x, n)
            - tb.normal_derivative(exact)(x, n)
            + (u(x) ** 3 - exact(x) ** 3)
        )

    return Condition(residual)


DIRICHLET, NEUMANN, ROBIN = law(1.0, 0.0), law(0.0, 1.0), law(1.0, 0.5)
MOVING = law(lambda x, t: 2.0 + jnp.sin(3.0 * t), lambda x, t: 1.0 + 0.5 * jnp.cos(2.0 * t))
"""A Robin condition whose a and b depend on time too."""


@dataclass(frozen=True)
class Case:
    """An equation on a domain with one kind of condition on each segment, and a basis."""

    name: str
    equation: AbstractEquation
    conditions: dict[str, Callable]
    domain: Domain = field(default_factory=lambda: tb.Interval(-1.0, 1.0))
    degree: int = 5
    fits: int = 1
    """Gauss–Newton steps of one fit: one is exact where all conditions are linear."""

    def problem(self) -> tb.Problem:
        equation, dim = self.equation, self.domain.dim

        def source(x, t):
            rate = jax.jvp(lambda s: solution(x, s), (t,), (1.0,))[1]
            return rate - equation.rhs(lambda y: solution(y, t), x, t)

        def normal(segment):
            if segment == "circle":
                return lambda x: x
            return lambda x: jnp.array(NORMALS[segment][:dim])

        return tb.Problem(
            domain=self.domain,
            equation=equation + Source(source),
            conditions={name: make(normal(name)) for name, make in self.conditions.items()},
            initial=lambda x: solution(x, 0.0),
            exact=solution,
            name=self.name,
        )

    def space(self) -> NetworkSpace:
        """The basis on Gauss points: sums over points are the integrals themselves."""
        dim, order = self.domain.dim, 2 * self.degree
        network = with_head(Basis(polynomials(dim, self.degree), dim), 0)
        boundary = [
            self.domain.boundary(segment, rule="gauss", order=order)
            for segment in self.domain.segments
        ]
        interior = self.domain.interior(rule="gauss", order=order)
        collocation = Collocation(self.problem(), network, interior, boundary)
        return NetworkSpace(collocation, Repeated(SeparableProjection(cutoff=1e-13), self.fits))


@dataclass(frozen=True)
class Repeated:
    """A projection made several times, each from where the last one ended."""

    projection: SeparableProjection
    times: int

    def fit(self, theta, collocation, target, t, key, first=False) -> Fit:
        fit = self.projection.fit(theta, collocation, target, t, key, first)
        for _ in range(self.times - 1):
            fit = self.projection.fit(fit.theta, collocation, target, t, key, first)
        return fit


def error(space: NetworkSpace, scheme: RungeKutta, steps: int, t_end: float) -> float:
    """Relative L² error at t_end after so many equal steps from the exact initial values."""
    problem, points = space.collocation.problem, space.collocation.interior
    theta = space.collocation.parameters.start
    for _ in range(8):  # a condition that is not linear needs more than one fit from nothing
        theta = space.project(theta, problem.initial(points.x)[:, None], 0.0, (0,)).theta
    state = State(theta)
    for n in range(steps):
        state, _ = scheme.step(space, state, t_end * n / steps, t_end / steps, (0, n + 1))
    exact = problem.exact(points.x, t_end)
    difference = space.values(state.theta)[:, 0] - exact
    return float(np.sqrt((points.w @ difference**2) / (points.w @ exact**2)))


def slope(errors: Sequence[float], steps: Sequence[int]) -> float:
    """Order seen between the last two runs: log(e₁/e₂) / log(n₂/n₁)."""
    return float(np.log(errors[-2] / errors[-1]) / np.log(steps[-1] / steps[-2]))


def _ends(left: Callable, right: Callable) -> dict[str, Callable]:
    return {"left": left, "right": right}


_HEAT = tb.Heat(0.05)
_CASES = (
    Case("heat-dirichlet", _HEAT, _ends(DIRICHLET, DIRICHLET)),
    Case("heat-neumann", _HEAT, _ends(NEUMANN, NEUMANN)),
    Case("heat-robin", _HEAT, _ends(ROBIN, ROBIN)),
    Case("heat-mixed", _HEAT, _ends(DIRICHLET, ROBIN)),
    Case("heat-moving", _HEAT, _ends(DIRICHLET, MOVING)),
    Case("heat-radiation", _HEAT, _ends(DIRICHLET, radiation), fits=3),
    Case("transport", tb.Transport([0.5]), _ends(DIRICHLET, DIRICHLET)),
    Case("reaction", ReactionDiffusion(0.05, lambda u: -0.1 * u**3), _ends(NEUMANN, ROBIN)),
    Case(
        "heat-rectangle",
        _HEAT,
        {**_ends(DIRICHLET, NEUMANN), "bottom": ROBIN, "top": DIRICHLET},
        tb.Rectangle((-1.0, -1.0), (1.0, 1.0)),
    ),
    Case("heat-disk", _HEAT, {"circle": ROBIN}, tb.Disk(1.0)),
)
CASES = {case.name: case for case in _CASES}


@cache
def space_of(name: str) -> NetworkSpace:
    """The space of a case, compiled once for all tests of a process."""
    return CASES[name].space()
