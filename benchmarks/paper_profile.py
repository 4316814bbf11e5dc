"""Where the time of the preset `paper` goes: one iteration part by part, and a march of some steps.

`python -m benchmarks.paper_profile [PROBLEM [STEPS]]`. Processor seconds of a cell of the paper's
tables after a short initial fit; a busy machine makes them longer, but hardly changes their ratios.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from unittest import mock

import numpy as np

import tengbc as tb
from tengbc.defaults import PAPER
from tengbc.evidence.reproduction.catalog import GROUPS, PAPER_CHOICES
from tengbc.journal import NO_JOURNAL
from tengbc.lstsq import ConjugateGradients, spectrum
from tengbc.options import options
from tengbc.projection import Collocation, SubsetProjection, subset
from tengbc.projection.collocation import unit_lengths
from tengbc.solver.march import Plan
from tengbc.solver.strategies.base import Task
from tengbc.solver.strategies.paper import Paper
from tengbc.spaces import NetworkSpace, State

REPEATS = 15
BAR = 0.25
"""Seconds that one least-squares iteration may take."""


def main(name: str = "heat-dirichlet", steps: str = "20") -> None:
    """Both profiles, with the points and the cut-off of the problem's own cell."""
    group = next(group for group, names in GROUPS.items() if name in names)
    given = options(preset="paper", fit_iterations=150, **PAPER_CHOICES[group])
    task = Task(tb.problems.get(name), given, 1.0, {}, {}, lambda *_: None, NO_JOURNAL)
    plan = Paper().discretise(task, None)
    assert isinstance(plan.space, NetworkSpace)
    assert isinstance(plan.space.collocation, Collocation)
    _iteration(plan.space.collocation, plan.start.theta)
    _march(plan, plan.space.collocation, int(steps))


def _iteration(collocation: Collocation, theta: np.ndarray) -> None:
    """One iteration at 512 columns: Jacobian, factorisation, solution and true residual."""
    t, chosen = 5e-4, SubsetProjection()
    active = subset.draw_subset(len(theta), chosen.subset, (0,))
    target = collocation.values(theta) + t * collocation.rates(theta, 0.0)
    residual = collocation.residual(theta, target, t)
    columns = collocation.columns(theta, t, active)
    gram = ConjugateGradients(columns, residual)
    parts: dict[str, Callable[[], object]] = {
        "columns of the Jacobian": lambda: collocation.columns(theta, t, active),
        "their lengths, scaling": lambda: (
            columns / unit_lengths(np.linalg.norm(columns, axis=1))[:, None]
        ),
        "Gram matrix": lambda: ConjugateGradients(columns, residual),
        "solution behind it": lambda: gram.solve(PAPER.cutoff),
        "singular values": lambda: spectrum(columns, residual),
        "one true residual": lambda: collocation.residual(theta, target, t),
        "whole iteration": lambda: SubsetProjection(1).fit(theta, collocation, target, t, (0,)),
        "whole iteration, svd": lambda: SubsetProjection(1, method="svd").fit(
            theta, collocation, target, t, (0,)
        ),
    }
    print(f"one least-squares iteration, {collocation.rows:,} × {len(active)}")
    for name, call in parts.items():
        print(f"  {name:<26}{_seconds(call) * 1e3:8.1f} ms")
    print(f"  (at most {BAR * 1e3:.0f} ms are allowed)")


def _seconds(call: Callable[[], object]) -> float:
    call()
    found = []
    for _ in range(REPEATS):
        began = time.process_time()
        call()
        found.append(time.process_time() - began)
    return statistics.median(found)


class _Timed:
    """Adds up the processor seconds spent in a function."""

    def __init__(self, function: Callable):
        self.function, self.seconds, self.calls = function, 0.0, 0

    def __call__(self, *arguments, **named):
        began = time.process_time()
        try:
            return self.function(*arguments, **named)
        finally:
            self.seconds += time.process_time() - began
            self.calls += 1


def _method(timed: _Timed) -> Callable:
    """A function that takes `self`, as a class needs it."""
    return lambda *arguments: timed(*arguments)


def _march(plan: Plan, collocation: Collocation, steps: int) -> None:
    """Steps of Heun as the preset takes them; what is in none of the parts is Python."""
    dt = PAPER.dt
    step = plan.scheme.prepare(plan.space, dt)
    state, _ = step(plan.start, 0.0, (0, 1))  # compiles
    parts = {
        "Gram matrices": _Timed(ConjugateGradients),
        "solutions": _Timed(ConjugateGradients.solve),
        "solved again": _Timed(ConjugateGradients.again),
        "columns of the Jacobian": _Timed(collocation.columns),
        "true residuals": _Timed(collocation.residual),
        "rates": _Timed(collocation.rates),
    }
    timed = {"gram": parts["Gram matrices"]}
    with (
        mock.patch.dict(subset.FACTORISATIONS, timed),
        mock.patch.object(ConjugateGradients, "solve", _method(parts["solutions"])),
        mock.patch.object(ConjugateGradients, "again", _method(parts["solved again"])),
        mock.patch.object(collocation, "columns", parts["columns of the Jacobian"]),
        mock.patch.object(collocation, "residual", parts["true residuals"]),
        mock.patch.object(collocation, "rates", parts["rates"]),
    ):
        began = time.process_time()
        for n in range(1, steps + 1):
            state, _ = step(State(state.theta), n * dt, (0, n + 1))
        whole = time.process_time() - began
    print(f"\n{steps} steps of {plan.scheme.name}: {whole / steps:.3f} s each")
    for name, part in parts.items():
        share = part.seconds / whole
        calls = part.calls / steps
        print(f"  {name:<26}{share:7.1%}{part.seconds / steps * 1e3:8.1f} ms{calls:6.1f} calls")
    rest = whole - sum(part.seconds for part in parts.values())
    print(f"  {'everything else':<26}{rest / whole:7.1%}{rest / steps * 1e3:8.1f} ms")


if __name__ == "__main__":
    main(*sys.argv[1:])
