"""Mixed conditions: a wall heated on the left, cooled on the right, insulated at its ends."""

import jax.numpy as jnp

import tengbc as tb

problem = tb.Problem(
    domain=tb.Rectangle((0.0, 0.0), (1.0, 0.5)),
    equation=tb.Heat(kappa=0.2),
    conditions={
        "left": tb.Dirichlet(lambda x, t: 1 + 0.2 * jnp.sin(2 * t) * jnp.cos(2 * jnp.pi * x[1])),
        "right": tb.Robin(a=2.0, b=1.0, v=0.0),  # Newton's law: ∂ₙu = −2u
        "bottom": tb.Neumann(0.0),
        "top": tb.Neumann(0.0),
    },
    initial=lambda x: 1 - 2 / 3 * x[0],  # the steady state for u = 1 on the left
)
print(problem.explain())

solution = tb.solve(problem, t_end=1.0, rtol=1e-3)
for segment in problem.domain.segments:
    print(f"heat that enters through {segment:<6} at t = 1: {solution.flux(segment, 1.0):+.4f}")
print(f"altogether: {solution.flux(None, 1.0):+.4f}")
print(f"relative error, at worst: {solution.error_estimate.max():.1e}")
