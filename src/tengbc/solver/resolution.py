"""How many features the initial values need, and how short their waves must be."""

from __future__ import annotations

import math

import numpy as np

from tengbc.lstsq.regularised import RegularisedQR
from tengbc.networks.random_features import waves
from tengbc.problem import Problem
from tengbc.solver.sampling import initial_values

STRETCHES = (1.0, 1.8)
"""Smooth data want long waves; narrow peaks want shorter ones, at some cost in the rest."""
GROWTH = 1.4
DAMPING = 1e-13


def resolving_features(
    problem: Problem, fewest: int, most: int, tolerance: float, seed: int
) -> tuple[int, float]:
    """(number, stretch) of the features that fit u₀ to the tolerance at points of no fit.

    The numbers grow from `fewest` to at most `most`; if none suffices, the best is taken.
    """
    best = (math.inf, fewest, 1.0)
    count = fewest
    while True:
        for stretch in STRETCHES[:1] if problem.domain.periodic else STRETCHES:
            error = _fit_error(problem, count, stretch, seed)
            if error <= tolerance:
                return count, stretch
            best = min(best, (error, count, stretch))
        if count >= most:
            return best[1:]
        count = min(most, round(GROWTH * count))


def _fit_error(problem: Problem, count: int, stretch: float, seed: int) -> float:
    """Relative error of the best fit of u₀ with that many features."""
    domain = problem.domain
    weight, bias = waves(domain, count, seed, stretch)

    def features(x):
        return np.hstack([np.sin(x @ weight.T + bias), np.ones((len(x), 1))])

    points, unseen = (domain.interior(2 * count, seed=seed + k) for k in (0, 1))
    targets, truth = (initial_values(problem, sample) for sample in (points, unseen))
    factored = RegularisedQR(features(points.x), DAMPING)
    fitted = features(unseen.x) @ np.stack([factored.solve(target) for target in targets.T], axis=1)
    size = float(np.linalg.norm(truth))
    return float(np.linalg.norm(fitted - truth)) / size if size else 0.0
