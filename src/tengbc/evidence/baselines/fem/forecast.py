"""What a run will cost and how accurate it will be.

A pilot on coarse meshes tells how the error splits into its parts,

    error ≈ A·resolution⁻ᵖ + B·steps⁻ᵠ,

the first measured against the truth, the second for each scheme against finer steps on the same
mesh.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from tengbc.errors import DivergedError
from tengbc.evidence.baselines.fem.schemes import SCHEMES
from tengbc.evidence.baselines.fem.trials import FemTrial, Runner

Array = np.ndarray
PILOT = (12, 24)
"""Resolutions of the pilot."""
PILOT_STEPS = 12
"""So few that the time error shows: with many, what remains is the first moments' adjustment of the
initial values to the mesh, which is part of the space error."""
FEWEST_STEPS = 4
SMALLEST = 1e-15
"""Errors below rounding are not believed."""
SAFETY = 0.9
"""The share of the time that a run is planned to take: clocks are not that steady."""
SOLVE_GROWTH, PREPARATION_GROWTH = 2.2, 2.4
"""How the cost of a solve and of the preparations grow with the resolution, as powers of it."""


class Plan(NamedTuple):
    """What to run, and the error expected of it."""

    error: float
    scheme: str
    steps: int


@dataclass(eq=False)
class Model:
    """What is expected of a run: its error and its seconds.

    `space` is the error at the resolution `known` with its order, `time` the constant of each
    scheme's; `measured` is the latest run, from which times are extrapolated.
    """

    space: float
    order: float
    known: int
    time: dict[str, float]
    measured: FemTrial

    def preparation(self, resolution: int) -> float:
        """Seconds for mesh, assembly and factorisation."""
        known = self.measured.seconds - self.measured.march_seconds
        return known * self._ratio(resolution) ** PREPARATION_GROWTH

    def step(self, resolution: int, scheme: str) -> float:
        """Seconds for one step."""
        solves = self.measured.steps * _solves(self.measured.scheme)
        each = self.measured.march_seconds / solves
        return each * _solves(scheme) * self._ratio(resolution) ** SOLVE_GROWTH

    def plan(self, resolution: int, seconds: int | float) -> Plan:
        """The scheme and the number of steps that promise the least error in the seconds."""
        space = self.space * (resolution / self.known) ** -self.order
        room = SAFETY * seconds - self.preparation(resolution)
        plans = []
        for scheme, constant in self.time.items():
            order = SCHEMES[scheme].order
            # More steps than make the time error a tenth of the other are wasted.
            enough = int(np.ceil((10 * constant / space) ** (1 / order)))
            fit = int(room / self.step(resolution, scheme))
            if fit >= FEWEST_STEPS:
                steps = max(FEWEST_STEPS, min(enough, fit))
                plans.append(Plan(space + constant * steps**-order, scheme, steps))
        return min(plans, default=Plan(np.inf, next(iter(self.time)), FEWEST_STEPS))

    def _ratio(self, resolution: int) -> float:
        return resolution / self.measured.resolution


def _solves(scheme: str) -> int:
    return len(SCHEMES[scheme].nodes) - 1


def pilot(run: Runner, nonlinear: bool) -> Model:
    """Measure the parts of the error on coarse meshes."""
    schemes = ("ars222", "ark4") if nonlinear else ("crank-nicolson", "tr-bdf2", "ark4")
    best = max(schemes, key=lambda name: SCHEMES[name].order)
    coarse, _ = _steady(run, PILOT[0], best, 8 * PILOT_STEPS)
    fine, reference = _steady(run, PILOT[1], best, 8 * PILOT_STEPS)
    ratio = max(coarse.error, SMALLEST) / max(fine.error, SMALLEST)
    order = np.log(ratio) / np.log(PILOT[1] / PILOT[0])
    time = {}
    for scheme in schemes:
        trial, values = _steady(run, PILOT[1], scheme, PILOT_STEPS)
        gap = max(float(run.relative(values - reference).max()), SMALLEST)
        time[scheme] = gap * trial.steps ** SCHEMES[scheme].order
    space = max(fine.error, SMALLEST)
    return Model(space, float(np.clip(order, 1.0, 3.0)), PILOT[1], time, fine)


def _steady(
    run: Runner, resolution: int, scheme: str, steps: int
) -> tuple[FemTrial, Float[Array, "k n"]]:
    """A run with so many steps, or two, four, eight times as many if it blows up."""
    for factor in (1, 2, 4):
        try:
            return run.run(resolution, scheme, factor * steps)
        except DivergedError:
            continue
    return run.run(resolution, scheme, 8 * steps)
