"""What follows from a solution: its gradient, its integral, and the flux through a boundary."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from tengbc.coefficient import Coefficient, CoefficientLike, coefficient
from tengbc.equations import AbstractEquation, Diffusion, Heat
from tengbc.errors import UsageError
from tengbc.geometry.points import BoundaryPoints
from tengbc.patches.laws import Laws
from tengbc.pointwise import Evaluator, as_points, as_times
from tengbc.solution.balance import flows
from tengbc.types import Time

if TYPE_CHECKING:
    from tengbc.solution.solution import Solution

Array = np.ndarray
MOST_NODES = 200_000
SIDE = 1e-9
"""How far off an interface u is looked at, as part of the domain's size."""
AGREEMENT = 1e-13
"""Two quadratures that differ by less, relative to ∫|f|, are not refined."""


def gradient(
    solution: Solution, x: ArrayLike, t: Time, outside: str = "raise"
) -> Float[Array, "..."]:
    """∇u at points (d,) or (n, d): one row per component, one column per axis."""
    points = as_points(x, solution.problem.domain.dim)
    many = np.atleast_2d(points)
    inside = solution._inside(many, outside)
    result = np.full((len(many), *solution.problem.shape, many.shape[1]), np.nan)
    result[inside] = solution.interpolated(many[inside], t, slopes=True)
    return result if points.ndim == 2 else result[0]


def integral(solution: Solution, t: Time | Sequence[float] | Array) -> Float[Array, "..."] | float:
    """∫_Ω u dx by Gauss quadrature, refined until it settles."""
    times = np.array(as_times(t))
    domain = solution.problem.domain

    def weighted(order: int) -> tuple[Array, Array]:
        points = domain.interior(rule="gauss", order=order)
        return solution.at_times(points.x, times), points.w

    result = _settled(weighted, domain.dim)
    return result if np.ndim(t) else _plain(result[0])


def flux(
    solution: Solution,
    segment: str | None,
    t: Time | Sequence[float] | Array,
    diffusivity: CoefficientLike | None = None,
    kind: str = "diffusive",
) -> Float[Array, "..."] | float:
    """∮_Γ κ ∂ₙu ds, −∮_Γ v·n u ds or both, over a segment or the whole boundary, at times."""
    if kind not in ("diffusive", "advective", "total"):
        raise UsageError(f"kind is {kind!r}, but it is 'diffusive', 'advective' or 'total'.")
    times, domain = as_times(t), solution.problem.domain
    if segment is not None and "|" in segment and domain.region_names:
        return _across(solution, segment, t)
    segments = domain.segments if segment is None else (segment,)
    parts = []
    if kind != "advective":
        parts.append(_conducted(solution, diffusivity, times[0]))
    if kind != "diffusive":
        parts.append(_carried(solution))
    total = np.zeros((len(times), *solution.problem.shape))
    for name in segments:

        def weighted(order: int, name: str = name) -> tuple[Array, Array]:
            points = domain.boundary(name, rule="gauss", order=order)
            return np.stack([sum(part(points, s) for part in parts) for s in times]), points.w

        total = total + _settled(weighted, domain.dim - 1)
    return total if np.ndim(t) else _plain(total[0])


def _conducted(solution: Solution, diffusivity: CoefficientLike | None, t: float) -> Callable:
    """κ ∂ₙu at boundary points and a time."""
    if diffusivity is None:
        equation = solution.problem.equation
        if solution.problem.domain.region_names or _in_divergence_form(equation):
            return _conducted_by_law(solution)
        kappa = _diffusivity(equation)
    else:
        kappa = coefficient(diffusivity, "diffusivity")
    domain = solution.problem.domain
    varying = None if kappa.constant else Evaluator(kappa, domain.dim)
    sample = kappa.value if varying is None else varying(domain.interior(1).x[0], t)
    if np.shape(sample) not in ((), solution.problem.shape):
        raise UsageError(
            f"diffusivity has shape {np.shape(sample)}, but the field has "
            f"{solution.problem.shape}; give a number, or one number per component."
        )

    def density(points: BoundaryPoints, t: float) -> Array:
        slope = np.einsum("n...d,nd->n...", solution.gradient(points.x, t), points.normal)
        scale = kappa.value if varying is None else varying(points.x, t)
        if varying is not None and scale.ndim < slope.ndim:
            scale = scale[:, None]
        return scale * slope

    return density


def _in_divergence_form(equation: AbstractEquation) -> bool:
    return any(isinstance(term, Diffusion) for term in equation.terms)


def _conducted_by_law(solution: Solution) -> Callable:
    """n·A∇u at boundary points and a time, A being what multiplies second derivatives."""
    laws = solution.problem.kept("laws of the weak form", lambda: Laws(solution.problem))

    def density(points: BoundaryPoints, t: float) -> Array:
        x, m = points.x, laws.components
        state = (
            solution.interpolated(x, t).reshape(len(x), m),
            solution.interpolated(x, t, slopes=True).reshape(len(x), m, x.shape[1]),
        )
        found = laws.conducted(x, points.normal, t, state)
        return found.reshape(len(x), *solution.problem.shape)

    return density


def _across(
    solution: Solution, name: str, t: Time | Sequence[float] | Array
) -> Float[Array, "..."] | float:
    """∮ n·A∇u ds over an interface "1|2", n pointing from 1 into 2, on the side of 1.

    It is taken a little inside region 1, where the point tells which region counts.
    """
    problem, times = solution.problem, as_times(t)
    domain, laws = problem.domain, problem.kept("laws of the weak form", lambda: Laws(problem))
    number = domain.region_names.index(name.split("|")[0])

    def weighted(order: int) -> tuple[Array, Array]:
        points = domain.interface_points(  # pyright: ignore[reportAttributeAccessIssue]
            name, rule="gauss", order=order
        )
        inside = points.x - SIDE * domain.scale * points.normal
        m, where = laws.components, np.full(len(points.x), number)
        rows = []
        for moment in times:
            value, slope = (
                solution.interpolated(inside, moment, slopes=s).reshape(len(inside), m, *d)
                for s, d in ((False, ()), (True, (domain.dim,)))
            )
            found = laws.conducted(points.x, points.normal, moment, (value, slope), where)
            rows.append(found.reshape(len(inside), *problem.shape))
        return np.stack(rows), points.w

    result = _settled(weighted, domain.dim - 1)
    return result if np.ndim(t) else _plain(result[0])


def _carried(solution: Solution) -> Callable:
    """−v·n u at boundary points and a time."""
    found = flows(solution.problem.equation)
    if not found:
        raise UsageError(
            f"The equation ∂ₜu = {solution.problem.equation.formula} has no term tb.Transport(v), "
            f"so there is no flow to carry anything; ask for the diffusive flux."
        )

    def density(points: BoundaryPoints, t: float) -> Array:
        velocity = sum(flow.at(points.x, t) for flow in found)
        speed, u = np.sum(velocity * points.normal, axis=1), solution(points.x, t)
        return -(speed.reshape(-1, *[1] * (np.ndim(u) - 1))) * u

    return density


def _settled(weighted: Callable[[int], tuple[Array, Array]], dim: int) -> Float[Array, "k ..."]:
    """Σ w f with the order of the rule doubled until the sum no longer changes."""
    order = {0: 1, 1: 40, 2: 40, 3: 20}.get(dim, 6)
    values, weights = weighted(order)
    result = np.einsum("kn...,n->k...", values, weights)
    while dim and len(weights) * 2**dim <= MOST_NODES and order <= 200:
        order, before = 2 * order, result
        values, weights = weighted(order)
        result = np.einsum("kn...,n->k...", values, weights)
        size = np.einsum("kn...,n->k...", np.abs(values), weights)
        if (np.abs(result - before) <= AGREEMENT * size).all():
            break
    return result


def _diffusivity(equation: AbstractEquation) -> Coefficient:
    """κ of the term κ∇²u, wherever it stands in an equation."""
    found = [term.kappa for term in equation.terms if isinstance(term, Heat)]
    if len(found) != 1:
        raise UsageError(
            f"The equation ∂ₜu = {equation.formula} does not say what its diffusivity κ is, which "
            f"the flux ∮ κ∂ₙu needs; pass diffusivity=…, and 1 for ∮ ∂ₙu itself."
        )
    return found[0]


def _plain(value: Array | np.floating) -> Array | float:
    return value if isinstance(value, Array) and value.ndim else float(value)
