"""From t = 0 to the end: steps as large as stable, more waves when the shortest fill up."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import jax
import numpy as np
from jaxtyping import Complex, Float

from tengbc.deformation.rates import LIMIT, Bend, Rates
from tengbc.errors import DivergedError, NonFiniteError
from tengbc.fourier import Lattice, box_lattice
from tengbc.problem import Problem

Array = np.ndarray
SIZES = (32, 64, 96, 128, 160, 192, 256, 320, 384, 512)
"""Points per axis to choose from: few, because each is compiled, and good for the transform."""
STEPS = 10
"""Steps between two looks at the step size."""
RESPONSE = 80.0
"""How much faster than the solution changes the deformation follows it."""


@dataclass(frozen=True)
class Snapshot:
    """The network at one time: spectra of u and of the potential, and the lattice they live on."""

    t: float
    lattice: Lattice
    modes: Complex[Array, "m ..."]
    potential: Complex[Array, "..."]


@dataclass
class Marched:
    """Snapshots at the stored times, and what was seen on the way, one entry per snapshot."""

    snapshots: list[Snapshot] = field(default_factory=list)
    tails: list[float] = field(default_factory=list)
    compressions: list[float] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    grown: list[tuple[float, int]] = field(default_factory=list)
    stopped: bool = False


Seen = Callable[[Marched], bool]
"""Called at every stored time; True asks the march to stop there."""


def march_deformed(
    problem: Problem,
    times: Float[Array, " k"] | Sequence[float],
    *,
    fill: float,
    largest_step: float,
    bend: Bend | None = None,
    first: int = SIZES[0],
    most: int = SIZES[-1],
    seen: Seen = lambda marched: False,
) -> Marched:
    """Solve a problem on a periodic box up to the last of `times`.

    **Arguments:** `fill`, the part of u that the shortest waves may hold before there are more of
    them; `largest_step`; `bend`, by default with a rate taken from the problem; `first` and `most`,
    the least and largest number of points per axis; `seen`.
    """
    with jax.enable_x64(True):
        rates, modes, potential, scale = _start(problem, bend, fill, first, most)
        marched, t, steps = Marched(), 0.0, 0
        marched.grown.append((0.0, rates.lattice.shape[0]))
        for goal in times:
            while t < goal:
                rates, modes, potential = _grown(marched, rates, modes, potential, t, fill, most)
                dt, count = _step_size(rates, modes, potential, t, goal, scale, largest_step)
                for _ in range(min(count, STEPS)):
                    modes, potential = rates.step(modes, potential, t, dt, scale)
                    t, steps, count = t + dt, steps + 1, count - 1
                if count == 0:
                    t = float(goal)
                compression, cell, spread = (float(v) for v in rates.health(modes, potential))
                _check(rates, modes, compression, cell, t, problem)
                scale = max(scale, spread)
            snapshot = Snapshot(t, rates.lattice, np.asarray(modes), np.asarray(potential))
            marched.snapshots.append(snapshot)
            marched.tails.append(rates.lattice.tail(snapshot.modes))
            compression = float(rates.health(modes, potential)[0])
            marched.compressions.append(compression)
            marched.steps.append(steps)
            if seen(marched):
                marched.stopped = goal < times[-1]
                break
        return marched


def _start(problem: Problem, bend: Bend | None, fill: float, first: int, most: int):
    """The smallest lattice that holds the initial values, bent as they want it."""
    sizes = [n for n in SIZES if first <= n <= most] or [most]
    for n in sizes:
        lattice = box_lattice(problem, n)
        values = problem.initial(lattice.points.reshape(lattice.dim, -1).T)
        plain = lattice.forward(values.reshape(lattice.size, -1).T.reshape(-1, *lattice.shape))
        if lattice.tail(plain) <= fill / 10 or n == sizes[-1]:
            break
    potential = np.zeros(lattice.numbers.shape[1:], complex)
    if not np.isfinite(values).all():
        raise NonFiniteError("The initial condition is not finite; correct it.")
    spread = float(np.ptp(values))
    scale = spread if spread > 0 else 1.0
    chosen = bend or Bend(rate=1.0)
    rates = Rates(problem, lattice, chosen)
    if bend is None:
        speed = np.asarray(rates.backward(rates(plain, potential, 0.0, scale)[0]))
        rates = Rates(problem, lattice, replace(chosen, rate=_rate(problem, speed, scale)))
    for _ in range(5):
        potential = rates.relaxed(potential, scale)
    return rates, rates.initial(potential), potential, scale


def _rate(problem: Problem, speed: Float[Array, "..."], scale: float) -> float:
    least = 10 / problem.t_end if problem.t_end else 1.0
    return max(RESPONSE * float(np.abs(speed).max()) / scale, least)


def _grown(marched: Marched, rates: Rates, modes, potential, t: float, fill: float, most: int):
    """More waves if the shortest hold more than `fill`: nothing is fitted, zeros are added."""
    lattice = rates.lattice
    larger = [n for n in SIZES if lattice.shape[0] < n <= most]
    if not larger or lattice.tail(np.asarray(modes)) <= fill:
        return rates, modes, potential
    finer = box_lattice(rates.problem, larger[0])
    marched.grown.append((t, larger[0]))
    modes = lattice.resample(np.asarray(modes), finer)
    return (
        Rates(rates.problem, finer, rates.bend),
        modes,
        lattice.resample(np.asarray(potential), finer),
    )


def _step_size(
    rates: Rates, modes, potential, t: float, goal: float, scale: float, largest: float
) -> tuple[float, int]:
    """Δt, and how many such steps lead to the goal."""
    fastest = max(float(v) for v in rates.fastest(modes, potential, t, scale))
    dt = min(largest, LIMIT / fastest if fastest > 0 else largest)
    if not math.isfinite(dt) or dt < 1e-9 * max(goal, 1e-3):
        raise DivergedError(
            f"the deformed march would need steps of {dt:.1e} at t = {t:.6g}; the solution has "
            f"become too steep for it."
        )
    count = max(1, math.ceil((goal - t) / dt * (1 - 1e-12)))
    return (goal - t) / count, count


def _check(rates: Rates, modes, compression: float, cell: float, t: float, problem: Problem):
    if not np.isfinite(np.asarray(modes)).all() or not math.isfinite(compression):
        raise NonFiniteError(
            f"The deformed march produced NaN or infinity by t = {t:.6g}; the equation "
            f"({problem.equation.formula}) may not be finite there, or the problem is ill-posed."
        )
    if cell <= 0:
        raise DivergedError(
            f"the deformation folded over at t = {t:.6g}; give a larger rtol or a smaller dt."
        )
