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

from tengbc.geometry.points import BoundaryPoints
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
    if not problem.initial_coefficient.constant or terms is None:
        laws = (problem.conditions[p.segment].coefficients for p in boundary)
        if any(law is not None and np.any(law[1].value) for law in laws):
            found = problem.program("start on the boundary", _sloped_start(problem))(x, normal)
        else:  # no slope is asked for, and a rate from outside JAX could not tell it
            found = problem.program("values on the boundary", _start(problem))(x), (nothing,) * 2
    elif all(f.constant for f in terms.sources):  # nothing spreads and nothing is carried
        rate = sum(np.asarray(f.value) for f in terms.sources) + nothing
        found = (problem.initial(x), rate), (nothing, nothing)
    else:
        source = lambda y: sum(f(y, 0.0) for f in terms.sources)
        rates = problem.program("source on the boundary", lambda x, n: jvp(source, (x,), (n,)))
        rate, slope = (part.reshape(len(x), -1) + nothing for part in rates(x, normal))
        found = (problem.initial(x), rate), (nothing, slope)
    ends = np.cumsum([len(p) for p in boundary])[:-1]
    (value, rate), (slope, rate_slope) = jax.tree.map(
        lambda part: np.split(part.reshape(len(x), m), ends), found
    )
    for k in range(len(boundary)):
        yield (value[k], slope[k]), (rate[k], rate_slope[k])


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
        along = lambda x: jvp(lambda t: v(x, t), (0.0,), (1.0,))
        found = problem.program(("data and its rate", points.segment), along)(points.x)
        data, moves = (part.reshape(len(points), -1) for part in found)
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
