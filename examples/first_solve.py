"""First solve: heat on a disk that cools through its rim. Writes first_solve.png."""

import jax.numpy as jnp

import tengbc as tb

problem = tb.Problem(
    domain=tb.Disk(radius=1.0),
    equation=tb.Heat(kappa=0.1),
    conditions={"circle": tb.Robin(a=1.0, b=0.5, v=0.0)},  # a·u + b·∂ₙu = v
    initial=lambda x: (1 - jnp.sum(x**2)) ** 2 * jnp.exp(2 * x[0] + x[1]),
)
print(problem.explain())

solution = tb.solve(problem, t_end=1.0, rtol=1e-2)
print(f"u(0.3, 0.4) at t = 0.5 is {solution([0.3, 0.4], t=0.5):.5f}")
print(f"relative error, at worst: {solution.error_estimate.max():.1e}")
print(f"heat left: {solution.integral(1.0) / solution.integral(0.0):.1%}")

axes = solution.plot([0.0, 0.2, 1.0])
axes[0].figure.savefig("first_solve.png", dpi=120)
