"""The error while a march is under way, for those who watch: seldom, and on few points."""

from __future__ import annotations

import time

import jax
import numpy as np

from tengbc.networks import Parameters
from tengbc.problem import Problem
from tengbc.schemes import State

INTERVAL = 2.0
"""Seconds between two looks; a march that takes less is not looked at."""
POINTS = 512


class LiveError:
    """Relative error of a state against the exact solution, newest known, {} where unknown.

    `steps` are those of the march. The second step tells how long the others will take, and
    whether they will be looked at: if so, what that needs is compiled there, and never later.
    """

    def __init__(self, problem: Problem, parameters: Parameters, steps: int):
        self.problem, self.known = problem, {}
        self.steps, self.seen, self.watched = steps, 0, False
        self.last = time.monotonic()
        self.points = problem.domain.interior(POINTS, seed=1).x
        network = parameters.network
        self._values = jax.jit(jax.vmap(lambda theta, x: network(theta)(x), in_axes=(None, 0)))

    def __call__(self, step: int, state: State, t: float) -> dict[str, float]:
        """The error after a step, measured now or a moment ago."""
        if self.problem.exact_function is None:
            return self.known
        self.seen, passed = self.seen + 1, time.monotonic() - self.last
        if self.seen == 2:
            self.watched = passed * (self.steps - step) >= INTERVAL
        if self.seen == 1 or (self.watched and (self.seen == 2 or passed >= INTERVAL)):
            if self.watched:
                self._look(state, t)
            self.last = time.monotonic()
        return self.known

    def _look(self, state: State, t: float) -> None:
        truth = self.problem.exact(self.points, t)
        with jax.enable_x64(True):
            values = np.asarray(self._values(state.theta, self.points))
        size = float(np.linalg.norm(truth))
        if size > 0:
            self.known = {"error": float(np.linalg.norm(values - truth)) / size}
