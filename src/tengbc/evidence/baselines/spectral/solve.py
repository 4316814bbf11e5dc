"""solve_spectral(): a problem on a periodic box in, a Fourier solution out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from tengbc.errors import DivergedError, UsageError
from tengbc.evidence.baselines.fem.clock import Clock
from tengbc.evidence.baselines.spectral.solution import SpectralSolution
from tengbc.evidence.baselines.spectral.stepper import Stepper
from tengbc.evidence.baselines.spectral.terms import sort_terms
from tengbc.fourier import Lattice, box_lattice
from tengbc.problem import Problem

Array = np.ndarray
Report = Callable[[str, float, dict], object]
"""Progress: phase, fraction done, what is known so far; True asks to stop there."""
LOOK_EVERY = 10
"""Steps between two looks at the shortest waves."""


def solve_spectral(
    problem: Problem,
    t_end: int | float | None = None,
    *,
    resolution: int | Sequence[int] = 128,
    most: int | None = None,
    fill: float = 1e-9,
    dt: int | float = 1e-3,
    times: Float[Array, " k"] | Sequence[int | float] | None = None,
    workers: int = 1,
    report: Report = lambda phase, fraction, known: None,
) -> SpectralSolution:
    """Solve a problem on a periodic box in 1, 2 or 3 dimensions with dealiased Fourier series.

    **Arguments:**

    - `problem`, and `t_end` unless the problem has a natural one.
    - `resolution`: points along every axis, or along each; two thirds of their waves are kept.
    - `most`: if given, the resolution is doubled, up to so many points per axis, when the shortest
      waves hold more than `fill` of the solution.
    - `dt`: the largest time step. Diffusion and transport with constant coefficients are exact;
      Δt must resolve everything else.
    - `times`: at which the solution is stored, by default 101 equispaced ones; steps land on them.
    - `workers`: threads of the transforms.
    - `report`: progress, a function of (phase, fraction, known); True stops the march there.
    """
    end = t_end if t_end is not None else problem.t_end
    if end is None:
        raise UsageError("t_end is missing and the problem has none of its own; pass t_end=….")
    for name, value in (("t_end", end), ("dt", dt)):
        if not (math.isfinite(value) and value > 0):
            raise UsageError(f"{name} is {value}, but it must be positive and finite; change it.")
    stored = _checked_times(np.linspace(0.0, end, 101) if times is None else times, end)
    clock = Clock(None)
    terms = sort_terms(problem)
    stepper = Stepper(terms, box_lattice(problem, resolution), workers)
    modes = _initial(problem, stepper.lattice)
    clock.lap("start")

    size = max(float(np.abs(modes).max()) / stepper.lattice.size, 1e-3)
    lattices, spectra, t, steps = [], [], 0.0, 0
    raised: list[tuple[float, int]] = []
    for goal in stored:
        count = math.ceil((goal - t) / dt * (1 - 1e-12))
        begin = t
        for n in range(count):
            if most and steps % LOOK_EVERY == 0:
                stepper, modes = _resolved(stepper, modes, most, fill, terms, workers)
                if not raised or raised[-1][1] != max(stepper.lattice.shape):
                    raised.append((float(t), max(stepper.lattice.shape)))
            modes = stepper.step(modes, float(t), (goal - begin) / count)
            t, steps = begin + (goal - begin) * (n + 1) / count, steps + 1
            if not np.abs(modes).max() <= 1e6 * size * stepper.lattice.size:
                raise DivergedError(
                    f"The Fourier march left every bound at t = {t:g}; take a smaller dt."
                )
            known = {"step": steps, "time": float(t), "points": max(stepper.lattice.shape)}
            if report("march", float(t / end), known):
                stored = stored[: len(spectra)]
                break
        t = goal
        if len(spectra) == len(stored):
            break  # stopped on request
        lattices.append(stepper.lattice)
        spectra.append(modes)
    clock.lap("march")
    facts: dict[str, object] = {
        "solver": "spectral",
        "resolution": max(stepper.lattice.shape),
        "unknowns": int(stepper.lattice.energy_weights[stepper.lattice.kept].sum()),
        "scheme": "integrating-factor rk4",
        "dt": float(dt),
        "steps": steps,
        "t_end": float(end),
        "raised": raised,
    }
    return SpectralSolution(problem, stored, lattices, spectra, clock.seconds, facts)


def _initial(problem: Problem, lattice: Lattice):
    values = problem.initial(lattice.points.reshape(lattice.dim, -1).T)
    fields = values.reshape(lattice.size, -1).T.reshape(-1, *lattice.shape)
    return lattice.forward(fields) * lattice.kept


def _resolved(stepper: Stepper, modes, most: int, fill: float, terms, workers: int):
    """The stepper and spectrum with as many waves as the solution fills now."""
    lattice = stepper.lattice
    while 2 * max(lattice.shape) <= most and lattice.tail(modes) > fill:
        finer = Lattice(lattice.lower, lattice.lengths, tuple(2 * n for n in lattice.shape))
        modes, lattice = lattice.resample(modes, finer), finer
    return (stepper if lattice is stepper.lattice else Stepper(terms, lattice, workers)), modes


def _checked_times(
    times: Float[Array, " k"] | Sequence[int | float], end: int | float
) -> Float[Array, " k"]:
    stored = np.array(times, dtype=np.float64).ravel()
    ascending = len(stored) > 0 and bool(np.all(np.diff(stored) > 0))
    if not ascending or stored[0] < 0 or stored[-1] > end * (1 + 1e-12):
        raise UsageError(
            f"times must ascend from 0 or later to t_end = {end:g} at most; correct them."
        )
    return np.minimum(stored, end)
