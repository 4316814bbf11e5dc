"""One solve of an ordinary problem, by us or by NGSolve, in a process of its own.

    python -m benchmarks.ordinary_child ours NAME RTOL [STRATEGY]
    python -m benchmarks.ordinary_child rival NAME TARGET OUR_SECONDS BUDGET

Prints a line of JSON for each run; benchmarks/ordinary.py reads them.
"""

from __future__ import annotations

import json
import sys
import time

import jax.numpy as jnp
import numpy as np

import tengbc as tb
from benchmarks.ordinary import APART, SPACES, STEPS
from benchmarks.ordinary_problems import PROBLEMS
from benchmarks.ordinary_references import errors, load
from tengbc.errors import TengbcError
from tengbc.evidence.baselines.hpfem import HpSettings, solve_hpfem

LATE = 6
"""Dearer runs after one that reached the target, before the search for a cheaper one ends."""
TRUSTED = 10
"""A reference is no judge of errors below ten times its own."""


def say(**facts: object) -> None:
    """A line for the parent."""
    print(json.dumps(facts), flush=True)


def before() -> tb.Problem:
    """What the process solves first."""
    return tb.Problem(
        domain=tb.Disk(radius=1.0),
        equation=tb.Heat(kappa=0.1),
        conditions={"circle": tb.Robin(a=1.0, b=0.4, v=0.0)},
        initial=lambda x: (1 - jnp.sum(x**2)) ** 3,
        t_end=0.5,
    )


def ours(name: str, rtol: str, strategy: str | None = None) -> None:
    """tb.solve, its seconds, its true and its stated error."""
    problem, stored = PROBLEMS[name].build(), load(name)
    tb.solve(before(), rtol=1e-3, throw=False)
    say(ready=True)
    began = time.perf_counter()
    try:
        solution = tb.solve(problem, rtol=float(rtol), strategy=strategy, throw=False)
    except TengbcError as error:
        reason = type(error).__name__
        say(outcome=reason, error=None, stated=None, seconds=time.perf_counter() - began)
        return
    seconds = time.perf_counter() - began
    outcome = solution.result.outcome.name.lower().replace("_", " ")
    if solution.times[-1] < stored.times[-1] * (1 - 1e-9):
        say(outcome=outcome, error=None, stated=None, seconds=seconds)
        return
    error = errors(solution.at_times(stored.points, stored.times), stored.values).max()
    counted = solution.times >= stored.times[0] * (1 - 1e-9)
    estimate = np.asarray(solution.error_estimate)
    stated = float(estimate[counted].max()) if len(estimate) == len(counted) else None
    say(outcome=outcome, error=float(error), stated=stated, seconds=seconds)


def ladder() -> list[tuple[int, int]]:
    """Pairs of a mesh and time steps, from coarse to fine, both about as fine."""
    pairs = [(i, j) for i in range(len(SPACES)) for j in range(len(STEPS)) if abs(i - j) <= APART]
    return sorted(pairs, key=lambda pair: (sum(pair), pair))


def settings(name: str, pair: tuple[int, int]) -> HpSettings:
    """What a pair means for a problem."""
    ordinary = PROBLEMS[name]
    size, order, layers = SPACES[pair[0]]
    step, stages, levels, each = STEPS[pair[1]]
    known = (ordinary.layers, ordinary.interfaces)
    levels = levels if ordinary.jumps else 0
    return HpSettings(size, order, step, stages, layers, *known, levels, each)


def rival(name: str, *numbers: str) -> None:
    """NGSolve's runs: all pairs until one reaches the target, then the middle ones in our time."""
    target, ours, budget = map(float, numbers)
    stored, problem = load(name), PROBLEMS[name].build()
    solve_hpfem(before(), None, HpSettings(0.5, 2, 0.5, 2), times=[0.5])
    say(ready=True)
    began, reached, late = time.perf_counter(), np.inf, 0
    middle = len(STEPS) / len(SPACES)
    for pair in ladder():
        if late > LATE and abs(pair[1] - pair[0] * middle) > 0.5:
            continue
        start = time.perf_counter()
        try:
            chosen = settings(name, pair)
            solution = solve_hpfem(problem, None, chosen, times=stored.times)
            values = solution.at_times(stored.points, stored.times)
        except TengbcError:
            continue
        seconds = time.perf_counter() - start
        # No error is known more exactly than the reference, often NGSolve's own.
        error = max(float(errors(values, stored.values).max()), stored.worth)
        say(error=error, seconds=seconds, setting=str(chosen), unknowns=solution.unknowns)
        if error <= target:
            reached = min(reached, seconds)
        late += seconds > reached
        done = late > LATE and (seconds > ours or error < TRUSTED * stored.worth)
        if done or time.perf_counter() - began > budget:
            return


if __name__ == "__main__":
    what, *given = sys.argv[1:]
    {"ours": ours, "rival": rival}[what](*given)
