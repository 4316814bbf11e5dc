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
    """Relative error of a state against the exact solution, newest known, {} where unknown."""

    def __init__(self, problem: Problem, parameters: Parameters):
        self.problem, self.known = problem, {}
        self.last = time.monotonic()
        self.points = problem.domain.interior(POINTS, seed=1).x
        network = parameters.network
        self._values = jax.jit(jax.vmap(lambda theta, x: network(theta)(x), in_axes=(None, 0)))

    def __call__(self, state: State, t: float) -> dict[str, float]:
        """The error, measured now or a moment ago."""
        if self.problem.exact_function is None or time.monotonic() - self.last < INTERVAL:
            return self.known
        truth = self.problem.exact(self.points, t)
        with jax.enable_x64(True):
            values = np.asarray(self._values(state.theta, self.points))
        size = float(np.linalg.norm(truth))
        if size > 0:
            self.known = {"error": float(np.linalg.norm(values - truth)) / size}
        self.last = time.monotonic()
        return self.known
