"""The paper's figures: maps, errors over time, losses per step, and solvers against each other."""

import itertools
from pathlib import Path

import numpy as np

from tengbc import problems
from tengbc.evidence.reproduction.catalog import DEFAULT_SCHEMES, GROUPS, RESOLUTIONS, SCHEMES
from tengbc.evidence.reproduction.run_case import field_points, read_curve, read_fields, read_losses
from tengbc.history import quantity
from tengbc.plotting import finish_axis, new_figure, save_figure
from tengbc.problem import Problem
from tengbc.runs.directory import read_summary
from tengbc.solution.measure import Truth

STYLES = {
    "euler": "C1",
    "heun": "C2",
    "rk4": "C3",
    "fem": "C4",
    "pinn-bfgs": "C5",
    "pinn-engd": "C6",
    "spectral": "C7",
}


def write_figures(group: str, preset: str, root: Path) -> None:
    """All figures of a group for which there are results under `root`."""
    names = GROUPS[group]
    _errors_over_time(names, preset, root, root / f"{group}-errors")
    _losses(names, preset, root, root / f"{group}-loss")
    if group == "heat":
        _final_maps(names, root, root / "heat-maps")
    for name in names:
        _frames(name, root, root / f"{name}-frames")
    if group == "burgers":
        _distances(root, root / "burgers-distances")


def _errors_over_time(names: tuple[str, ...], preset: str, root: Path, stem: Path) -> None:
    """Relative L² error against time: every scheme, the default, FEM and PINN."""
    figure, axes = new_figure(1, len(names), width=3.2 * len(names) + 1.4, height=3.2)
    for axis, name in zip(np.ravel(axes), names, strict=True):
        default = DEFAULT_SCHEMES[preset]
        _curve(axis, root / name, f"fast ({default})" if preset == "fast" else default, "C0")
        for label, colour in STYLES.items():
            _curve(axis, root / f"{name}-{label}", label, colour)
        finish_axis(axis, name, "t", legend=False)
    np.ravel(axes)[0].set_ylabel("relative L² error")
    known = {}
    for axis in np.ravel(axes):
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            known.setdefault(label, handle)
    legend = {"loc": "outside right center", "fontsize": "small"}
    figure.legend(list(known.values()), list(known), **legend)
    save_figure(figure, stem)


def _curve(axis, directory: Path, label: str, colour: str) -> None:
    curve = read_curve(read_summary(directory))
    if len(curve):
        axis.semilogy(curve[:, 0], np.maximum(curve[:, 1], 1e-16), color=colour, label=label)


def _losses(names: tuple[str, ...], preset: str, root: Path, stem: Path) -> None:
    """What each step was judged by: the residual of its fit, or the tail of the spectrum."""
    figure, axes = new_figure(1, len(names), width=3.0 * len(names) + 0.6, height=2.8)
    default = DEFAULT_SCHEMES[preset] if preset == "paper" else preset
    drawn = ""
    for axis, name in zip(np.ravel(axes), names, strict=True):
        for scheme in ("", *SCHEMES):
            judged, pairs = read_losses(root / (f"{name}-{scheme}" if scheme else name))
            if pairs:
                label, drawn = scheme or default, judged
                style = {"color": STYLES.get(label, "C0"), "linewidth": 0.8}
                axis.semilogy(*np.transpose(pairs), label=label, **style)
        finish_axis(axis, name, "t", legend=axis is np.ravel(axes)[0])
    if drawn:
        np.ravel(axes)[0].set_ylabel(quantity(drawn).title)
        save_figure(figure, stem)


def _final_maps(names: tuple[str, ...], root: Path, stem: Path) -> None:
    """Prediction, exact solution and error at the end, one column for each problem."""
    found = [(name, _field(name, root)) for name in names]
    columns = [(f"{name}: ", *fields, -1) for name, fields in found if fields is not None]
    _maps(columns, ("prediction", "exact", "|error|"), stem)


def _frames(name: str, root: Path, stem: Path) -> None:
    """Exact solution, prediction and error at some times."""
    fields = _field(name, root)
    if fields is None:
        return
    count = len(fields[2])
    shown = range(count) if count <= 4 else np.linspace(0, count - 1, 4).astype(int)
    _maps([("", *fields, index) for index in shown], ("exact", "prediction", "|error|"), stem)


def _maps(columns: list[tuple], kinds: tuple[str, ...], stem: Path) -> None:
    """One column for each (label, problem, points, times, errors, index of the time)."""
    if not columns:
        return
    figure, axes = new_figure(3, len(columns), width=2.9 * len(columns), height=7.2)
    for place, column in zip(np.reshape(axes, (3, -1)).T, columns, strict=True):
        label, problem, points, times, errors, index = column
        exact, error = Truth(problem).values(times[index])[field_points(problem)], errors[index]
        values = {"exact": exact, "prediction": exact + error, "|error|": np.abs(error)}
        for axis, kind in zip(place, kinds, strict=True):
            _map(figure, axis, points, values[kind], f"{label}{kind}, t = {times[index]:g}")
    save_figure(figure, stem)


def _field(name: str, root: Path) -> tuple[Problem, np.ndarray, np.ndarray, np.ndarray] | None:
    # Without the run of the default scheme another one shows the problem as well.
    runs = (name, *(f"{name}-{scheme}" for scheme in reversed(SCHEMES)))
    fields = next((found for run in runs if (found := read_fields(root / run)) is not None), None)
    if fields is None:
        return None
    problem = problems.get(name)
    return problem, Truth(problem).points[field_points(problem)], *fields


def _map(figure, axis, points: np.ndarray, values: np.ndarray, title: str) -> None:
    """Values on a grid's points as an image; outside the domain it stays empty."""
    signed = "error" not in title
    xs, ys = np.unique(points[:, 0]), np.unique(points[:, 1])
    image = np.full((len(ys), len(xs)), np.nan)
    image[np.searchsorted(ys, points[:, 1]), np.searchsorted(xs, points[:, 0])] = values
    limit = float(np.abs(values).max()) or 1.0
    signed_scale = {"cmap": "RdBu_r", "vmin": -limit, "vmax": limit}
    scale = signed_scale if signed else {"cmap": "viridis"}
    extent = (xs[0], xs[-1], ys[0], ys[-1])
    drawn = axis.imshow(image, origin="lower", extent=extent, interpolation="nearest", **scale)
    figure.colorbar(drawn, ax=axis, shrink=0.8)
    axis.set_title(title, fontsize="small")
    axis.set_axis_off()


def _distances(root: Path, stem: Path) -> None:
    """Discrepancies to FEM at several resolutions, at the end, and between solvers."""
    problem = problems.get("burgers")
    kept, truth = field_points(problem), Truth(problem)
    places = {"TENG": "burgers", "spectral": "burgers-spectral"}
    places |= {f"FEM-{n}": f"burgers-fem-{n}" for n in RESOLUTIONS}
    found = {name: read_fields(root / place) for name, place in places.items()}
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
    chosen = [name for name in ("TENG", *fems[-1:], "spectral") if name in known]
    for first, second in itertools.combinations(chosen, 2):
        curve = apart(first, second)
        axes[2].semilogy(curve[1:, 0], curve[1:, 1], marker=".", label=f"{first} – {second}")
    finish_axis(axes[0], f"FEM to {base} over time", "t")
    finish_axis(axes[1], f"FEM to {base} at the end", "cells per axis")
    finish_axis(axes[2], "solvers pairwise", "t")
    axes[0].set_ylabel("relative L² distance")
    save_figure(figure, stem)
