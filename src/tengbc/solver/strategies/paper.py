"""The paper's own method: all parameters of a deep network march, stage by stage."""

from dataclasses import replace
from typing import final

import numpy as np
from jaxtyping import Float

from tengbc.costs import Cost, paper_memory, paper_options, paper_parameters, paper_rows
from tengbc.defaults import PAPER
from tengbc.errors import OutputError, UsageError
from tengbc.journal import Snapshot
from tengbc.networks import Network, Parameters, mlp
from tengbc.options import Options
from tengbc.outcome import unwritten
from tengbc.problem import Problem
from tengbc.projection import (
    AnyCollocation,
    BlockedCollocation,
    Collocation,
    SeparableProjection,
    SubsetProjection,
)
from tengbc.schemes import SCHEMES, AbstractScheme
from tengbc.solver.march import Plan, Trajectory
from tengbc.solver.sampling import boundary_points, initial_values
from tengbc.solver.steps import GridSteps, time_grid
from tengbc.solver.strategies.base import (
    AbstractStrategy,
    Applies,
    Blame,
    Solved,
    Task,
    check_blocks,
    row_blocks,
)
from tengbc.solver.strategies.features import COMPILING, keep_every
from tengbc.spaces import NetworkSpace, State

Array = np.ndarray
POLISHING = 20
"""Iterations of the projection that marches, after the initial fit."""


@final
class Paper(AbstractStrategy):
    """A 7 × 40 tanh network on a uniform grid, random subsets of 512, Δt = 5·10⁻⁴.

    Its error is not measured: it marches once, at the resolution it is given.
    """

    name = "paper"
    what = "the published method: a deep network, all of whose parameters march"
    honours = frozenset(
        {
            *("scheme", "dt", "widths", "activation", "embedding_size", "per_axis"),
            *("interior_points", "boundary_points", "cutoff", "iterations", "subset"),
            *("first_iterations", "first_subset", "lstsq", "stage_data", "fit_iterations"),
            *("devices", "blocks"),
        }
    )

    measures_error = False

    def applies(self, problem: Problem) -> Applies:
        return Applies(True, "any problem; taken only if asked for, since it is slow")

    def check(self, problem: Problem, options: Options) -> None:
        check_blocks(options)
        if options.devices is not None and options.stage_data not in (None, "time"):
            raise UsageError(
                f"stage_data is {options.stage_data!r}, which is not shared out to devices; leave "
                f"out devices, or take 'time'."
            )
        if not chosen_scheme(options).explicit:
            raise UsageError(
                f"The strategy {self.name} cannot march with the scheme {options.scheme}, which "
                f"needs matrices; choose an explicit one, or another strategy."
            )

    def first(self, task: Task) -> None:
        return None

    def companions(self, answer: Solved) -> dict[str, None]:
        return {}

    def refine(
        self, task: Task, resolution: None, trajectory: Trajectory, blame: Blame | None
    ) -> None:
        return None

    def discretise(self, task: Task, resolution: None) -> Plan:
        """The initial condition is fitted on few points and then polished on all.

        It has to be far better than the error wanted at the end: L(u) sees its roughest part
        enlarged, no step can remove what the network could not fit, and so the march drifts.
        """
        problem, options = task.problem, task.options
        grid = time_grid(task.t_end, options.dt or PAPER.dt)
        domain, network = problem.domain, _network(problem, options)
        if options.interior_points is not None:
            interior = domain.interior(options.interior_points)
        else:
            interior = domain.interior(rule="uniform", per_axis=options.per_axis or PAPER.per_axis)
        boundary = boundary_points(domain, options.boundary_points or PAPER.boundary_points)
        blocks, sampled = row_blocks(options), (problem, network, interior, boundary)
        if blocks is None:
            collocation = Collocation(*sampled)
        else:
            collocation = BlockedCollocation(blocks, *sampled)
        projection, failure = _projection(options), None
        try:
            theta = _initial_fit(collocation, network, projection, task)
        except OutputError as error:
            theta, failure = _fitted_so_far(collocation, task), unwritten(error)
        steps = GridSteps(grid, keep_every(len(theta), grid.steps, checks=False))
        facts = {
            "scheme": chosen_scheme(options).name,
            "dt": grid.dt,
            "steps": grid.steps,
            "parameters": len(theta),
            "interior_points": len(interior),
            "boundary_points": sum(len(points) for points in boundary),
        }
        return Plan(
            NetworkSpace(collocation, projection),
            chosen_scheme(options),
            steps,
            State(theta),
            collocation.parameters.network,
            facts,
            failure,
        )

    def parameters(
        self, task: Task, resolution: None, trajectory: Trajectory
    ) -> tuple[Parameters[Network], Float[Array, "k p"]]:
        return Parameters(_network(task.problem, task.options)), np.array(trajectory.thetas)

    def cost(self, problem: Problem, options: Options, t_end: float, speed: float) -> Cost:
        """Columns and a factorisation for each iteration of each stage, and the initial fit."""
        dim, m = problem.domain.dim, problem.components or 1
        rows, active = m * paper_rows(options, dim), options.subset or PAPER.subset
        # Measured: a stage settles in one iteration, at twice the operations of its Gram matrix.
        fits = chosen_scheme(options).fits_per_step * t_end / (options.dt or PAPER.dt)
        march = fits * 4 * rows * active * (active + 15)
        points = m * (PAPER.fit_points + PAPER.fit_boundary_points)
        parameters = min(paper_parameters(options, dim, m), PAPER.fit_subset)
        fit = 1.5 * points**2 * parameters * (options.fit_iterations or PAPER.fit_iterations)
        seconds = COMPILING + (march + fit) / speed
        return Cost(seconds, paper_memory(options, dim, m), paper_options(options))


def chosen_scheme(options: Options) -> AbstractScheme:
    """The scheme that the options name, or the paper's, with the stage data asked for."""
    scheme = SCHEMES[options.scheme or PAPER.scheme]
    return scheme if options.stage_data is None else scheme.with_stage_data(options.stage_data)


def _network(problem: Problem, options: Options) -> Network:
    return mlp(
        problem.domain,
        problem.components,
        widths=options.widths or PAPER.widths,
        activation=options.activation,
        embedding_size=options.embedding_size,
        seed=options.seed,
    )


def _projection(options: Options) -> SubsetProjection:
    given = {
        "iterations": options.iterations,
        "subset": options.subset,
        "first_iterations": options.first_iterations or options.iterations,
        "first_subset": options.first_subset or options.subset,
        "cutoff": options.cutoff,
        "method": options.lstsq,
    }
    changes = {name: value for name, value in given.items() if value is not None}
    return replace(SubsetProjection(), **changes)


def _fitted_so_far(collocation: AnyCollocation, task: Task) -> Float[Array, " p"]:
    """The newest parameters of a fit that could not be written down."""
    last = task.stage("initial fit").recall()
    return collocation.parameters.start if last is None else last.arrays["theta"]


def _initial_fit(
    collocation: AnyCollocation, network: Network, projection: SubsetProjection, task: Task
) -> Float[Array, " p"]:
    """Head exactly, random subsets of the body by damped and accelerated steps, then polished."""
    problem, options, fitted = task.problem, task.options, task.stage("initial fit")
    before = fitted.recall()
    if before is not None and before.finished:
        theta = before.arrays["theta"]
    else:
        theta = _coarse_fit(network, task)
        if fitted.stopping:  # what there is must do: the march will not begin in this session
            return theta
        fitted.finish(Snapshot({"theta": theta}, finished=True))
    target = collocation.sampled(lambda points: initial_values(problem, points))
    polish = replace(projection, iterations=POLISHING)
    return polish.fit(theta, collocation, target, 0.0, (options.seed, 0, 1)).theta


def _coarse_fit(network: Network, task: Task) -> Float[Array, " p"]:
    """On few points of its own, so that it is the same whatever the march's points are."""
    problem, options = task.problem, task.options
    coarse = Collocation(
        problem,
        network,
        problem.domain.interior(PAPER.fit_points),
        boundary_points(problem.domain, PAPER.fit_boundary_points),
    )
    iterations = options.fit_iterations or PAPER.fit_iterations

    def told(iteration: int, residual: float) -> object:
        return task.progress(
            "initial fit", (iteration + 1) / iterations, {"fit_residual": residual}
        )

    fitter = SeparableProjection(iterations, PAPER.fit_subset, patience=60, acceleration=True)
    target = initial_values(problem, coarse.interior)
    start, key, stage = coarse.parameters.start, (options.seed, 0, 0), task.stage("initial fit")
    return fitter.fit(start, coarse, target, 0.0, key, progress=told, stage=stage).theta
