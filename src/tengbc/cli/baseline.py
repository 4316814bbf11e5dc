"""tengbc baseline: solve a problem with a competitor, same summary.json."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from tengbc.cli.arguments import ProblemName, check_problem, load_problem
from tengbc.cli.run import Quiet, exit_code
from tengbc.evidence.baselines.registry import BASELINES, check_baseline, run_baseline


def baseline(
    solver: Annotated[str, typer.Argument(help=", ".join(BASELINES))],
    problem: ProblemName,
    resolution: Annotated[
        int | None, typer.Option(help="Cells (fem) or points (spectral) across the domain.")
    ] = None,
    dt: Annotated[float | None, typer.Option(help="Time step (fem, spectral).")] = None,
    scheme: Annotated[str | None, typer.Option(help="Time scheme (fem).")] = None,
    seconds: Annotated[float | None, typer.Option(help="Seconds of training (pinn).")] = None,
    steps: Annotated[int | None, typer.Option(help="Steps of training (pinn).")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of random choices (pinn).")] = None,
    paper: Annotated[bool, typer.Option("--paper", help="The paper's own setting.")] = False,
    t_end: Annotated[float | None, typer.Option(help="Final time.")] = None,
    out: Annotated[Path | None, typer.Option(help="Directory for summary.json.")] = None,
    quiet: Quiet = False,
) -> None:
    """Solve PROBLEM with a baseline SOLVER; Ctrl-C ends it with what it has."""
    began = time.perf_counter()
    given = dict(
        resolution=resolution, dt=dt, scheme=scheme, seconds=seconds, steps=steps, seed=seed
    )
    choices = {name: value for name, value in given.items() if value is not None}
    check_baseline(solver, choices)
    check_problem(problem)
    choices = {**(BASELINES[solver].paper if paper else {}), **choices}
    from tengbc.cli.terminal import print_table, say
    from tengbc.progress import Bar
    from tengbc.runs.directory import make_directory, write_summary
    from tengbc.runs.signals import SignalWatch
    from tengbc.solution.measure import Truth
    from tengbc.solution.summary import measure, summary

    imported = time.perf_counter() - began
    loaded = load_problem(problem)
    if out is not None:
        make_directory(out)
    began = time.perf_counter()
    end = t_end or loaded.t_end
    times = Truth(loaded).times(end) if end and Truth(loaded).known else None
    with SignalWatch() as watch, Bar(quiet) as bar:

        def told(phase: str, fraction: float, known: dict) -> bool:
            bar(phase, fraction, known)
            return watch.stopping

        run = run_baseline(solver, loaded, t_end, times=times, progress=told, **choices)
    errors = measure(run)
    spent = {"import": imported, "total": imported + time.perf_counter() - began}
    content = summary(run, errors, spent)
    if out is not None:
        write_summary(out, content)
    if not quiet:
        title = f"{content['problem']} with {content['preset']}: {content['outcome']}"
        print_table(title, _rows(content))
    if not run.result:
        say(f"{run.result}")
    sys.exit(exit_code(run.result.outcome, watch.received))


def _rows(content: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if content["relative_l2_max"] is not None:
        yield "relative L² error, worst", f"{content['relative_l2_max']:.2e}"
        t, error = content["relative_l2_by_time"][-1]
        yield f"  at t = {t:g}", f"{error:.2e}"
    yield "unknowns", f"{content['parameters']:,}"
    yield "scheme, steps", f"{content['scheme']}, {content['steps']}"
    yield "seconds", ", ".join(f"{name} {value:.2f}" for name, value in content["seconds"].items())
