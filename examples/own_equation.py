"""Your own equation: ∂ₜu = D∂ₓₓu + u(1 − u), a population that spreads. Writes own_equation.png."""

import jax.numpy as jnp

import tengbc as tb


def fisher(u, x, t):
    """The right-hand side at one point x; u is a field, to be evaluated and differentiated."""
    return 0.02 * tb.laplacian(u)(x) + u(x) * (1 - u(x))


problem = tb.Problem(
    domain=tb.Interval(0.0, 2.0),
    equation=fisher,
    conditions={"left": tb.Neumann(0.0), "right": tb.Neumann(0.0)},
    initial=lambda x: 0.25 * (1 + jnp.cos(jnp.pi * x[0] / 2)),
)
solution = tb.solve(problem, t_end=2.0, rtol=1e-6)
start, end = solution.integral([0.0, 2.0]) / 2
print(f"mean at the start {start:.4f}, at the end {end:.4f}")
print(f"relative error, at worst: {solution.error_estimate.max():.1e}")

solution.plot([0.0, 0.5, 1.0, 2.0]).figure.savefig("own_equation.png", dpi=120)
