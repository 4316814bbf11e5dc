"""A block of concrete with a round hole for a heated pipe. Writes polygon_with_hole.png."""

import jax.numpy as jnp

import tengbc as tb

block = tb.Polygon(
    [(0.0, 0.0), (2.0, 0.0), (2.0, 1.4), (0.0, 1.4)],
    holes=[tb.Disk(radius=0.3, center=(1.0, 0.7))],
    names=["ground", "side", "surface", "side"],  # edges of one name are one segment
)
problem = tb.Problem(
    domain=block,
    equation=tb.Heat(kappa=0.1),
    conditions={
        "ground": tb.Neumann(0.0),
        "side": tb.Neumann(0.0),
        "surface": tb.Robin(a=1.0, b=1.0, v=1.0),  # ∂ₙu = 1 − u: air of 1
        "hole0": tb.Neumann(lambda x, t: 0.3 * (1 - jnp.exp(-5 * t))),  # the pipe is turned on
    },
    initial=1.0,
)
solution = tb.solve(problem, t_end=1.0, rtol=1e-3)
print(f"relative error, at worst: {solution.error_estimate.max():.1e}")
given, lost = solution.flux("hole0", 1.0), -solution.flux("surface", 1.0)
print(f"heat from the pipe at t = 1: {given:.4f}, lost at the surface: {lost:.4f}")

solution.plot(1.0).figure.savefig("polygon_with_hole.png", dpi=120)
