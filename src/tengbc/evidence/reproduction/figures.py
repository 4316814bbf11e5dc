"""The paper's figures for heat and transport: maps, errors over time, losses per step."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tengbc import problems
from tengbc.evidence.reproduction.catalog import GROUPS, SCHEMES
from tengbc.evidence.reproduction.run_case import field_points, read_curve, read_fields, read_losses
from tengbc.history import quantity
from tengbc.plotting import new_figure, save_figure
from tengbc.problem import Problem
from tengbc.runs.directory import read_summary
from tengbc.solver.measure import Truth

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


def _errors_over_time(names: tuple[str, ...], preset: str, root: Path, stem: Path) -> None:
    """Relative L² error against time: every scheme, the default, FEM and PINN."""
    figure, axes = new_figure(1, len(names), width=3.2 * len(names) + 1.4, height=3.2)
    for axis, name in zip(np.ravel(axes), names, strict=True):
        default = "fast (radau9)" if preset == "fast" else "heun"
        _curve(axis, root / name, default, "C0")
        for label, colour in STYLES.items():
            _curve(axis, root / f"{name}-{label}", label, colour)
        axis.set_title(name)
        axis.set_xlabel("t")
        axis.grid(alpha=0.3)
    first = np.ravel(axes)[0]
    first.set_ylabel("relative L² error")
    figure.legend(*_unique(np.ravel(axes)), loc="outside right center", fontsize="small")
    save_figure(figure, stem)


def _curve(axis, directory: Path, label: str, colour: str) -> None:
    curve = read_curve(read_summary(directory))
    if len(curve):
        axis.semilogy(curve[:, 0], np.maximum(curve[:, 1], 1e-16), color=colour, label=label)


def _unique(axes) -> tuple[list, list[str]]:
    known = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            known.setdefault(label, handle)
    return list(known.values()), list(known)


def _losses(names: tuple[str, ...], preset: str, root: Path, stem: Path) -> None:
    """What each step was judged by: the residual of its fit, or the tail of the spectrum."""
    figure, axes = new_figure(1, len(names), width=3.0 * len(names) + 0.6, height=2.8)
    default = "heun" if preset == "paper" else preset
    drawn = ""
    for axis, name in zip(np.ravel(axes), names, strict=True):
        for scheme in ("", *SCHEMES):
            judged, pairs = read_losses(root / (f"{name}-{scheme}" if scheme else name))
            losses = np.array(pairs)
            if len(losses):
                label = scheme or default
                colour = STYLES.get(label, "C0")
                axis.semilogy(losses[:, 0], losses[:, 1], color=colour, label=label, linewidth=0.8)
                drawn = judged
        axis.set_title(name)
        axis.set_xlabel("t")
        axis.grid(alpha=0.3)
    if drawn:
        np.ravel(axes)[0].set_ylabel(quantity(drawn).title)
        np.ravel(axes)[0].legend(fontsize="small")
        save_figure(figure, stem)


def _final_maps(names: tuple[str, ...], root: Path, stem: Path) -> None:
    """Prediction, exact solution and error at the end, one column for each problem."""
    found = [(name, _field(name, root)) for name in names]
    found = [(name, fields) for name, fields in found if fields is not None]
    if not found:
        return
    figure, axes = new_figure(3, len(found), width=2.9 * len(found), height=7.2)
    for column, (name, (problem, points, times, error)) in zip(
        np.reshape(axes, (3, -1)).T, found, strict=True
    ):
        exact = Truth(problem).values(times[-1])[field_points(problem)]
        panels = (
            (exact + error[-1], "prediction"),
            (exact, "exact"),
            (np.abs(error[-1]), "|error|"),
        )
        for axis, (values, what) in zip(column, panels, strict=True):
            _map(figure, axis, points, values, f"{name}: {what}, t = {times[-1]:g}")
    save_figure(figure, stem)


def _frames(name: str, root: Path, stem: Path) -> None:
    """Exact solution, prediction and error at some times."""
    fields = _field(name, root)
    if fields is None:
        return
    problem, points, times, error = fields
    shown = range(len(times)) if len(times) <= 4 else np.linspace(0, len(times) - 1, 4).astype(int)
    figure, axes = new_figure(3, len(shown), width=2.9 * len(shown), height=7.2)
    for column, index in zip(np.reshape(axes, (3, -1)).T, shown, strict=True):
        exact = Truth(problem).values(times[index])[field_points(problem)]
        panels = (
            (exact, "exact"),
            (exact + error[index], "prediction"),
            (np.abs(error[index]), "|error|"),
        )
        for axis, (values, what) in zip(column, panels, strict=True):
            _map(figure, axis, points, values, f"{what}, t = {times[index]:g}")
    save_figure(figure, stem)


def _field(name: str, root: Path) -> tuple[Problem, np.ndarray, np.ndarray, np.ndarray] | None:
    fields = read_fields(root / name)
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
    drawn = axis.imshow(
        image,
        origin="lower",
        extent=(xs[0], xs[-1], ys[0], ys[-1]),
        cmap="RdBu_r" if signed else "viridis",
        vmin=-limit if signed else None,
        vmax=limit if signed else None,
        interpolation="nearest",
    )
    figure.colorbar(drawn, ax=axis, shrink=0.8)
    axis.set_title(title, fontsize="small")
    axis.set_axis_off()
