"""The README's picture, docs/heat-mixed.png: the solution of heat-mixed and its error."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.tri import Triangulation

import tengbc as tb

TIMES = (0.0, 0.1, 0.4)


def main() -> None:
    """Solve and draw."""
    problem = tb.problems.get("heat-mixed")
    solution = tb.solve(problem)
    radius, angle = np.meshgrid(np.linspace(0.5, 1, 60), np.linspace(0, np.pi / 2, 120))
    x = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1).reshape(-1, 2)
    # Triangles of the polar grid: curved edges stay smooth.
    index = np.arange(radius.size).reshape(radius.shape)
    a, b, c, d = index[:-1, :-1], index[1:, :-1], index[:-1, 1:], index[1:, 1:]
    triangles = np.concatenate([np.stack(t, -1).reshape(-1, 3) for t in ((a, b, c), (b, d, c))])
    mesh = Triangulation(x[:, 0], x[:, 1], triangles)
    figure, axes = plt.subplots(1, 4, figsize=(13, 3.2), layout="constrained")
    for axis, t in zip(axes, TIMES, strict=False):
        values = solution(x, t)
        limit = np.abs(values).max()
        drawn = axis.tripcolor(
            mesh, values, shading="gouraud", cmap="RdBu_r", vmin=-limit, vmax=limit
        )
        figure.colorbar(drawn, ax=axis, shrink=0.8)
        axis.set_title(f"u at t = {t:g}")
    error = np.abs(solution(x, TIMES[-1]) - problem.exact(x, TIMES[-1]))
    drawn = axes[-1].tripcolor(mesh, error, shading="gouraud", cmap="viridis")
    figure.colorbar(drawn, ax=axes[-1], shrink=0.8)
    axes[-1].set_title(f"|u − exact| at t = {TIMES[-1]:g}")
    for axis in axes:
        axis.set_aspect("equal")
        axis.set_axis_off()
        for segment, line in problem.domain.outline():
            axis.plot(*line.T, color="0.2", linewidth=1, label=segment)
    path = Path(__file__).parent.parent / "docs" / "heat-mixed.png"
    figure.savefig(path, dpi=110)
    print(
        f"{path.relative_to(Path.cwd())}: worst estimated error {solution.error_estimate.max():.1e}"
    )


if __name__ == "__main__":
    main()
