"""The preset `paper`: the method as published, with its open choices made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from tengbc.errors import OutputError
from tengbc.journal import NO_JOURNAL, Journal, Snapshot
from tengbc.networks import mlp
from tengbc.options import Options
from tengbc.outcome import unwritten
from tengbc.problem import Problem
from tengbc.projection import Collocation, SeparableProjection, SubsetProjection
from tengbc.schemes import EULER, HEUN, RK4, AdamsBashforth, NetworkSpace, RungeKutta, State
from tengbc.solver.clock import clock
from tengbc.solver.march import Callback
from tengbc.solver.plan import Plan
from tengbc.solver.run_plan import run_plan
from tengbc.solver.sampling import boundary_points, initial_values
from tengbc.solver.solution import Solution
from tengbc.timing import Stopwatch
from tengbc.types import Progress as Report

Array = np.ndarray
SCHEMES = {
    scheme.name: scheme
    for scheme in (
        *(RungeKutta(tableau) for tableau in (EULER, HEUN, RK4)),
        *(AdamsBashforth(order) for order in (2, 3, 4)),
    )
}
INITIAL_POINTS = 1000
INITIAL_BOUNDARY_POINTS = 128
"""Points of the initial fit, whose cost grows with their square."""
INITIAL_SUBSET = 2500
"""Parameters of one of its steps: more than points, so that each could fit them all."""


def solve_paper(
    problem: Problem,
    options: Options,
    t_end: float,
    report: Report,
    callbacks: Sequence[Callback] = (),
    journal: Journal = NO_JOURNAL,
) -> Solution:
    """March all parameters of a network, as the paper does."""
    watch = Stopwatch()
    plan = plan_paper(problem, options, t_end, report, journal)
    fitting, compiling = watch.lap()
    solution = run_plan(problem, plan, options, report, callbacks, journal.stage("march"))
    solution.seconds["initial_fit"] = fitting + journal.stage("initial fit").seconds_before
    solution.seconds["compile"] += compiling
    return solution


def plan_paper(
    problem: Problem,
    options: Options,
    t_end: float,
    report: Report,
    journal: Journal = NO_JOURNAL,
) -> Plan:
    """A 7 × 40 tanh network on a uniform grid, random subsets of 512, Δt = 5·10⁻⁴.

    The initial condition is fitted on fewer points (head exactly, random subsets of the body by
    damped and accelerated steps) and then polished on all points by the projection that marches.
    It has to be far better than the error wanted at the end: L(u) sees its roughest part enlarged,
    no step can remove what the network could not fit, and so the march drifts.
    """
    times = clock(t_end, options.dt or 5e-4)
    domain = problem.domain
    network = mlp(
        domain,
        problem.components,
        widths=options.widths or (40,) * 7,
        activation=options.activation,
        embedding_size=options.embedding_size,
        seed=options.seed,
    )
    if options.interior_points is not None:
        interior = domain.interior(options.interior_points)
    else:
        interior = domain.interior(rule="uniform", per_axis=options.per_axis or 64)
    boundary = boundary_points(domain, options.boundary_points or 256)
    collocation = Collocation(problem, network, interior, boundary)
    projection = _projection(options)
    try:
        theta = _initial_fit(problem, network, collocation, projection, options, report, journal)
        failure = None
    except OutputError as error:
        theta, failure = _fitted_so_far(collocation, journal), unwritten(error)
    return Plan(
        space=NetworkSpace(collocation, projection),
        scheme=_scheme(options),
        clock=times,
        start=State(theta),
        collocation=collocation,
        failure=failure,
    )


def _scheme(options: Options) -> RungeKutta | AdamsBashforth:
    scheme = SCHEMES[options.scheme or "heun"]
    if isinstance(scheme, RungeKutta) and options.stage_data is not None:
        return replace(scheme, stage_data=options.stage_data)
    return scheme


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


def _fitted_so_far(collocation: Collocation, journal: Journal) -> Float[Array, " p"]:
    """The newest parameters of a fit that could not be written down."""
    last = journal.stage("initial fit").recall()
    return collocation.parameters.start if last is None else last.arrays["theta"]


def _initial_fit(
    problem, network, collocation, projection, options: Options, report: Report, journal: Journal
):
    fitted = journal.stage("initial fit")
    before = fitted.recall()
    if before is not None and before.finished:
        return before.arrays["theta"]
    coarse = Collocation(
        problem,
        network,
        problem.domain.interior(min(INITIAL_POINTS, len(collocation.interior))),
        boundary_points(problem.domain, INITIAL_BOUNDARY_POINTS),
    )
    iterations = options.fit_iterations or 400

    def progress(iteration: int, residual: float) -> object:
        return report("initial fit", (iteration + 1) / iterations, {"residual": residual})

    fitter = SeparableProjection(iterations, INITIAL_SUBSET, patience=60, acceleration=True)
    target = initial_values(problem, coarse.interior)
    start = coarse.parameters.start
    key = (options.seed, 0, 0)
    theta = fitter.fit(start, coarse, target, 0.0, key, progress=progress, stage=fitted).theta
    if fitted.stopping:  # what there is must do: the march will not begin in this session
        return theta
    target = initial_values(problem, collocation.interior)
    polish = replace(projection, iterations=20)
    theta = polish.fit(theta, collocation, target, 0.0, (options.seed, 0, 1)).theta
    fitted.finish(Snapshot({"theta": theta}, finished=True))
    return theta
