"""Do initial values and boundary conditions agree at t = 0, and does their first time derivative?

Where they do not, the solution has an initial layer: it is not smooth at t = 0 along the boundary,
and no smooth method follows it there. The layer spreads and fades, but its error must be said.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from tengbc.geometry.points import BoundaryPoints
from tengbc.problem import Problem


def initial_mismatch(
    problem: Problem, boundary: Sequence[BoundaryPoints], t_end: float
) -> tuple[dict[str, float], dict[str, float]]:
    """max |g(u₀)| and max |t_end · dg/dt| at t = 0 on each segment, relative to the size of u₀.

    The derivative is that along the equation: u moves by L(u₀), and the condition's data with t.
    """
    points = problem.domain.interior(256).x
    size = float(np.max(np.abs(problem.initial(points)), initial=0.0))
    size = size or 1.0  # a field that starts from zero has no size of its own
    values, slopes = {}, {}
    for segment in boundary:
        law = problem.conditions[segment.segment].residual

        def residual(x, normal, law=law):
            def after(s):
                def moved(y):
                    rate = problem.equation.rhs(problem.initial_function, y, 0.0)
                    return problem.initial_function(y) + s * rate

                return jnp.atleast_1d(law(moved, x, normal, s))

            return jax.jvp(after, (0.0,), (1.0,))

        with jax.enable_x64(True):
            found = jax.jit(jax.vmap(residual))(segment.x, segment.normal)
        value, slope = (float(np.max(np.abs(np.asarray(part)))) for part in found)
        values[segment.segment] = value / size
        slopes[segment.segment] = slope * t_end / size
    return values, slopes
