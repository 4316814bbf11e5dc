"""A system: a prey that diffuses and its predators, who diffuse faster. Writes system.png."""

import jax.numpy as jnp

import tengbc as tb


def reaction(u):
    """Lotka and Volterra's terms, for one value u = (prey, predators)."""
    prey, predators = u
    return jnp.stack([prey * (1 - predators), predators * (prey - 1)])


problem = tb.Problem(
    domain=tb.Interval(0.0, 1.0),
    equation=tb.ReactionDiffusion([0.05, 0.1], reaction),  # one diffusivity for each
    conditions={"left": tb.Neumann(0.0), "right": tb.Neumann(0.0)},
    initial=lambda x: jnp.stack(
        [1 + 0.5 * jnp.cos(jnp.pi * x[0]), 1 - 0.3 * jnp.cos(jnp.pi * x[0])]
    ),
)
solution = tb.solve(problem, t_end=2.0, rtol=1e-5)
prey, predators = solution([0.25], t=2.0)
print(f"at x = 0.25, t = 2: prey {prey:.5f}, predators {predators:.5f}")
print(f"their totals: {solution.integral(2.0)}")
print(f"relative error, at worst: {solution.error_estimate.max():.1e}")

solution.plot([0.0, 2.0]).figure.savefig("system.png", dpi=120)
