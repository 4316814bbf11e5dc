"""Deformed waves: on periodic boxes, waves of coordinates that move with the solution.

Resolutions are compared with the one before, which has fewer waves and larger steps. Their distance
is the error of the coarser, measured. That of the finer follows from it: the error of either is in
proportion to what its shortest waves hold.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import jax
import numpy as np
from jaxtyping import Float, Int

from tengbc.costs import BASE, Cost
from tengbc.defaults import DEFAULT_TOLERANCE
from tengbc.equations.local import local_rate, needed_derivatives
from tengbc.errors import UsageError
from tengbc.fourier import box_lattice
from tengbc.networks import DeformedWaves, Network, Parameters, PotentialMap
from tengbc.networks.network import with_head
from tengbc.networks.potential import padded_table, table_shape
from tengbc.options import Options
from tengbc.problem import Problem
from tengbc.schemes import SSP104, RungeKutta
from tengbc.solution.measure import TIMES
from tengbc.solver.march import Plan, Trajectory
from tengbc.solver.steps import StableSteps
from tengbc.solver.strategies.base import (
    AbstractStrategy,
    Applies,
    Blame,
    Distance,
    RefinementPolicy,
    Solved,
    Task,
    first_of,
)
from tengbc.solver.strategies.features import COMPILING
from tengbc.spaces import State
from tengbc.spaces.deformed import LIMIT, SIZES, DeformedSpace, rates_on
from tengbc.spaces.deformed_rates import MonitorOptions
from tengbc.structure import structure

Array = np.ndarray
TAIL = 1.0
"""The tail of the spectrum that is allowed at the end, per unit of the tolerance."""
COARSER = 16.0
"""The tail that a resolution is allowed, per unit of what the next one is allowed."""
STEPS = 200
"""The fewest steps of a run."""
POINTS_PER_DIGIT = 36
"""Points per axis that a front has called for, per digit of the tolerance (docs/burgers.md)."""
COMPRESSION = 25.0
"""How much closer than elsewhere points come to lie at a front, for an estimate of the cost."""
FRONT_TIME = 0.6
"""The part of the time that there is a front, for the same estimate."""
TWO_MARCHES = 1.3
"""The answer and the coarser one before it, per march of the answer."""
TRANSFORMS, TRANSFORM_COST = 25, 8.0
"""Fourier transforms of a rate, and the seconds of an operation in them per one in a product."""
LEAST_GAIN = 1 / 256
"""The smallest error of an answer, per unit of that of the resolution before, that is believed:
what order four gains with a quarter of the step."""


@dataclass(frozen=True)
class WaveResolution:
    """How finely: what the shortest waves may hold, and the largest step.

    `surpassed` lists (time, points per axis) of the resolution before; from each of these times on,
    this one has more points.
    """

    tail: float
    largest_step: float
    surpassed: tuple[tuple[float, int], ...] = ((0.0, 0),)

    def least(self, t: float) -> int:
        """The fewest points per axis at time t."""
        reached = max(n for since, n in self.surpassed if since <= t + 1e-9)
        return next((n for n in SIZES if n > reached), SIZES[-1])


@final
class DeformedWavesStrategy(AbstractStrategy):
    """Potential and head march together; steps as long as the scheme is stable with."""

    name = "deformed-waves"
    what = "waves that follow fronts on a periodic box, explicit in time"
    honours = frozenset({"rtol", "dt"})
    policy = RefinementPolicy(attempts=4, lost_attempts=1, gain=0.5, unseen_points=2048)
    threads = 1

    def applies(self, problem: Problem) -> Applies:
        domain = problem.domain
        if not domain.periodic or domain.dim > 3:
            return Applies(False, "the domain is no periodic box of up to three dimensions")
        if structure(problem.equation.rhs, problem.shape, domain.bounds[0]).affine:
            return Applies(False, "the equation is linear, so no front forms by itself")
        try:
            needed_derivatives(problem.equation, domain.dim, problem.shape)
        except UsageError:
            return Applies(False, "the equation has derivatives of third order or more")
        return Applies(True, "a nonlinear equation on a periodic box: fronts may form and travel")

    def first(self, task: Task) -> WaveResolution:
        longest = task.options.dt or task.t_end / STEPS
        return WaveResolution(COARSER * TAIL * task.tolerance, 2 * longest)

    def companions(self, answer: Solved) -> dict[str, WaveResolution]:
        return {}

    def fixed(self, options: Options) -> bool:
        return options.dt is not None

    def refine(
        self, task: Task, resolution: WaveResolution, trajectory: Trajectory, blame: Blame | None
    ) -> WaveResolution:
        points = _points_of(task.problem, trajectory)
        since = [0.0, *trajectory.times[:-1]]  # more waves may have come just after the time before
        surpassed = tuple(zip(since, points.tolist(), strict=True))
        return WaveResolution(resolution.tail / COARSER, resolution.largest_step / 2, surpassed)

    def work_ratio(self, task: Task, solved: Solved, resolution: WaveResolution) -> float:
        """Points nᵈ for each step; steps are as short as asked for, or as n⁻² for stability."""
        dim, trajectory = task.problem.domain.dim, solved.trajectory
        before = _points_of(task.problem, trajectory)
        after = np.array([resolution.least(t) for t in trajectory.times])
        shorter = solved.resolution.largest_step / resolution.largest_step
        steps = np.maximum(shorter, (after / before) ** 2)
        return float(np.sum(steps * after**dim) / np.sum(before**dim))

    def discretise(self, task: Task, resolution: WaveResolution) -> Plan:
        problem, t_end = task.problem, task.t_end
        space = DeformedSpace(problem, resolution.tail, t_end, resolution.least)
        steps = StableSteps(np.linspace(0.0, t_end, TIMES + 1), resolution.largest_step)
        theta = space.start()
        network = lambda theta: _network(problem, theta)
        points = space.points**problem.domain.dim
        facts = {"scheme": "deformed-ssp104", "parameters": len(theta)}
        facts |= {"interior_points": points, "boundary_points": 0}
        return Plan(space, RungeKutta(SSP104), steps, State(theta), network, facts)

    def parameters(
        self, task: Task, resolution: WaveResolution, trajectory: Trajectory
    ) -> tuple[Parameters[Network], Float[Array, "k p"]]:
        """All states with as many waves as the richest has."""
        largest = max(trajectory.thetas, key=len)
        parameters = Parameters(_network(task.problem, largest))
        padded = [_padded(task.problem, theta, largest) for theta in trajectory.thetas]
        return parameters, np.stack(padded)

    def estimate(
        self,
        task: Task,
        answer: Solved,
        companions: Mapping[str, Solved],
        distance: Distance,
        layer: float,
    ) -> Float[Array, " k"]:
        """The distance, times the ratio of the largest tails so far, answer to companion."""
        companion = first_of(companions)
        found = distance(answer.solution, companion.solution)
        tails = [np.maximum.accumulate(_tails(solved)) for solved in (answer, companion)]
        ratio = tails[0] / np.maximum(tails[1], 1e-300)
        return found * np.clip(ratio, LEAST_GAIN, 1.0)

    def cost(self, problem: Problem, options: Options, t_end: float, speed: float) -> Cost:
        """Transforms of all stages; steps are limited by diffusion across dense cells."""
        digits = -math.log10(options.rtol or problem.rtol or DEFAULT_TOLERANCE)
        dim, lengths = problem.domain.dim, np.subtract(*problem.domain.bounds[::-1])
        points = min(POINTS_PER_DIGIT * digits, SIZES[-1])
        wave = 2 * np.pi / float(np.min(lengths)) * points / 3 * COMPRESSION
        rate = _diffusivity(problem) * dim * wave**2 / LIMIT
        steps = max(STEPS, t_end / (options.dt or t_end), FRONT_TIME * t_end * rate)
        fields = (problem.components or 1) * points**dim
        operations = steps * SSP104.stages * TRANSFORMS * 5 * fields * math.log2(points**dim)
        memory = BASE + 8.0 * 100 * fields + 16.0 * TIMES * fields
        seconds = COMPILING + TWO_MARCHES * TRANSFORM_COST * operations / speed
        return Cost(seconds, memory, "rtol")


def _diffusivity(problem: Problem) -> float:
    """|∂L/∂(∇²u)|, at its largest for the initial values at a few points."""
    rate, shape, dim = local_rate(problem.equation), problem.shape, problem.domain.dim
    flat, round_ = np.zeros((*shape, dim)), np.ones((*shape, 1, 1)) * np.eye(dim) / dim
    with jax.enable_x64(True):
        felt = [
            jax.jvp(
                lambda hessian, x=x: rate(problem.initial_function(x), flat, hessian, x, 0.0),
                (0 * round_,),
                (round_,),
            )[1]
            for x in problem.domain.interior(4).x
        ]
    return float(np.max(np.abs(felt)))


def _points(length: int, dim: int, components: int) -> int:
    """Points per axis of the lattice whose waves a θ of that length holds."""
    for n in SIZES:
        *full, half = (((n - 1) // 3) for _ in range(dim))
        waves = 2 * math.prod(2 * reach + 1 for reach in full) * (half + 1)
        if waves * (1 + components) + components == length:
            return n
    raise AssertionError(f"no lattice has a θ of length {length}")


def _points_of(problem: Problem, trajectory: Trajectory) -> Int[Array, " k"]:
    """Points per axis at each kept time."""
    dim, components = problem.domain.dim, problem.components or 1
    return np.array([_points(len(theta), dim, components) for theta in trajectory.thetas])


def _tables(problem: Problem, theta: Float[Array, " p"]) -> Float[Array, "c 2 ..."]:
    """The tables of the potential and of each component."""
    components = problem.components or 1
    n = _points(len(theta), problem.domain.dim, components)
    shape = table_shape(box_lattice(problem.domain, n))
    return theta[:-components].reshape(1 + components, 2, *shape)


def _network(problem: Problem, theta: Float[Array, " p"]) -> Network:
    """The network of one θ, head included."""
    lower, upper = problem.domain.bounds
    table = _tables(problem, theta)[0]
    map = PotentialMap(table, tuple(lower.tolist()), tuple((upper - lower).tolist()))
    parameters = Parameters(with_head(DeformedWaves(map), problem.components))
    return parameters.network(theta)


def _padded(problem: Problem, theta: Float[Array, " p"], largest: Float[Array, " p"]) -> Array:
    """θ with as many waves as the largest."""
    if len(theta) == len(largest):
        return theta
    shape = _tables(problem, largest).shape[2:]
    tables = _tables(problem, theta)
    wider = [[padded_table(part, shape) for part in table] for table in tables]
    return np.concatenate([np.array(wider).ravel(), np.zeros(problem.components or 1)])


def _tails(solved: Solved) -> Float[Array, " k"]:
    """The part of u in its shortest waves at each kept time."""
    problem, found = solved.solution.problem, []
    for theta in solved.trajectory.thetas:
        n = _points(len(theta), problem.domain.dim, problem.components or 1)
        rates = rates_on(problem, n, MonitorOptions())
        found.append(rates.lattice.tail(rates.spectra(theta)[0]))
    return np.array(found)
