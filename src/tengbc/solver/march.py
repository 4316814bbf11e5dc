"""The time loop, and nothing numerical."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from jaxtyping import Float

from tengbc.errors import DivergedError, NonFiniteError, OutputError
from tengbc.history import History, Record
from tengbc.journal import NO_STAGE, Stage
from tengbc.outcome import Outcome, Result, unwritten
from tengbc.projection import Fit
from tengbc.schemes import Space, State
from tengbc.solver.clock import Clock
from tengbc.solver.marched import Marched
from tengbc.solver.snapshots import march_snapshot, marched_from

Array = np.ndarray
LARGEST_MISFIT = 0.5
"""A fit that leaves more than this part of the solution has lost it."""
LARGEST_GROWTH = 1e6
"""No well-posed problem of ours grows by more within a run."""
STALLED_STEPS = 5
"""After so many steps in a row without one accepted iteration a march is over."""
AT_REST = 1e-8
"""A smaller misfit may well be left as it is: the solution has come to rest."""


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


def march(
    space: Space,
    scheme: Scheme,
    clock: Clock,
    start: State,
    seed: int,
    observe: Callable[[int, float, State, list[Fit]], Record],
    callbacks: Sequence[Callback] = (),
    keep_every: int = 1,
    stage: Stage = NO_STAGE,
) -> Marched:
    """Step from t = 0 to the end, watching for divergence, NaN and requests to stop.

    `observe` turns a state into a record; states at every `keep_every`-th step, the first and the
    last are kept. Where `stage` recalls an earlier march, that one goes on.
    """
    before = stage.recall()
    if before is None:
        size = _size(space.values(start.theta))
        empty = History(expected=clock.steps)
        marched = Marched(Result(Outcome.DONE), start, [0.0], [start.theta], empty, size)
    else:
        marched = marched_from(before, space, clock.steps)
    try:
        for record in marched.history:
            stage.note(record)
        marched.result = _steps(
            marched, space, scheme, clock, seed, observe, callbacks, keep_every, stage
        )
    except OutputError as error:
        marched.result = unwritten(error)
    return marched


def _steps(
    marched: Marched,
    space: Space,
    scheme: Scheme,
    clock: Clock,
    seed: int,
    observe: Callable[[int, float, State, list[Fit]], Record],
    callbacks: Sequence[Callback],
    keep_every: int,
    stage: Stage,
) -> Result:
    """The steps that are left; each ends with the march in a state that could be taken up."""
    for n in range(len(marched.history), clock.steps):
        if stage.stopping:
            return _stopped(marched, clock, n)
        try:
            state, fits = scheme.step(
                space, marched.state, clock.time(n), clock.step(n), (seed, n + 1)
            )
        except NonFiniteError as error:
            return Result(Outcome.NON_FINITE, str(error))
        except DivergedError as error:
            return Result(Outcome.DIVERGED, str(error))
        t = clock.time(n + 1)
        if n == 0:
            # Sources and boundary values may be what sets the size: the first step shows it.
            first = _size(space.values(state.theta))
            marched.usual_size = max(marched.usual_size, first, 1e-3)
        lost = _lost(space, state, fits, marched.usual_size, t)
        if lost is not None:
            return Result(Outcome.DIVERGED, lost)
        record = observe(n + 1, t, state, fits)
        marched.history.append(record)
        marched.state = state
        marched.still = marched.still + 1 if _stands_still(fits) else 0
        if (n + 1) % keep_every == 0 or n + 1 == clock.steps:
            marched.keep(t)
        asked = any([callback(record, state) for callback in callbacks])
        stage.note(record)
        stage.offer(lambda: march_snapshot(marched, space))
        if marched.still >= STALLED_STEPS:
            return Result(Outcome.STALLED, _stall_text(t))
        if asked and n + 1 < clock.steps:
            return _stopped(marched, clock, n + 1)
    return Result(Outcome.DONE)


def _stopped(marched: Marched, clock: Clock, n: int) -> Result:
    marched.keep(clock.time(n))
    return Result(
        Outcome.INTERRUPTED, f"stopped on request at t = {clock.time(n):.6g} of {clock.end:g}."
    )


def _stands_still(fits: Sequence[Fit]) -> bool:
    """Whether no fit of a step moved the parameters, though they had some way to go."""
    moved = any(fit.iterations for fit in fits)
    return not moved and any(fit.rejected for fit in fits) and fits[-1].misfit > AT_REST


def _stall_text(t: float) -> str:
    return (
        f"in the last {STALLED_STEPS} steps up to t = {t:.6g} no iteration made the fit better, so "
        f"the parameters stand still while the solution moves on; take a larger subset, more "
        f"iterations, a larger network or a smaller cutoff."
    )


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
