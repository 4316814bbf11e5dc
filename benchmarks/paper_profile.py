"""Where the time of the preset `paper` goes: one iteration part by part, and a march of some steps.

`python -m benchmarks.paper_profile [STEPS]`. Processor seconds: a busy machine changes little.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from unittest import mock

import numpy as np
from tengbc.solver.paper import plan_paper

import tengbc as tb
from tengbc.lstsq import spectrum
from tengbc.options import options
from tengbc.projection import Collocation, SubsetProjection, subset
from tengbc.spaces import State

REPEATS = 15
BAR = 0.25
"""Seconds that one least-squares iteration may take."""


def main(steps: int = 20) -> None:
    """Both profiles, on heat-dirichlet with the preset's own sizes and a short initial fit."""
    problem = tb.problems.get("heat-dirichlet")
    plan = plan_paper(problem, options(preset="paper", fit_iterations=40), 1.0, lambda *_: None)
    theta = plan.start.theta
    _iteration(plan.collocation, theta)
    _march(plan, steps)


def _iteration(collocation: Collocation, theta: np.ndarray) -> None:
    """One iteration at 512 columns: Jacobian, factorisation, solution and true residual."""
    t, chosen = 5e-4, SubsetProjection()
    active = subset.draw_subset(len(theta), chosen.subset, (0,))
    target = collocation.values(theta) + t * collocation.rates(theta, 0.0)
    residual = collocation.residual(theta, target, t)
    columns = collocation.columns(theta, t, active)
    parts: dict[str, Callable[[], object]] = {
        "columns of the Jacobian": lambda: collocation.columns(theta, t, active),
        "their lengths, scaling": lambda: columns / subset._lengths(columns)[:, None],
        "factorisation, gram": lambda: spectrum(columns, residual, "gram"),
        "factorisation, svd": lambda: spectrum(columns, residual, "svd"),
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


def _march(plan, steps: int) -> None:
    """Steps of Heun as the preset takes them; what is in none of the parts is Python."""
    collocation, scheme, dt = plan.collocation, plan.scheme, plan.clock.dt
    state, _ = scheme.step(plan.space, plan.start, 0.0, dt, (0, 1))  # compiles
    parts = {
        "factorisation": _Timed(spectrum),
        "columns of the Jacobian": _Timed(collocation.columns),
        "true residuals": _Timed(collocation.residual),
        "rates and values": _Timed(collocation.rates),
    }
    with (
        mock.patch.object(subset, "spectrum", parts["factorisation"]),
        mock.patch.object(collocation, "columns", parts["columns of the Jacobian"]),
        mock.patch.object(collocation, "residual", parts["true residuals"]),
        mock.patch.object(collocation, "rates", parts["rates and values"]),
    ):
        began = time.process_time()
        for n in range(1, steps + 1):
            state, _ = scheme.step(plan.space, State(state.theta), n * dt, dt, (0, n + 1))
        whole = time.process_time() - began
    print(f"\n{steps} steps of {scheme.name}: {whole / steps:.3f} s each")
    for name, part in parts.items():
        share = part.seconds / whole
        calls = part.calls / steps
        print(f"  {name:<26}{share:7.1%}{part.seconds / steps * 1e3:8.1f} ms{calls:6.1f} calls")
    rest = whole - sum(part.seconds for part in parts.values())
    print(f"  {'everything else':<26}{rest / whole:7.1%}{rest / steps * 1e3:8.1f} ms")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
