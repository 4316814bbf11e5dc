"""What the formula of a Runge–Kutta stage gives on the boundary."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from tengbc.pointwise import check_finite
from tengbc.projection import Collocation

Array = np.ndarray


@dataclass(frozen=True)
class StageFormula:
    """The field w = u_θ + Σⱼ weightⱼ · L(u_θⱼ) at timeⱼ, which a stage is to become."""

    theta: Float[Array, " p"]
    stages: Float[Array, "s p"]
    weights: Float[Array, " s"]
    times: Float[Array, " s"]


class StageBoundary:
    """g(w) at the boundary points for the field w of a stage, whatever the condition g is.

    w is a function of x like any other, so g may take its normal derivative and may be nonlinear.
    """

    def __init__(self, collocation: Collocation):
        self.collocation = collocation
        network, equation = collocation.parameters.network, collocation.problem.equation
        self._functions = []
        for points in collocation.boundary:
            residual = collocation.problem.conditions[points.segment].residual

            def g(theta, stages, weights, times, x, normal, t, residual=residual):
                def rate(y, stage, time):
                    return equation.rhs(network(stage), y, time)

                def w(y):
                    rates = jax.vmap(rate, in_axes=(None, 0, 0))(y, stages, times)
                    return network(theta)(y) + jnp.tensordot(weights, rates, axes=1)

                return jnp.atleast_1d(residual(w, x, normal, t))

            along = (None, None, None, None, 0, 0, None)
            self._functions.append(jax.jit(jax.vmap(g, in_axes=along)))

    def __call__(
        self, formula: StageFormula, t: float, only_values: bool = False
    ) -> list[Float[Array, "_ _"] | float]:
        """g(w) on each segment, the condition's own data taken at time t.

        With `only_values` it is zero where the condition is not known to prescribe u itself.
        """
        found = []
        for function, points in zip(self._functions, self.collocation.boundary, strict=True):
            condition = self.collocation.problem.conditions[points.segment]
            if only_values and not condition.prescribes_value:
                found.append(0.0)
                continue
            with jax.enable_x64(True):
                g = function(
                    formula.theta,
                    formula.stages,
                    formula.weights,
                    formula.times,
                    points.x,
                    points.normal,
                    t,
                )
            found.append(np.asarray(g))
            check_finite(f"The condition on {points.segment}", found[-1], points.x, t)
        return found
