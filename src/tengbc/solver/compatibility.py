"""Do initial values and boundary conditions agree at t = 0, and does their first time derivative?

Where they do not, the solution has an initial layer: it is not smooth at t = 0 along the boundary,
and no smooth method follows it there. The layer spreads and fades, but its error has to be said.
"""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import jax
import jax.numpy as jnp
import numpy as np
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
        for s in boundary:
            values, slopes = mismatch_at(problem, s)
            for name, given in (
                ("The initial condition", problem.initial(s.x)),
                (f"The condition on {s.segment}", values),
            ):
                check_finite(name, given, s.x, 0.0, "correct it there")
            found[s.segment] = values, np.where(np.isfinite(slopes), slopes, np.inf)
        size = initial_size(problem)
        known[key] = tuple(
            {name: scale * float(np.max(np.abs(both[part]))) for name, both in found.items()}
            for part, scale in ((0, 1 / size), (1, t_end / size))
        )
    return known[key]


def initial_size(problem: Problem) -> float:
    """The largest |u₀|; a field that starts from zero has no size of its own, so one."""
    points = problem.domain.interior(256).x
    return float(np.max(np.abs(problem.initial(points)), initial=0.0)) or 1.0


def mismatch_at(
    problem: Problem, points: BoundaryPoints
) -> tuple[Float[np.ndarray, "n k"], Float[np.ndarray, "n k"]]:
    """g(u₀) and its time derivative along the equation at t = 0, at points of one segment."""
    law = problem.conditions[points.segment].residual

    def residual(x, normal):
        def after(s):
            def moved(y):
                rate = problem.equation.rhs(problem.initial_function, y, 0.0)
                return problem.initial_function(y) + s * rate

            return jnp.atleast_1d(law(moved, x, normal, s))

        return jax.jvp(after, (0.0,), (1.0,))

    program = problem.program(("mismatch", points.segment), residual)
    return program(points.x, points.normal)
