"""From t = 0 to the end: steps as large as stable, more waves when the shortest fill up."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import jax
import numpy as np
from jaxtyping import Complex, Float

from tengbc.deformation.rates import LIMIT, Bend, Rates
from tengbc.errors import DivergedError, NonFiniteError
from tengbc.fourier import box_lattice
from tengbc.networks.deformed_waves import to_table
from tengbc.problem import Problem

Array = np.ndarray
SIZES = (32, 48, 64, 96, 128, 160, 192, 224, 256, 320, 384, 512)
"""Points per axis to choose from: few, because each is compiled, and good for the transform."""
STEPS = 10
"""Steps between two looks at the step size and the spectrum."""
RESPONSE = 80.0
"""How much faster than the solution changes the deformation follows it."""
EARLIEST = 0.25
"""Errors add up: early on the shortest waves may hold less, by (t/T)², at least by this squared."""


@dataclass(frozen=True)
class State:
    """All that decides the steps to come."""

    t: float
    points: int
    steps: int
    scale: float
    rate: float
    modes: Complex[Array, "m ..."]
    potential: Complex[Array, "..."]


@dataclass(frozen=True)
class Stored:
    """The network at one time, as tables of coefficients, and what was seen of it then."""

    t: float
    steps: int
    points: int
    tail: float
    compression: float
    head: Float[Array, "m 2 ..."]
    potential: Float[Array, "2 ..."]


@dataclass
class Marched:
    """The networks at the stored times, when there were more waves, and where the march stands."""

    stored: list[Stored] = field(default_factory=list)
    grown: list[tuple[float, int]] = field(default_factory=list)
    state: State | None = None


Seen = Callable[[Marched], bool]
"""Called at every stored time; True asks the march to stop there."""


def march_deformed(
    problem: Problem,
    times: Float[Array, " k"] | Sequence[float],
    *,
    fill: float,
    largest_step: float,
    bend: Bend | None = None,
    least: Callable[[float], int] = lambda t: SIZES[0],
    most: int = SIZES[-1],
    seen: Seen = lambda marched: False,
    before: Marched | None = None,
) -> Marched:
    """Solve a problem on a periodic box up to the last of `times`.

    **Arguments:** `fill`, the part of u that the shortest waves may hold at the end before there
    are more of them; `largest_step`; `bend`; `least` and `most`, the smallest number of points
    per axis at a time t and the largest at all; `seen`; `before`, an earlier march to go on from.
    """
    end, bend = float(times[-1]), bend or Bend()
    natural = max(end, problem.t_end or 0.0)  # a run cut short is as accurate as the whole one
    with jax.enable_x64(True):
        marched = before or Marched()
        if marched.state is None:
            marched.state = _start(problem, bend, end, fill * EARLIEST**2, least(0.0), most)
            marched.grown.append((0.0, marched.state.points))
        state = marched.state
        rates = _rates(problem, state.points, bend)
        for goal in times[len(marched.stored) :]:
            while state.t < goal:
                allowed = fill * max(state.t / natural, EARLIEST) ** 2
                larger = _grown(problem, rates, state, allowed, least(state.t), most)
                if larger is not state:
                    state, rates = larger, _rates(problem, larger.points, bend)
                    marched.grown.append((state.t, state.points))
                state = _some_steps(rates, state, float(goal), largest_step)
                _check(rates, state, problem)
            marched.state = state
            marched.stored.append(_stored(rates, state))
            if seen(marched):
                break
        return marched


@lru_cache(maxsize=2 * len(SIZES))
def _rates(problem: Problem, points: int, bend: Bend) -> Rates:
    """Kept, so that what one march has compiled serves the next."""
    return Rates(problem, box_lattice(problem, points), bend)


def _start(problem: Problem, bend: Bend, end: float, fill: float, first: int, most: int) -> State:
    """The smallest lattice that holds the initial values, bent as they want it."""
    sizes = [n for n in SIZES if first <= n <= most] or [most]
    for n in sizes:
        lattice = box_lattice(problem, n)
        values = problem.initial(lattice.points.reshape(lattice.dim, -1).T)
        if not np.isfinite(values).all():
            raise NonFiniteError("The initial condition is not finite everywhere; correct it.")
        fields = values.reshape(lattice.size, -1).T.reshape(-1, *lattice.shape)
        plain = lattice.forward(fields) * lattice.kept
        if lattice.tail(plain) > fill and n < sizes[-1]:
            continue
        state = _bent(problem, bend, end, plain, float(np.ptp(values)) or 1.0)
        if lattice.tail(state.modes) <= fill or n == sizes[-1]:
            return state
    raise AssertionError("the last size is always taken")


def _bent(problem: Problem, bend: Bend, end: float, plain: Array, scale: float) -> State:
    """The initial values in coordinates that suit them; `plain` is their spectrum in x itself."""
    rates = _rates(problem, plain.shape[1] if plain.ndim > 2 else 2 * (plain.shape[1] - 1), bend)
    potential = np.zeros(plain.shape[1:], complex)
    slope, _ = rates(plain, potential, 0.0, (scale, 0.0))
    speed = np.abs(rates.lattice.backward(np.asarray(slope))).max()
    rate = max(RESPONSE * float(speed) / scale, 10 / end)
    for _ in range(5):
        potential = rates.relaxed(potential, (scale, rate))
    modes = np.asarray(rates.initial(potential))
    return State(0.0, rates.lattice.shape[0], 0, scale, rate, modes, np.asarray(potential))


def _grown(
    problem: Problem, rates: Rates, state: State, allowed: float, least: int, most: int
) -> State:
    """More waves if the shortest hold too much: nothing is fitted anew, zeros are added."""
    lattice = rates.lattice
    larger = [n for n in SIZES if max(state.points + 1, least) <= n <= most]
    enough = state.points >= least and lattice.tail(np.asarray(state.modes)) <= allowed
    if not larger or enough:
        return state
    finer = box_lattice(problem, larger[0])
    modes, potential = np.asarray(state.modes), np.asarray(state.potential)
    return replace(
        state,
        points=larger[0],
        modes=lattice.resample(modes, finer),
        potential=lattice.resample(potential, finer),
    )


def _some_steps(rates: Rates, state: State, goal: float, largest: float) -> State:
    """A few steps towards the goal, or on to it."""
    modes, potential, t = state.modes, state.potential, state.t
    control = (state.scale, state.rate)
    fastest = max(float(v) for v in rates.fastest(modes, potential, t, control))
    dt = min(largest, LIMIT / fastest if fastest > 0 else largest)
    if not dt > 1e-9 * goal:
        raise DivergedError(
            f"the deformed march would need steps of {dt:.1e} at t = {t:.6g}; the solution has "
            f"become too steep for it."
        )
    count = max(1, math.ceil((goal - t) / dt * (1 - 1e-12)))
    dt, now = (goal - t) / count, min(count, STEPS)
    for n in range(now):
        modes, potential = rates.step(modes, potential, t + n * dt, dt, control)
    t = goal if now == count else t + now * dt
    scale = max(state.scale, float(rates.health(modes, potential)[2]))
    return replace(
        state, t=t, steps=state.steps + now, scale=scale, modes=modes, potential=potential
    )


def _stored(rates: Rates, state: State) -> Stored:
    lattice, modes = rates.lattice, np.asarray(state.modes)
    reach = tuple((n - 1) // 3 for n in lattice.shape)
    return Stored(
        state.t,
        state.steps,
        state.points,
        lattice.tail(modes),
        float(rates.health(state.modes, state.potential)[0]),
        np.stack([to_table(component, lattice, reach) for component in modes]),
        to_table(np.asarray(state.potential), lattice, reach),
    )


def _check(rates: Rates, state: State, problem: Problem) -> None:
    compression, cell, _ = (float(v) for v in rates.health(state.modes, state.potential))
    if not (math.isfinite(compression) and np.isfinite(np.asarray(state.modes)).all()):
        raise NonFiniteError(
            f"The deformed march met NaN or infinity by t = {state.t:.6g}; the equation "
            f"({problem.equation.formula}) is not finite there, or the problem is ill-posed."
        )
    if cell <= 0:
        raise DivergedError(
            f"the deformation folded over at t = {state.t:.6g}; take a larger rtol or a smaller dt."
        )
