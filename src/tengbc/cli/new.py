"""tengbc new: a problem file of one's own to begin with."""

from pathlib import Path
from typing import Annotated

import typer

from tengbc.errors import UsageError

TEMPLATE = '''"""{name}: a hot plate that cools. Solve it: tengbc run {file}:problem"""

import jax.numpy as jnp

import tengbc as tb

kappa = 0.1  # how fast heat spreads
h = 0.5  # how fast the right side gives it away

problem = tb.Problem(
    # Where: Interval, Rectangle, Disk, Annulus, Polygon, Box, Ball, …
    domain=tb.Rectangle((0.0, 0.0), (2.0, 1.0)),
    # ∂ₜu = …: terms add up. One of your own: tb.Equation(lambda u, x, t: …)
    equation=tb.Heat(kappa) + tb.Source(lambda x, t: 0.2 * jnp.exp(-4 * (x[0] - 1) ** 2)),
    # One condition for each part of the boundary; ∂ₙ is the derivative outwards.
    conditions={{
        "left": tb.Dirichlet(0.0),  # u = 0
        "right": tb.Robin(a=h, b=kappa, v=0.0),  # h·u + κ·∂ₙu = 0
        "bottom": tb.Neumann(0.0),  # insulated
        "top": tb.Neumann(0.0),
    }},
    # u at t = 0; here it meets the conditions. NumPy code and tables will do as well.
    initial=lambda x: (x[0] * (2 - x[0])) ** 2,
    name="{name}",
    t_end=1.0,
    rtol=1e-3,
)

if __name__ == "__main__":
    print(problem.explain())
    solution = tb.solve(problem)
    print(solution)
    print("in the middle at the end:", solution([1.0, 0.5], t=1.0))
    # solution.plot(1.0), solution.balance(), solution.export("u.pvd", "vtk"), …
'''


def new(
    name: Annotated[str, typer.Argument(help="The name of the problem, and of its file.")],
) -> None:
    """Write NAME.py, a problem with comments that runs in seconds, to be changed to yours."""
    stem = name.removesuffix(".py")
    if not stem.replace("-", "_").isidentifier():
        raise UsageError(f"{name!r} is no name for a Python file; use letters, digits and _.")
    path = Path(f"{stem.replace('-', '_')}.py")
    text = TEMPLATE.format(name=stem, file=path)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{path} is there already; choose another name.") from None
    print(f"written to {path}; look at it, then: tengbc run {path}:problem")
