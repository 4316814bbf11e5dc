"""The paper's Appendix B on a real step: the projection's step is −G⁻¹∇L in the extended metric.

`python -m benchmarks.natural_gradient` prints, for Dirichlet, Neumann, Robin and mixed rows, how
far the two are apart. Loss and metric are written out here from (a, b, v) alone,

    L(θ) = ½∫_Ω (u − target)² + ½∫_∂Ω (a·u + b·∂ₙu − v)²,   G = ∫_Ω JᵀJ + ∫_∂Ω (aJ + bK)ᵀ(aJ + bK),

with J = ∂u/∂θ and K = ∂(∂ₙu)/∂θ by forward mode and ∇L by reverse mode; the step is the one that
`SubsetProjection` takes. Nothing but the points and their weights is shared.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg as sla
from jaxtyping import Float

from tengbc import problems
from tengbc.defaults import PAPER
from tengbc.networks import mlp
from tengbc.problem import Problem
from tengbc.projection import Collocation, SeparableProjection, SubsetProjection
from tengbc.projection.subset import draw_subset
from tengbc.solver.sampling import boundary_points, initial_values

Array = np.ndarray
ROWS = {
    "Dirichlet": "heat-dirichlet",
    "Neumann": "heat-flux",
    "Robin": "heat-robin",
    "mixed": "heat-mixed",
}
"""Kinds of rows, and a problem of the paper that has them."""
ACTIVE = 24
"""Parameters that move: with many more G is singular to rounding, and G⁻¹ no number at all."""
KEY = (0, 1, 0)


@dataclass(frozen=True)
class NaturalStep:
    """A step Δθ of the projection beside the gradient ∇L and the scaled Jacobian (J, aJ + bK)."""

    step: Float[Array, " k"]
    gradient: Float[Array, " k"]
    jacobian: Float[Array, "r k"]

    @property
    def metric(self) -> Float[Array, "k k"]:
        """G, over as much of the closed domain as the Jacobian's rows."""
        return self.jacobian.T @ self.jacobian

    @property
    def condition(self) -> float:
        """Of the metric."""
        return float(np.linalg.cond(self.metric))

    @property
    def imbalance(self) -> float:
        """‖GΔθ + ∇L‖ / ‖G‖‖Δθ‖: round-off, however badly conditioned G is."""
        missed = self.metric @ self.step + self.gradient
        whole = np.linalg.norm(self.metric, 2) * np.linalg.norm(self.step)
        return float(np.linalg.norm(missed) / whole)

    @property
    def distance(self) -> float:
        """‖Δθ + G⁻¹∇L‖ / ‖Δθ‖ in the norm of G: round-off times G's condition."""
        apart = self.step + sla.solve(self.metric, self.gradient, assume_a="pos")
        sizes = [np.sqrt(d @ self.metric @ d) for d in (apart, self.step)]
        return float(sizes[0] / sizes[1])


def natural_step(problem: Problem, widths=PAPER.widths, per_axis=24, iterations=3) -> NaturalStep:
    """One iteration of the first stage of a step, from a quick fit of the initial condition."""
    dt, domain = PAPER.dt, problem.domain
    network = mlp(domain, problem.components, widths=widths)
    interior = domain.interior(rule="uniform", per_axis=per_axis)
    rows = Collocation(problem, network, interior, boundary_points(domain, 4 * per_axis))
    fitter = SeparableProjection(iterations, subset=400)
    start = rows.parameters.start
    theta = fitter.fit(start, rows, initial_values(problem, interior), 0.0, KEY).theta
    target = rows.values(theta) + dt * rows.rates(theta, 0.0)
    once = SubsetProjection(
        1, ACTIVE, cutoff=1e-15, method="svd", ladder=(1.0,), repeats=(), first_subset=ACTIVE
    )
    fit = once.fit(theta, rows, target, dt, KEY)
    assert fit.iterations == 1, "the step was not taken"
    active = draw_subset(len(theta), ACTIVE, (*KEY, 0))
    with jax.enable_x64(True):
        laws = [_interior_law(interior, target[:, 0])]
        laws += [_boundary_law(problem, points, dt) for points in rows.boundary]

        def everywhere(moved):
            """a·u + b·∂ₙu − v at all points of the closed domain, times the root of its weight."""
            u = rows.parameters.network(jnp.asarray(theta).at[active].set(moved))
            return jnp.concatenate([law(u) for law in laws])

        here = theta[active]
        gradient = jax.jit(jax.grad(lambda moved: 0.5 * jnp.sum(everywhere(moved) ** 2)))(here)
        jacobian = np.asarray(jax.jit(jax.jacfwd(everywhere))(here))
    return NaturalStep(fit.theta[active] - here, np.asarray(gradient), jacobian)


def _interior_law(points, target):
    return lambda u: np.sqrt(points.w) * (jax.vmap(u)(points.x) - target)


def _boundary_law(problem: Problem, points, t: float):
    """√w (a·u + b·∇u·n − v) on one segment, from the condition's coefficients alone."""
    found = problem.conditions[points.segment].coefficients
    assert found is not None, "a condition that is linear in u"
    a, b, v = (jax.vmap(lambda x, c=c: c(x, t))(points.x) for c in found)

    def law(u):
        slopes = jnp.sum(jax.vmap(jax.grad(u))(points.x) * points.normal, axis=1)
        return np.sqrt(points.w) * (a * jax.vmap(u)(points.x) + b * slopes - v)

    return law


def main() -> None:
    """One line for each kind of rows."""
    print(f"one step, 7 × 40 network, {ACTIVE} parameters moving")
    print("rows        cond G    |GΔθ + ∇L|/|G||Δθ|   |Δθ + G⁻¹∇L|/|Δθ| in G's norm")
    for kind, name in ROWS.items():
        found = natural_step(problems.get(name))
        print(f"{kind:<12}{found.condition:<10.1e}{found.imbalance:<21.1e}{found.distance:.1e}")


if __name__ == "__main__":
    main()
