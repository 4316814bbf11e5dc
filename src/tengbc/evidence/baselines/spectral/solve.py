"""solve_spectral(): a problem on a periodic box in, a Fourier solution out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from jaxtyping import Complex, Float
from numpy.typing import ArrayLike

from tengbc.errors import DivergedError
from tengbc.evidence.baselines.solution import (
    AbstractBaselineSolution,
    Times,
    final_time,
    positive,
    stored_times,
)
from tengbc.evidence.baselines.spectral.stepper import FourierStepper, sort_terms
from tengbc.fourier import Interpolation, Lattice, box_lattice
from tengbc.pointwise import as_points
from tengbc.problem import Problem
from tengbc.timing import Stopwatch
from tengbc.types import Progress

Array = np.ndarray
LOOK_EVERY = 10
"""Steps between two looks at the shortest waves."""


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class SpectralSolution(AbstractBaselineSolution):
    """u(x, t) at the stored `times`: for each a lattice and the spectrum on it.

    `tails` are the relative sizes of the shortest waves, which tell whether they suffice.
    """

    method: ClassVar[str] = "Fourier"
    lattices: Sequence[Lattice]
    spectra: Sequence[Complex[Array, "m ..."]]

    @property
    def tails(self) -> Float[Array, " k"]:
        """How much of u sits in the shortest tenth of the waves, for each stored time."""
        pairs = zip(self.lattices, self.spectra, strict=True)
        return np.array([lattice.tail(modes) for lattice, modes in pairs])

    def at_times(self, x: ArrayLike, times: Sequence[float] | Array) -> Float[Array, "k n ..."]:
        """u at points x (n, d) and several stored times; nothing is interpolated in time."""
        points = np.atleast_2d(as_points(x, self.problem.domain.dim))
        known: dict[Lattice, Interpolation] = {}
        result = np.zeros((len(times), len(points), *self.problem.shape))
        for row, t in zip(result, times, strict=True):
            index = self._index(t)
            lattice = self.lattices[index]
            if lattice not in known:
                known[lattice] = Interpolation(lattice, points)
            values = known[lattice](self.spectra[index])
            row[...] = values.T.reshape(row.shape)
        return result


def solve_spectral(
    problem: Problem,
    t_end: int | float | None = None,
    *,
    resolution: int | Sequence[int] = 128,
    most: int | None = None,
    fill: float = 1e-9,
    dt: int | float = 1e-3,
    times: Times | None = None,
    workers: int = 1,
    progress: Progress = lambda phase, fraction, known: None,
) -> SpectralSolution:
    """Solve a problem on a periodic box in 1, 2 or 3 dimensions with dealiased Fourier series.

    **Arguments:**

    - `problem`, and `t_end` unless the problem has a natural one.
    - `resolution`: points along every axis, or along each; two thirds of their waves are kept.
    - `most`: if given, the resolution is doubled, up to `most` points per axis, when the shortest
      waves hold more than `fill` of the solution.
    - `dt`: the largest time step. Diffusion and transport with constant coefficients are exact;
      Δt must resolve everything else.
    - `times`: at which the solution is stored, by default 101 equispaced ones; steps land on them.
    - `workers`: threads of the transforms.
    - `progress`: a function of (phase, fraction, known); True stops the march there.
    """
    end, dt = final_time(problem, t_end), positive("dt", dt)
    stored = stored_times(times, end)
    watch = Stopwatch()
    terms = sort_terms(problem)
    stepper = FourierStepper(terms, box_lattice(problem.domain, resolution), workers)
    lattice = stepper.lattice
    values = problem.initial(lattice.points.reshape(lattice.dim, -1).T)
    fields = values.reshape(lattice.size, -1).T.reshape(-1, *lattice.shape)
    modes = lattice.forward(fields) * lattice.kept
    starting, compiling = watch.lap()

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
            if progress("march", float(t / end), known):
                stored = stored[: len(spectra)]
                break
        t = goal
        if len(spectra) == len(stored):
            break  # stopped on request
        lattices.append(stepper.lattice)
        spectra.append(modes)
    marching, more = watch.lap()
    unknowns = int(stepper.lattice.energy_weights[stepper.lattice.kept].sum())
    facts: dict[str, object] = {
        "solver": "spectral",
        "resolution": max(stepper.lattice.shape),
        "unknowns": unknowns,
        "parameters": unknowns,
        "scheme": "integrating-factor rk4",
        "dt": dt,
        "steps": steps,
        "t_end": end,
        "raised": raised,
    }
    return SpectralSolution(
        problem=problem,
        times=stored,
        lattices=lattices,
        spectra=spectra,
        seconds={"compile": compiling + more, "start": starting, "march": marching},
        facts=facts,
    )


def _resolved(stepper: FourierStepper, modes, most: int, fill: float, terms, workers: int):
    """The stepper and spectrum with as many waves as the solution fills now."""
    lattice = stepper.lattice
    while 2 * max(lattice.shape) <= most and lattice.tail(modes) > fill:
        finer = Lattice(lattice.lower, lattice.lengths, tuple(2 * n for n in lattice.shape))
        modes, lattice = lattice.resample(modes, finer), finer
    if lattice is not stepper.lattice:
        stepper = FourierStepper(terms, lattice, workers)
    return stepper, modes
