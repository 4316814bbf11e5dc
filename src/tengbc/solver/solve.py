"""solve(): a problem in, a solution out."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from tengbc.errors import ToleranceError, UsageError
from tengbc.estimate import check_memory
from tengbc.journal import NO_JOURNAL, Journal
from tengbc.options import Options, options
from tengbc.problem import Problem
from tengbc.solver.deformed import deformable, solve_deformed
from tengbc.solver.fast import solve_fast
from tengbc.solver.march import Callback
from tengbc.solver.paper import solve_paper
from tengbc.solver.solution import Solution
from tengbc.types import Progress as Report


def _solver(problem: Problem, checked: Options):
    """The solver of a preset; `fast` has two, and what moves decides."""
    if checked.preset == "paper":
        return solve_paper
    return solve_deformed if deformable(problem, checked) else solve_fast


def _warn(problem: Problem, checked: Options) -> None:
    """Say before the march which data do not fit together."""
    from tengbc.examine import examine  # which asks the solver's own modules

    for finding in examine(problem, checked, thorough=False):
        if finding.level == "warning":
            warnings.warn(finding.text, stacklevel=3)


def solve(
    problem: Problem,
    t_end: float | None = None,
    *,
    rtol: float | None = None,
    throw: bool = True,
    callbacks: Sequence[Callback] = (),
    report: Report = lambda phase, fraction, known: None,
    journal: Journal = NO_JOURNAL,
    **choices,
) -> Solution:
    """Solve a time-dependent problem from 0 to `t_end`.

    **Arguments:**

    - `problem`, and `t_end` unless the problem has a natural one.
    - `rtol`: relative L² error to stay below at all times; the problem's own, else 1e-6.
    - `throw`: raise if the run fails, or if an `rtol` that was given is not reached; otherwise look
      at `solution.result`.
    - `callbacks`: functions of (record, state), called after each step; True stops the march.
    - `report`: progress, a function of (phase, fraction, known).
    - `journal`: where the run is written down, to be taken up again (see `tengbc.journal`).
    - any option of `tengbc.options.Options`, such as `preset`, `scheme`, `dt`, `seed`.
    """
    if not isinstance(problem, Problem):
        raise UsageError(
            f"solve takes a Problem, not {problem!r}; make one, or take a benchmark: "
            f"tb.solve(tb.problems.get('heat-robin'))."
        )
    checked = options(**choices, rtol=rtol, t_end=t_end if t_end is not None else problem.t_end)
    if checked.t_end is None:
        raise UsageError(
            "t_end is missing and the problem has none of its own; pass t_end=… or --t-end."
        )
    check_memory(checked, problem.domain.dim, problem.components or 1)
    if journal is NO_JOURNAL:  # who keeps one, such as the command line, has looked already
        _warn(problem, checked)
    solution = _solver(problem, checked)(
        problem, checked, checked.t_end, report, callbacks, journal
    )
    error = solution.result.error()
    if throw and error is not None:
        if isinstance(error, ToleranceError) and rtol is None:
            # Nobody asked for this tolerance: say what was reached, and hand it over.
            warnings.warn(str(error), stacklevel=2)
            return solution
        error.solution = solution
        raise error
    return solution
