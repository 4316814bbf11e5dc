"""solve(): a problem in, a solution out."""

import warnings
from collections.abc import Sequence

import jax
from jax.core import Tracer

from tengbc.costs import check_memory
from tengbc.errors import ToleranceError, UsageError
from tengbc.journal import NO_JOURNAL, Journal
from tengbc.options import Options, options
from tengbc.outcome import Outcome
from tengbc.problem import Problem
from tengbc.progress import shown
from tengbc.solution import Solution
from tengbc.solver.examine import check_free, examine
from tengbc.solver.march import Callback
from tengbc.solver.strategies import AbstractStrategy, checked_strategy, select_strategy
from tengbc.solver.strategies.base import Task
from tengbc.solver.verified import Runner, solve_verified
from tengbc.threads import blas_threads
from tengbc.timing import Deadline
from tengbc.types import Progress

TRACED = (
    "jax.grad, jit and vmap do not go through solve, whose steps follow the numbers; call it "
    "outside of them: a derivative by a number is a difference of two solutions."
)
"""Why a problem whose numbers are being traced is not solved."""


def solve(
    problem: Problem,
    t_end: float | None = None,
    *,
    rtol: float | None = None,
    throw: bool = True,
    callbacks: Sequence[Callback] = (),
    progress: Progress | bool | None = None,
    journal: Journal = NO_JOURNAL,
    **choices,
) -> Solution:
    """Solve a time-dependent problem from 0 to `t_end`.

    **Arguments:**

    - `problem`, and `t_end` unless the problem has a natural one.
    - `rtol`: relative L² error to stay below at all times; the problem's own, else 1e-6.
    - `throw`: raise if the run fails, or if an `rtol` that was given is not reached; otherwise look
      at `solution.result`. A run that `max_seconds` ended is no failure, but a warning.
    - `callbacks`: functions of (record, state), called after each step; True stops the march.
    - `progress`: whether it is shown, with the time left; by default at a terminal and in a
      notebook. Or a function of (phase, fraction, known) that is told.
    - `journal`: where the run is written down, to be taken up again (see `tengbc.journal`).
    - any option of `tengbc.options.Options`, such as `strategy`, `scheme`, `dt`, `seed`, and
      `max_seconds`: when they are over, the best answer that is finished is returned with its error
      estimate; an answer whose companion is not finished with NaN for it; and if there is none
      yet, the march as far as it came. A march looks at the clock after a leg, which is a step or
      ten short ones, an initial fit after an iteration; what lies between, such as compiling and
      the matrices of a resolution, is finished first. No resolution is begun that takes longer than
      what is left, as far as can be told from the one before.
    """
    try:
        return _solved(problem, t_end, rtol, throw, callbacks, progress, journal, **choices)
    except (jax.errors.JAXTypeError, jax.errors.UnexpectedTracerError):
        raise UsageError(TRACED) from None


def _solved(
    problem: Problem,
    t_end: float | None,
    rtol: float | None,
    throw: bool,
    callbacks: Sequence[Callback],
    progress: Progress | bool | None,
    journal: Journal,
    **choices,
) -> Solution:
    chosen = _checked(problem, t_end, rtol=rtol, **choices)
    deadline = Deadline(chosen.max_seconds)
    assert chosen.t_end is not None
    strategy = checked_strategy(problem, chosen)
    check_free(problem)
    cost = strategy.cost(problem, chosen, chosen.t_end, 1.0)
    check_memory(cost.memory, cost.lower)
    if journal is NO_JOURNAL:  # who keeps one, such as the command line, has looked already
        for finding in examine(problem, chosen, thorough=False):
            if finding.level == "warning":
                warnings.warn(finding.text, stacklevel=3)
    with shown(progress) as told, blas_threads(_threads(strategy, chosen)):
        solution = solve_verified(
            strategy, problem, chosen, chosen.t_end, told, callbacks, journal, deadline
        )
    error = solution.result.error()
    if throw and solution.result.outcome is Outcome.OUT_OF_TIME:
        warnings.warn(str(solution.result), stacklevel=3)
    if throw and error is not None:
        if isinstance(error, ToleranceError) and rtol is None:
            # Nobody asked for this tolerance: say what was reached, and hand it over.
            warnings.warn(str(error), stacklevel=3)
            return solution
        error.solution = solution
        raise error
    return solution


def _threads(strategy: AbstractStrategy, chosen: Options) -> int | None:
    """One where rows are in blocks: several share a sum out in an order of their own."""
    return strategy.threads if chosen.devices is None else 1


def solve_once(problem: Problem, chosen: Options, progress: Progress) -> Solution:
    """Solve at the first resolution without a companion, so that no error is stated."""
    strategy, t_end = select_strategy(problem, chosen).strategy, chosen.t_end
    assert t_end is not None
    task = Task.of(problem, chosen, t_end, progress, NO_JOURNAL)
    return Runner(strategy, task)(strategy.first(task), "answer").solution


def _checked(problem: Problem, t_end: float | None, **choices) -> Options:
    if not isinstance(problem, Problem):
        raise UsageError(
            f"solve takes a Problem, not {problem!r}; make one, or take a benchmark: "
            f"tb.solve(tb.problems.get('heat-robin'))."
        )
    parts = (problem.equation, dict(problem.conditions), problem.initial_coefficient)
    if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(parts)):
        raise UsageError(TRACED)
    checked = options(**choices, t_end=t_end if t_end is not None else problem.t_end)
    if checked.t_end is None:
        raise UsageError(
            "t_end is missing and the problem has none of its own; pass t_end=… or --t-end."
        )
    return checked
