"""Do initial values and boundary conditions agree at t = 0, and does their first time derivative?

Where they do not, the solution has an initial layer: it is not smooth at t = 0 along the boundary,
and no smooth method follows it there. The layer spreads and fades, but its error has to be said.
"""

from collections.abc import Callable, Iterator, Sequence
from weakref import WeakKeyDictionary

import jax
import jax.numpy as jnp
import numpy as np
from jax import jvp
from jaxtyping import Float

from tengbc.coefficient import Coefficient
from tengbc.equations.base import LinearTerms
from tengbc.geometry.points import BoundaryPoints
from tengbc.patches.laws import Laws
from tengbc.pointwise import check_finite
from tengbc.problem import Problem

_KNOWN: WeakKeyDictionary[Problem, dict] = WeakKeyDictionary()


def initial_mismatch(
    problem: Problem, boundary: Sequence[BoundaryPoints], t_end: float
) -> tuple[dict[str, float], dict[str, float]]:
    """max |g(u₀)| and max |t_end · dg/dt| at t = 0 on each segment, relative to the size of u₀.

    The derivative is that along the equation: u moves by L(u₀), and the condition's data with t.
    A rate that is not finite, as that of √t, counts as infinite; values must be finite.
    Asked again for the same points it answers at once: a run checks its data before it begins.
    """
    key = (t_end, *(segment.x.tobytes() for segment in boundary))
    known = _KNOWN.setdefault(problem, {})
    if key not in known:
        found = {}
        for s, (values, slopes) in zip(boundary, mismatches(problem, boundary), strict=True):
            for name, given in (
                ("The initial condition", problem.initial(s.x)),
                (f"The condition on {s.segment}", values),
            ):
                check_finite(name, given, s.x, 0.0, "correct it there")
            found[s.segment] = values, np.where(np.isfinite(slopes), slopes, np.inf)
        size = initial_size(problem)
        known[key] = tuple(
            {
                name: scale * float(np.max(np.abs(both[part]), initial=0.0))
                for name, both in found.items()
            }
            for part, scale in ((0, 1 / size), (1, t_end / size))
        )
    return known[key]


def at_interfaces(laws: Laws, t_end: float, share: float) -> dict[str, float]:
    """How far initial values miss the law of each interface, relative to the size of u₀.

    What they move apart by in a `share` of the time counts where u is to be continuous.
    """
    problem, found = laws.problem, {}
    domain, size, m = problem.domain, initial_size(problem), laws.components
    step = 1e-6 * domain.scale
    for name in problem.interfaces:
        points = domain.interface_points(name, 32)  # pyright: ignore[reportAttributeAccessIssue]
        x, normal = points.x, points.normal
        regions = [np.full(len(x), domain.region_names.index(part)) for part in name.split("|")]
        sides, flows, rates = [], [], []
        for sign, where in zip((-1.0, 1.0), regions, strict=True):
            near, far = (problem.initial(x + sign * k * step * normal) for k in (1, 2))
            near, far = (part.reshape(len(x), m) for part in (near, far))
            slope = sign * (far - near) / step
            state = near, slope[..., None] * normal[:, None]
            kappa = laws.coefficients(x, 0.0, state, where).diffusion
            flows.append(np.einsum("nd,nmde,ne->nm", normal, kappa, normal) * slope)
            sides.append(2 * near - far)
            rates.append(laws.density(x, 0.0, state, where))
        jump, source = laws.contact(name, x, 0.0)
        r = laws.resistance(name, x)
        missed = np.abs(sides[0] - sides[1] + r * (flows[0] + flows[1]) / 2 - jump)
        kinked = np.abs(flows[0] - flows[1] - source) * share * t_end / domain.scale
        moved = np.where(r == 0, np.abs(rates[0] - rates[1]) * share * t_end, 0.0)
        apart = max(float(np.max(part, initial=0.0)) for part in (missed, kinked, moved))
        found[name] = 0.0 if apart < 1e-8 * size else apart / size
    return found


def initial_size(problem: Problem) -> float:
    """The largest |u₀|; a field that starts from zero has no size of its own, so one."""
    points = problem.domain.interior(256).x
    return float(np.max(np.abs(problem.initial(points)), initial=0.0)) or 1.0


Mismatch = tuple[Float[np.ndarray, "n k"], Float[np.ndarray, "n k"]]
"""g(u₀) and its time derivative along the equation at t = 0, at points of one segment."""


def mismatches(problem: Problem, boundary: Sequence[BoundaryPoints]) -> list[Mismatch]:
    """The mismatch on each segment; u₀ and L(u₀) are looked at once for all of them."""
    plain = [p for p in boundary if _plain(problem, p.segment)]
    start = iter(_starts(problem, plain))
    return [
        _by_coefficients(problem, p, *next(start))
        if _plain(problem, p.segment)
        else _by_trace(problem, p)
        for p in boundary
    ]


def _plain(problem: Problem, segment: str) -> bool:
    """Whether a condition is a·u + b·∂ₙu = v with numbers a and b, or one for each component."""
    law = problem.conditions[segment].coefficients
    return law is not None and all(c.constant and np.ndim(c.value) < 2 for c in law[:2])


Trace = tuple[Float[np.ndarray, "n m"], Float[np.ndarray, "n m"]]
"""A field and its normal derivative."""


def _starts(problem: Problem, boundary: Sequence[BoundaryPoints]) -> Iterator[tuple[Trace, Trace]]:
    """u₀ and L(u₀) at t = 0 on each segment, each with its normal derivative."""
    if not boundary:
        return
    m, terms = problem.components or 1, problem.equation.linear_terms
    x, normal = (np.concatenate([getattr(p, part) for p in boundary]) for part in ("x", "normal"))
    nothing = np.zeros((len(x), m))
    laws = (problem.conditions[p.segment].coefficients for p in boundary)
    sloped = any(law is not None and np.any(law[1].value) for law in laws)
    if terms is not None and not terms.conductivities:
        found = _linear_start(problem, terms, x, normal if sloped else None)
    elif sloped:
        found = problem.program("start on the boundary", _sloped_start(problem))(x, normal)
    else:  # no slope is asked for, and a rate from outside JAX could not tell it
        found = problem.program("values on the boundary", _start(problem))(x), (nothing,) * 2
    ends = np.cumsum([len(p) for p in boundary])[:-1]
    (value, rate), (slope, rate_slope) = jax.tree.map(
        lambda part: np.split(part.reshape(len(x), m), ends), found
    )
    for k in range(len(boundary)):
        yield (value[k], slope[k]), (rate[k], rate_slope[k])


def _linear_start(
    problem: Problem,
    terms: LinearTerms,
    x: Float[np.ndarray, "n d"],
    normal: Float[np.ndarray, "n d"] | None,
) -> tuple[Trace, Trace]:
    """(u₀, L(u₀)) and their normal derivatives, with L(u) = Σκ·∇²u − Σv·∇u + Σf.

    Nothing has to be traced for that beside the coefficients themselves. Without a normal, no slope
    is asked for: it is zero.
    """
    shape, along = (len(x), problem.components or 1), () if normal is None else ((normal, None),)
    slope = len(along)  # the key of ∂ₙ, or that of the value

    def both(coefficient: Coefficient, *rest: int) -> tuple[np.ndarray, np.ndarray]:
        """A coefficient and its normal derivative."""
        found = problem.evaluator(coefficient).along(x, 0.0, *along)
        parts = (part.reshape(len(x), -1, *rest) for part in (found[0], found[slope]))
        value, moved = (np.broadcast_to(part, (*shape, *rest)) for part in parts)
        return value, moved if slope else np.zeros_like(value)

    def product(factor: Sequence, part: Sequence) -> np.ndarray:
        """fg and ∂ₙ(fg)."""
        return np.stack([factor[0] * part[0], factor[0] * part[1] + factor[1] * part[0]])

    start = problem.evaluator(problem.initial_coefficient)
    rate = np.zeros((2, *shape)) + sum(np.stack(both(f)) for f in terms.sources)
    constant = problem.initial_coefficient.constant  # nothing spreads and nothing is carried
    for axis, e in enumerate(() if constant else np.eye(x.shape[1])):
        found = start.along(x, 0.0, *along, (e, None), (e, None))
        nothing = np.zeros(shape)
        first, second = (
            [found[key].reshape(shape), found[key | 1].reshape(shape) if slope else nothing]
            for key in (0b1 << slope, 0b11 << slope)
        )
        for kappa in terms.diffusivities:
            rate += product(both(kappa), second)
        for velocity in terms.velocities:
            rate -= product([half[..., axis] for half in both(velocity, x.shape[1])], first)
    value, moved = both(problem.initial_coefficient)
    return (value, rate[0]), (moved, rate[1])


def _start(problem: Problem) -> Callable:
    """(u₀, L(u₀)) at a point."""
    initial = problem.initial_function
    return lambda x: (initial(x), problem.equation.rhs(initial, x, 0.0))


def _sloped_start(problem: Problem) -> Callable:
    """(u₀, L(u₀)) at a point, and their derivatives along a direction."""
    both = _start(problem)
    return lambda x, normal: jvp(both, (x,), (normal,))


def _by_coefficients(
    problem: Problem, points: BoundaryPoints, start: Trace, rate: Trace
) -> Mismatch:
    """a·u + b·∂ₙu − v of u₀, and of L(u₀) and ∂ₜv."""
    law = problem.conditions[points.segment].coefficients
    assert law is not None
    (a, b), v = (np.asarray(c.value) for c in law[:2]), law[2]
    if v.constant:
        data, moves = np.asarray(v.value), 0.0
    else:
        found = problem.evaluator(v).along(points.x, 0.0, (None, 1.0))
        data, moves = (found[key].reshape(len(points), -1) for key in (0, 1))
    # A factor of zero counts even where a slope is not finite.
    times = lambda factor, part: factor * part if np.any(factor) else 0.0
    value, moved = (
        np.broadcast_to(-g + times(a, u) + times(b, slope), u.shape)
        for (u, slope), g in ((start, data), (rate, moves))
    )
    return value, moved


def _by_trace(problem: Problem, points: BoundaryPoints) -> Mismatch:
    """The same for a condition of any kind."""
    law = problem.conditions[points.segment].residual

    def residual(x, normal):
        def after(s):
            def moved(y):
                rate = problem.equation.rhs(problem.initial_function, y, 0.0)
                return problem.initial_function(y) + s * rate

            return jnp.atleast_1d(law(moved, x, normal, s))

        return jvp(after, (0.0,), (1.0,))

    program = problem.program(("mismatch", points.segment), residual)
    return program(points.x, points.normal)
