"""Reference values of the ordinary problems: made by NGSolve or a closed form, and stored.

    python -m benchmarks.ordinary --references [--only NAME]

High-order elements on curved meshes, graded towards corners and layers, with Radau IIA of order
nine and graded first steps; computed twice, once more coarsely, and the distance of the two is
stored as what the reference is worth. A closed form is checked against NGSolve in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Float

import tengbc as tb
from benchmarks.ordinary_closed_forms import CLOSED_FORMS
from benchmarks.ordinary_problems import PROBLEMS, Ordinary
from tengbc.evidence.baselines.hpfem import HpSettings, solve_hpfem

Array = np.ndarray
PLACE = Path(__file__).parent / "references" / "ordinary"
POINTS = 500
FINE = HpSettings(
    size=0.08, order=12, step=0.0125, stages=5, corner_levels=12, start_levels=12, start_steps=4
)
COARSE = HpSettings(
    size=0.1, order=10, step=0.025, stages=5, corner_levels=10, start_levels=11, start_steps=3
)
FINER = {
    # what a problem needs beyond the usual, or does not need
    "fin": {"size": 0.05, "corner_levels": 16},
    "corner": {"corner_levels": 16},
    "channel": {"size": 0.04},
    "pattern": {"order": 10, "step": 0.00625, "stages": 3},
    "seventeen": {"order": 10, "step": 0.025},
}


@dataclass(frozen=True)
class Stored:
    """Values (k, n) or (k, n, m) at points (n, d) and times (k,).

    `worth` is the largest relative distance of two ways to compute them, at any of the times.
    """

    points: Float[Array, "n d"]
    times: Float[Array, " k"]
    values: Float[Array, "k n ..."]
    worth: float
    source: str


def errors(values: Float[Array, "k n ..."], truth: Float[Array, "k n ..."]) -> Float[Array, " k"]:
    """Relative L² errors, one for each time; the points are spread evenly."""
    apart = (values - truth).reshape(len(truth), -1)
    return np.linalg.norm(apart, axis=1) / np.linalg.norm(truth.reshape(len(truth), -1), axis=1)


def load(name: str) -> Stored:
    """The stored reference of a problem."""
    with np.load(PLACE / f"{name}.npz", allow_pickle=False) as data:
        return Stored(
            data["points"],
            data["times"],
            data["values"],
            float(data["worth"]),
            str(data["source"]),
        )


def make(ordinary: Ordinary) -> Stored:
    """Compute a reference and what it is worth."""
    problem, times = ordinary.build(), ordinary.times()
    points = problem.domain.interior(POINTS, seed=1).x
    given = FINER.get(ordinary.name, {})
    known = {"layers": ordinary.layers, "interfaces": ordinary.interfaces}
    fine = replace(FINE, **known, **given)
    coarse = replace(COARSE, **known, **_relaxed(given))
    if not ordinary.jumps:
        fine, coarse = replace(fine, start_levels=2), replace(coarse, start_levels=1)
    computed = _solved(problem, fine, points, times)
    source = f"NGSolve: {fine}"
    formula = CLOSED_FORMS.get(ordinary.name)
    if formula is None:
        values, other = computed, _solved(problem, coarse, points, times)
        source += f"; compared with: {coarse}"
    else:
        values, other = np.stack([formula(points, float(t)) for t in times]), computed
        source = f"closed form; compared with {source}"
    return Stored(points, times, values, float(errors(other, values).max()), source)


def _relaxed(given: dict) -> dict:
    """What the coarser of two references takes of a problem's own settings."""
    looser = {"size": 1.25, "step": 2.0}
    relaxed = {key: value * looser.get(key, 1) for key, value in given.items()}
    for key in ("order", "corner_levels"):
        if key in relaxed:
            relaxed[key] -= 2
    return relaxed


def _solved(problem: tb.Problem, settings: HpSettings, points: Array, times: Array) -> Array:
    return solve_hpfem(problem, None, settings, times=times).at_times(points, times)


def write(name: str) -> Stored:
    """Make a reference and store it."""
    stored = make(PROBLEMS[name])
    PLACE.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        PLACE / f"{name}.npz",
        points=stored.points,
        times=stored.times,
        values=stored.values,
        worth=np.array(stored.worth),
        source=np.array(stored.source),
    )
    return stored
