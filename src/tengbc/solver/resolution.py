"""How many features the initial values need, how short their waves are, and where they crowd."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from tengbc.geometry.points import Points
from tengbc.lstsq.regularised import RegularisedQR
from tengbc.networks import Network
from tengbc.networks.crowded_waves import box_waves, crowded_interior
from tengbc.networks.layers import Dense, DenseLayers
from tengbc.networks.network import with_head
from tengbc.networks.random_features import waves
from tengbc.problem import Problem
from tengbc.solver.crowd import Crowd, initial_crowd
from tengbc.solver.sampling import initial_values

Array = np.ndarray
STRETCHES = (1.0, 1.8)
"""Smooth data want long waves; narrow peaks want shorter ones, at some cost in the rest."""
GROWTH = 1.4
DAMPING = 1e-13
HOPELESS = 0.03
"""Where so many features as ENOUGH_TO_TELL leave more than this, more of the kind will not do."""
ENOUGH_TO_TELL = 450
CLEARLY = 0.1
"""Crowded waves have to be that much better: random ones march well on any domain."""
CROWDABLE = 3
"""In more dimensions a lattice of waves has too few along each axis to be of use."""
PER_FEATURE = 2.0
"""Points of a fit per feature."""


@dataclass(frozen=True, eq=False)
class Kind:
    """Which features: random waves, stretched or not, or waves that crowd where u₀ is steep."""

    stretch: float = 1.0
    crowd: Crowd | None = None

    def network(self, problem: Problem, count: int, seed: int) -> Network:
        """So many features of this kind, head zero."""
        weight, bias = self._waves(problem, count, seed)
        embedding = self.crowd.axes if self.crowd else None
        body = DenseLayers(embedding, (Dense(weight, bias),), "sin")
        return with_head(body, problem.components)

    def interior(self, problem: Problem, count: int, seed: int) -> Points:
        """Points for a fit, as crowded as the features."""
        if self.crowd:
            return crowded_interior(problem.domain, self.crowd.axes, count, seed)
        return problem.domain.interior(count, seed=seed)

    def _waves(self, problem: Problem, count: int, seed: int):
        if self.crowd:
            return box_waves(problem.domain, self.crowd.axes, self.crowd.richness, count, seed)
        return waves(problem.domain, count, seed, self.stretch)

    def features(self, problem: Problem, count: int, seed: int):
        """x ↦ the features and the constant, at many points."""
        weight, bias = self._waves(problem, count, seed)

        def at(x: Float[Array, "n d"]) -> Float[Array, "n k"]:
            place = self.crowd.axes.at(x) if self.crowd else x
            return np.hstack([np.sin(place @ weight.T + bias), np.ones((len(x), 1))])

        return at


PLAIN = Kind()


def resolving_features(
    problem: Problem, fewest: int, most: int, tolerance: float, seed: int
) -> tuple[int, Kind]:
    """(number, kind) of the features that fit u₀ to the tolerance at points of no fit.

    The numbers grow from `fewest` to at most `most`. Random waves come first; where they do not
    get there, waves that crowd. If none suffices, the best is taken.
    """
    plain = [Kind(stretch) for stretch in STRETCHES[: 1 if problem.domain.periodic else None]]
    error, count, kind = _grown(problem, plain, fewest, most, tolerance, seed)
    if error > tolerance and not problem.domain.periodic and problem.domain.dim <= CROWDABLE:
        crowded = [Kind(crowd=initial_crowd(problem))]
        found = _grown(problem, crowded, fewest, most, tolerance, seed)
        if found[0] < CLEARLY * error:
            _, count, kind = found
    return count, kind


def _grown(
    problem: Problem, kinds: list[Kind], fewest: int, most: int, tolerance: float, seed: int
) -> tuple[float, int, Kind]:
    """(error, number, kind) of the first that suffices, or of the best."""
    best = (math.inf, fewest, kinds[0])
    count = fewest
    while True:
        for kind in kinds:
            error = _fit_error(problem, kind, count, seed)
            if error < best[0]:
                best = (error, count, kind)
            if error <= tolerance:
                return best
        if count >= most or (count >= ENOUGH_TO_TELL and best[0] > HOPELESS):
            return best
        count = min(most, round(GROWTH * count))


def _fit_error(problem: Problem, kind: Kind, count: int, seed: int) -> float:
    """Relative error of the best fit of u₀ with that many features."""
    features = kind.features(problem, count, seed)
    points, unseen = (kind.interior(problem, round(PER_FEATURE * count), seed + k) for k in (0, 1))
    targets, truth = (initial_values(problem, sample) for sample in (points, unseen))
    scale, weight = (np.sqrt(sample.w)[:, None] for sample in (points, unseen))
    factored = RegularisedQR(scale * features(points.x), DAMPING)
    heads = np.stack([factored.solve(target) for target in (scale * targets).T], axis=1)
    missed = features(unseen.x) @ heads - truth
    size = float(np.linalg.norm(weight * truth))
    return float(np.linalg.norm(weight * missed)) / size if size else 0.0
