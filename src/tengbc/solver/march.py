"""The time loop, and nothing numerical."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from jaxtyping import Float

from tengbc.errors import DivergedError, NonFiniteError
from tengbc.projection import Fit
from tengbc.schemes import Space, State
from tengbc.solver.clock import Clock
from tengbc.solver.outcome import Outcome, Result
from tengbc.solver.record import Record

Array = np.ndarray
LARGEST_MISFIT = 0.5
"""A fit that leaves more than this part of the solution has lost it."""
LARGEST_GROWTH = 1e6
"""No well-posed problem of ours grows by more within a run."""


class Scheme(Protocol):
    """A time scheme: from one state to the next."""

    @property
    def name(self) -> str:
        """Its name on the command line."""
        ...

    @property
    def order(self) -> int:
        """Order of convergence in Δt."""
        ...

    def step(
        self, space: Space, state: State, t: float, dt: float, key: tuple[int, ...]
    ) -> tuple[State, list[Fit]]:
        """From u(t) to u(t + Δt)."""
        ...


Callback = Callable[[Record, State], bool | None]
"""Called after every step; returning True asks the march to stop there."""


@dataclass
class Marched:
    """What a march leaves behind."""

    result: Result
    state: State
    times: list[float] = field(default_factory=list)
    thetas: list[Float[Array, " p"]] = field(default_factory=list)
    history: list[Record] = field(default_factory=list)
    seconds_first_step: float = 0.0


def march(
    space: Space,
    scheme: Scheme,
    clock: Clock,
    start: State,
    seed: int,
    observe: Callable[[int, float, State, list[Fit]], Record],
    callbacks: Sequence[Callback] = (),
    keep_every: int = 1,
) -> Marched:
    """Step from t = 0 to the end, watching for divergence, NaN and requests to stop.

    `observe` turns a state into a record; states at every `keep_every`-th step, the first and the
    last are kept.
    """
    marched = Marched(Result(Outcome.DONE), start, [0.0], [start.theta])
    state = start
    usual_size = _size(space.values(state.theta))
    for n in range(clock.steps):
        began = time.perf_counter()
        try:
            state, fits = scheme.step(space, state, clock.time(n), clock.dt, (seed, n + 1))
        except NonFiniteError as error:
            marched.result = Result(Outcome.NON_FINITE, str(error))
            break
        except DivergedError as error:
            marched.result = Result(Outcome.DIVERGED, str(error))
            break
        t = clock.time(n + 1)
        if n == 0:
            marched.seconds_first_step = time.perf_counter() - began
            # Sources and boundary values may be what sets the size: the first step shows it.
            usual_size = max(usual_size, _size(space.values(state.theta)), 1e-3)
        lost = _lost(space, state, fits, usual_size, t)
        if lost is not None:
            marched.result = Result(Outcome.DIVERGED, lost)
            break
        record = observe(n + 1, t, state, fits)
        marched.history.append(record)
        marched.state = state
        asked = any([callback(record, state) for callback in callbacks])
        if (n + 1) % keep_every == 0 or n + 1 == clock.steps or asked:
            marched.times.append(t)
            marched.thetas.append(state.theta)
        if asked and n + 1 < clock.steps:
            marched.result = Result(
                Outcome.INTERRUPTED, f"stopped on request at t = {t:.6g} of {clock.end:g}."
            )
            break
    return marched


def _lost(
    space: Space, state: State, fits: Sequence[Fit], usual_size: float, t: float
) -> str | None:
    """A sentence if the march has lost the solution, None if all is well."""
    size = _size(space.values(state.theta))
    misfit = np.max([0.0, *(fit.misfit for fit in fits)])
    if not np.isfinite(size) or size > LARGEST_GROWTH * usual_size:
        return (
            f"the solution grew from {usual_size:.3g} to {size:.3g} by t = {t:.6g}, so the "
            f"scheme is unstable at this time step or the problem is ill-posed; take a smaller dt "
            f"or an implicit scheme."
        )
    if not misfit <= LARGEST_MISFIT:
        return (
            f"the fit at t = {t:.6g} leaves {misfit:.1%} of the solution unexplained; take a "
            f"smaller dt, a larger network or an implicit scheme."
        )
    return None


def _size(values: Float[Array, "n m"]) -> float:
    return float(np.sqrt(np.mean(np.square(values)))) if values.size else 0.0
