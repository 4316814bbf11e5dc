"""The paper's figure of Burgers: how far solvers are from each other, in time and resolution."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

from tengbc import problems
from tengbc.evidence.reproduction.catalog import RESOLUTIONS
from tengbc.evidence.reproduction.run_case import field_points, read_fields
from tengbc.plotting import new_figure, save_figure
from tengbc.solver.measure import Truth


def write_burgers_figures(root: Path) -> None:
    """Discrepancies to FEM at several resolutions, at the end, and between solvers."""
    problem = problems.get("burgers")
    kept, truth = field_points(problem), Truth(problem)
    found = {
        "TENG": read_fields(root / "burgers"),
        "spectral": read_fields(root / "burgers-spectral"),
        **{f"FEM-{n}": read_fields(root / f"burgers-fem-{n}") for n in RESOLUTIONS},
    }
    known = {name: fields for name, fields in found.items() if fields is not None}
    if not known:
        return

    def apart(first: str, second: str) -> np.ndarray:
        """(t, relative L² distance) at the times both know: their errors' difference."""
        (times, ours), (others, theirs) = known[first], known[second]
        pairs = []
        for i, t in enumerate(times):
            match = np.flatnonzero(np.isclose(others, t))
            if len(match):
                size = np.linalg.norm(truth.values(t)[kept])
                pairs.append((t, float(np.linalg.norm(ours[i] - theirs[match[0]]) / size)))
        return np.array(pairs).reshape(-1, 2)

    figure, axes = new_figure(1, 3, width=13.0, height=3.6)
    base = "TENG" if "TENG" in known else "spectral"
    fems = [name for name in known if name.startswith("FEM")]
    if base in known:
        for name in fems:
            curve = apart(base, name)
            axes[0].semilogy(curve[1:, 0], curve[1:, 1], marker=".", label=name)
        ends = [(int(name[4:]), apart(base, name)[-1, 1]) for name in fems]
        if ends:
            axes[1].loglog(*np.array(ends).T, marker="o")
    largest = fems[-1:] if fems else []
    chosen = [name for name in ("TENG", *largest, "spectral") if name in known]
    for first, second in itertools.combinations(chosen, 2):
        curve = apart(first, second)
        axes[2].semilogy(curve[1:, 0], curve[1:, 1], marker=".", label=f"{first} – {second}")
    for axis, title in zip(
        axes,
        (f"FEM to {base} over time", f"FEM to {base} at the end", "solvers pairwise"),
        strict=True,
    ):
        axis.set_title(title)
        axis.grid(alpha=0.3)
        if axis.get_legend_handles_labels()[0]:
            axis.legend(fontsize="small")
    for axis in (axes[0], axes[2]):
        axis.set_xlabel("t")
    axes[1].set_xlabel("cells per axis")
    axes[0].set_ylabel("relative L² distance")
    save_figure(figure, root / "burgers-distances")
