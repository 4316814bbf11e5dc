"""Tables and figures from results that exist; what is done is not done again."""

import csv
import json

import numpy as np
import pytest

import tengbc as tb
from tengbc.evidence.reproduction import reproduce as reproduction
from tengbc.evidence.reproduction.catalog import (
    GROUPS,
    PAPER_CHOICES,
    SCHEMES,
    Case,
    cases,
    groups,
    paper_numbers,
)
from tengbc.evidence.reproduction.page import write_page
from tengbc.evidence.reproduction.reproduce import reproduce
from tengbc.evidence.reproduction.run_case import read_fields, run_case
from tengbc.journal import Snapshot
from tengbc.networks import Parameters, mlp
from tengbc.options import options
from tengbc.runs.checkpoints import Checkpoint
from tengbc.runs.config import Config
from tengbc.runs.directory import RunDirectory
from tengbc.solution.measure import Truth
from tengbc.solver.strategies import checked_strategy


def leave_summary(directory, error: float, outcome: str = "done") -> None:
    directory.mkdir(parents=True)
    content = {
        "outcome": outcome,
        "relative_l2_max": error,
        "relative_l2_full": error / 2,
        "relative_l2_final": error / 3,
        "relative_l2_by_time": [[0.0, error / 10], [1.0, error]],
        "seconds": {"total": 1.5},
    }
    (directory / "summary.json").write_text(json.dumps(content))


def no_report(phase, fraction, known):
    return None


def test_every_cell_of_the_papers_tables_has_a_run():
    names = {case.name for case in cases("heat", "fast")}
    table = paper_numbers()["table_1"]
    assert set(table) == set(GROUPS["heat"])
    for problem, row in table.items():
        assert set(row) == set(SCHEMES)
        assert {f"{problem}-{scheme}" for scheme in row} <= names
    paper = {case.name: case for case in cases("heat", "paper")}
    assert paper["heat-robin"].choices == PAPER_CHOICES["heat"] and "heat-robin-heun" not in paper
    assert paper["heat-robin-fem"].choices == {"resolution": 256, "dt": 1e-4}
    with pytest.raises(tb.UsageError):
        groups("wave")


@pytest.mark.parametrize("preset", ["fast", "paper"])
@pytest.mark.parametrize("group", GROUPS)
def test_every_run_of_ours_has_options_that_its_strategy_takes(group, preset):
    ours = [case for case in cases(group, preset) if case.solver == preset]
    own = PAPER_CHOICES[group] if preset == "paper" else {}
    assert {case.name for case in ours if case.choices == own} == set(GROUPS[group])
    for case in ours:
        checked_strategy(tb.problems.get(case.problem), options(preset=preset, **case.choices))


def test_the_table_puts_the_papers_value_beside_ours(tmp_path):
    leave_summary(tmp_path / "heat-robin", 1e-9)
    leave_summary(tmp_path / "heat-robin-heun", 1.7e-7)
    leave_summary(tmp_path / "heat-mixed-euler", 1.0, "diverged")
    assert reproduce("heat", "fast", tmp_path, no_report, print, only_summaries=True)
    text = (tmp_path / "table-1.md").read_text("utf-8")
    column = text.splitlines()[0].split(" | ").index("heat-robin")
    rows = {line.split(" | ")[0].strip("| "): line.split(" | ") for line in text.splitlines()}
    assert rows["heun, ours"][column] == "1.70e-07"
    assert rows["heun, paper"][column] == "2.42e-06"
    assert rows["euler, its own truncation, mode by mode"][column] == "6.40e-04"
    assert rows["the fast preset's default"][column] == "1.00e-09"
    assert rows["euler, ours"][-1].startswith("diverged")
    assert rows["rk4, ours"][column] == "–"
    with (tmp_path / "table-1.csv").open(encoding="utf-8") as file:
        cells = {(row["problem"], row["scheme"]): row for row in csv.DictReader(file)}
    assert float(cells["heat-robin", "heun"]["ours_worst"]) == 1.7e-7
    assert (tmp_path / "heat-errors.png").is_file() and (tmp_path / "heat-errors.svg").is_file()
    assert json.loads((tmp_path / "provenance-heat.json").read_text())["runs_made"] == 0


def test_finished_runs_are_skipped_and_failures_are_told(tmp_path, monkeypatch):
    leave_summary(tmp_path / "transport", 1e-9)
    asked, told = [], []

    def pretend(case, problem, directory, progress):
        asked.append(case.name)
        directory.mkdir()
        if case.solver == "fem":
            raise tb.UsageError("No mesh.")
        return case.name != "transport-rk4"

    monkeypatch.setattr(reproduction, "run_case", pretend)
    assert not reproduce("transport", "fast", tmp_path, no_report, told.append)
    assert asked == ["transport-euler", "transport-heun", "transport-rk4"]
    assert "interrupted" in told[-1]


def test_a_run_leaves_what_figures_need(tmp_path):
    problem = tb.problems.get("heat-robin")
    case = Case("heat-robin", "heat-robin", "fem", {"resolution": 8, "dt": 0.05})
    assert run_case(case, problem, tmp_path / "run", no_report)
    content = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert content["outcome"] == "done" and content["relative_l2_max"] < 0.1
    assert content["provenance"]["command"].startswith("fem heat-robin")
    fields = read_fields(tmp_path / "run")
    assert fields is not None
    times, error = fields
    truth = Truth(problem)
    assert error.shape == (len(times), len(truth.points)) and times[-1] == 1.0
    found = np.linalg.norm(error[-1]) / np.linalg.norm(truth.values(1.0))
    assert found == pytest.approx(content["relative_l2_final"], rel=1e-4)


def test_a_paper_run_is_a_run_directory_that_can_go_on(tmp_path):
    problem = tb.problems.get("heat-robin")
    small = {"widths": (6,), "per_axis": 8, "dt": 0.5, "fit_iterations": 2, "iterations": 1}
    case = Case("heat-robin", "heat-robin", "paper", {**small, "subset": 20})
    assert run_case(case, problem, tmp_path / "run", no_report)
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert {"options.toml", "summary.json", "history.csv", "fields.npz"} <= names


def test_runs_that_begin_alike_share_their_initial_fit(tmp_path):
    """Another scheme and other points go on from a neighbour's fit; another seed does not."""
    problem = tb.problems.get("heat-robin")
    small = {"widths": (6,), "dt": 0.5, "fit_iterations": 2, "iterations": 1, "subset": 20}
    chosen = Config("heat-robin", options(preset="paper", per_axis=8, **small))
    fitted = Snapshot({"theta": Parameters(mlp(problem.domain, widths=(6,))).start}, finished=True)
    neighbour = RunDirectory.create(tmp_path / "heat-robin", chosen)
    neighbour.checkpoints.write(
        Checkpoint({"stage_seconds": {"initial fit": 3.0}}, {"initial fit": fitted})
    )
    neighbour.close()
    for scheme, seed, fits in (("euler", 0, False), ("heun", 1, True)):
        seen = set()
        choices = small | {"per_axis": 9, "scheme": scheme, "seed": seed}
        case = Case(f"heat-robin-{scheme}", "heat-robin", "paper", choices)
        assert run_case(case, problem, tmp_path / case.name, lambda phase, *_, s=seen: s.add(phase))
        assert ("initial fit" in seen) == fits
        content = json.loads((tmp_path / case.name / "summary.json").read_text())
        assert fits or content["seconds"]["initial_fit"] >= 3.0


def test_only_the_runs_that_are_named(tmp_path, monkeypatch):
    asked = []

    def pretend(case, problem, directory, progress):
        asked.append(case.name)
        directory.mkdir()
        return True

    monkeypatch.setattr(reproduction, "run_case", pretend)
    assert reproduce("heat", "paper", tmp_path, no_report, print, only=("heat-flux-rk4",))
    assert asked == ["heat-flux-rk4"]


def test_the_page_tells_met_cells_from_others_and_how_far_the_rest_came(tmp_path):
    leave_summary(tmp_path / "heat-robin", 2.41e-6)  # printed: 2.42e-6
    leave_summary(tmp_path / "heat-robin-rk4", 5.1e-6)  # printed: 5.00e-6
    leave_summary(tmp_path / "heat-mixed-euler", 3.72e-4)  # printed 1.25e-4, truncation 3.71e-4
    leave_summary(tmp_path / "heat-flux-euler", 1.06e-3)  # printed 9.04e-4, truncation 1.04e-3
    (tmp_path / "heat-flux").mkdir()
    (tmp_path / "heat-flux" / "history.csv").write_text("march,step,time\nmarch,1,0.25\n")
    write_page(tmp_path)
    text = (tmp_path / "README.md").read_text("utf-8").split("## Transport")[0]
    rows = {line.split(" | ")[0].strip("| *"): line.split(" | ") for line in text.splitlines()}
    place = dict(zip(GROUPS["heat"], range(1, 6), strict=True))
    assert rows["heun, ours"][place["heat-robin"]] == "**2.41e-06**"
    assert rows["rk4, ours"][place["heat-robin"]] == "5.10e-06"
    assert rows["euler, ours"][place["heat-mixed"]].startswith("**3.72e-04**")
    assert rows["euler, ours"][place["heat-flux"]] == "1.06e-03"
    assert "Of 15 cells 4 have come to their end and 2 of these" in text
    assert "heat-flux euler" in text and "heat-robin rk4" in text
