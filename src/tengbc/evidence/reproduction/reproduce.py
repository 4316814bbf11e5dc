"""Remake a group of results: run what is missing, then tables and figures from what is there."""

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tengbc import problems
from tengbc.errors import TengbcError
from tengbc.evidence.reproduction.catalog import cases
from tengbc.evidence.reproduction.figures import write_figures
from tengbc.evidence.reproduction.page import write_page
from tengbc.evidence.reproduction.run_case import run_case
from tengbc.evidence.reproduction.tables import write_tables
from tengbc.provenance import provenance
from tengbc.runs.directory import outcome_of, read_summary, write_text
from tengbc.types import Progress


def reproduce(
    group: str,
    preset: str,
    root: Path,
    progress: Progress,
    say: Callable[[str], None],
    only_summaries: bool = False,
    only: Sequence[str] = (),
) -> bool:
    """Every case of a group; finished ones are skipped. False if it was interrupted.

    `only_summaries` runs nothing and makes tables and figures from the results that exist; `only`
    names the runs to make, where not all are wanted.
    """
    began = time.perf_counter()
    root.mkdir(parents=True, exist_ok=True)
    loaded, ran = {}, 0
    asked = [case for case in cases(group, preset) if not only or case.name in only]
    missing = [case for case in asked if outcome_of(root / case.name) is None]
    for number, case in enumerate(missing if not only_summaries else (), start=1):
        directory = root / case.name
        say(f"{case.name}: run {number} of {len(missing)}")
        problem = loaded.setdefault(case.problem, problems.get(case.problem))
        start = time.perf_counter()
        try:
            if not run_case(case, problem, directory, progress):
                say(f"{case.name}: interrupted; the same command goes on from here.")
                return False
        except TengbcError as error:
            say(f"{case.name}: {error}")
            write_text(directory / "failed.txt", f"{error}\n")
            continue
        (directory / "failed.txt").unlink(missing_ok=True)
        ran += 1
        say(f"{case.name}: {time.perf_counter() - start:.1f} s")
    write_tables(group, preset, root)
    write_figures(group, preset, root)
    if preset == "paper":
        write_page(root)
    command = f"tengbc reproduce {group} --preset {preset}"
    if ran or not (root / f"provenance-{group}.json").exists():
        summaries = [read_summary(root / case.name) for case in cases(group, preset)]
        origin = {
            **provenance(command, time.perf_counter() - began),
            "runs_made": ran,
            "seconds_of_all_runs": round(sum(s["seconds"]["total"] for s in summaries if s), 1),
        }
        write_text(root / f"provenance-{group}.json", json.dumps(origin, indent=1) + "\n")
    return True
