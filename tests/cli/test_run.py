"""tengbc run: what it writes, what it prints, and the code it exits with."""

import csv
import json
import re
import subprocess
import sys

import jax
import numpy as np
import pytest

from tengbc.cli import main
from tengbc.cli.run import exit_code
from tengbc.outcome import Outcome, Result

TINY = [
    *("--preset", "paper", "--t-end", "0.001", "--fit-iterations", "8", "--per-axis", "8"),
    *("--boundary-points", "16", "--widths", "8,8", "--subset", "50"),
]
CONTRACT = {
    "problem",
    "preset",
    "scheme",
    "dt",
    "t_end",
    "steps",
    "parameters",
    "interior_points",
    "boundary_points",
    "seed",
    "outcome",
    "t_reached",
    "relative_l2_max",
    "relative_l2_full",
    "relative_l2_final",
    "relative_l2_by_time",
    "initial_fit_error",
    "seconds",
    "versions",
}
MINE = """
import jax
import jax.numpy as jnp
import tengbc as tb

jax.config.update("jax_enable_x64", False)


def exact(x, t):
    return jnp.exp(-(jnp.pi**2) * t) * jnp.sin(jnp.pi * x[0])


problem = tb.Problem(
    tb.Interval(0.0, 1.0), tb.Heat(1.0), {"left": tb.Dirichlet(0.0), "right": tb.Dirichlet(0.0)},
    lambda x: exact(x, 0.0), exact=exact, t_end=0.05,
)
unknown = tb.Problem(
    tb.Interval(0.0, 1.0), tb.Heat(1.0), {"left": tb.Dirichlet(0.0), "right": tb.Dirichlet(0.0)},
    lambda x: exact(x, 0.0), t_end=0.05,
)
not_finite = tb.Problem(
    tb.Interval(0.0, 1.0), tb.Heat(1.0), {"left": tb.Dirichlet(0.0), "right": tb.Dirichlet(0.0)},
    lambda x: jnp.log(x[0] - 0.5), t_end=0.05,
)
no_end = tb.Problem(unknown.domain, unknown.equation, unknown.conditions, 0.0)


def build():
    return problem


number = 3
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """One tiny run in a process of its own, which never sets JAX's precision."""
    directory = tmp_path_factory.mktemp("runs") / "tiny"
    done = subprocess.run(
        [sys.executable, "-m", "tengbc", "run", "heat-dirichlet", *TINY, "--out", str(directory)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return directory, done


@pytest.fixture
def run(monkeypatch, capsys):
    """`run(arguments)` in this process: exit code, standard output, standard error."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["tengbc", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return ended.value.code or 0, captured.out, captured.err

    yield call
    jax.config.update("jax_enable_x64", True)  # a user's file may have changed it


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


def test_the_summary_keeps_its_contract(finished):
    summary = json.loads((finished[0] / "summary.json").read_text())
    assert set(summary) >= CONTRACT
    assert summary["problem"] == "heat-dirichlet" and summary["preset"] == "paper"
    assert summary["scheme"] == "heun" and summary["outcome"] == "done"
    assert (summary["dt"], summary["t_end"], summary["steps"], summary["seed"]) == (
        5e-4,
        1e-3,
        2,
        0,
    )
    assert summary["parameters"] == 3 * 8 + 9 * 8 + 9
    assert summary["interior_points"] > 8 and summary["boundary_points"] > 8
    by_time = summary["relative_l2_by_time"]
    assert len(by_time) == 101 and by_time[0][0] == 0.0 and by_time[-1][0] == 1e-3
    errors = [error for _, error in by_time]
    assert summary["relative_l2_max"] == max(errors) > 0
    assert summary["relative_l2_final"] == errors[-1]
    assert summary["initial_fit_error"] == errors[0]
    assert min(errors) <= summary["relative_l2_full"] <= max(errors)
    assert set(summary["seconds"]) == {"import", "compile", "initial_fit", "march", "total"}
    parts = sum(value for name, value in summary["seconds"].items() if name != "total")
    assert 0 < parts <= summary["seconds"]["total"] + 1e-3
    assert {"python", "jax", "numpy", "scipy", "tengbc"} <= set(summary["versions"])


def test_history_has_a_row_per_step(finished):
    with (finished[0] / "history.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["step"] for row in rows] == ["1", "2"]
    assert float(rows[-1]["time"]) == 1e-3
    assert {name for name in rows[0] if name.startswith("boundary_")} == {"boundary_circle"}
    assert all(
        np.isfinite(float(row[name]))
        for row in rows
        for name in row
        if row[name] and name != "march"
    )
    assert all(int(row["rank"]) >= 0 and float(row["condition"]) >= 1 for row in rows)


def test_what_is_printed(finished):
    directory, done = finished
    assert "heat-dirichlet: done" in done.stdout and "relative L² error, worst" in done.stdout
    assert str(directory) in done.stdout.replace("\n", "") or "written to" in done.stdout
    assert done.stderr == ""


def test_a_finished_run_is_refused(finished, run):
    before = (finished[0] / "summary.json").read_bytes()
    code, _, err = run("run", "heat-dirichlet", *TINY, "--out", finished[0])
    assert code == 5 and "already holds a finished run" in err and "Traceback" not in err
    assert (finished[0] / "summary.json").read_bytes() == before


def test_a_place_that_cannot_be_written(mine, run):
    code, out, err = run("run", "heat-dirichlet", *TINY, "--out", mine / "below")
    assert code == 5 and out == ""
    assert err.startswith("tengbc: The directory") and err.count("\n") == 1


def test_a_problem_of_ones_own(mine, run, tmp_path):
    """A user's file, in whatever precision it leaves JAX: the answer is one of float64."""
    code, out, err = run("run", f"{mine}:build", "--out", tmp_path / "out", "--rtol", 1e-9)
    assert code == 0 and "mine: done" in out and err == ""
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["problem"] == "mine" and summary["preset"] == "fast"
    assert summary["relative_l2_max"] < 1e-9
    assert 0 < summary["error_estimate_max"] < 1e-9


def test_json_for_scripts(mine, run, tmp_path):
    """Standard output is the summary, word for word what the directory keeps."""
    code, out, err = run("run", f"{mine}:problem", "--out", tmp_path / "out", "--json", "--quiet")
    assert code == 0 and err == ""
    assert json.loads(out) == json.loads((tmp_path / "out" / "summary.json").read_text())


def test_without_an_exact_solution_errors_are_null(mine, run, tmp_path):
    code, out, _ = run("run", f"{mine}:unknown", "--out", tmp_path / "out", "--quiet")
    assert code == 0 and out == ""
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert set(summary) >= CONTRACT
    assert summary["relative_l2_max"] is None and summary["relative_l2_by_time"] is None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("missing", "has no 'missing'; check the name"),
        ("number", "'number' in .* is a int, not a Problem"),
        ("not a name", "'not a name' is not a Python name"),
    ],
)
def test_names_that_are_no_problem(mine, run, name, said):
    code, _, err = run("run", f"{mine}:{name}")
    assert code == 2 and "Traceback" not in err
    assert re.search(said, err), err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import tengbc\n1 / 0\n", r"fails in line 2 \(ZeroDivisionError: division by zero\)"),
        ("problem = (\n", r"fails in line 1 \(SyntaxError: '\(' was never closed\)"),
        ("import not_there\n", r"fails in line 1 \(ModuleNotFoundError: No module"),
        ("def problem():\n    return x\n", r"fails in line 2 \(NameError: name 'x'"),
        ("import tengbc as tb\nproblem = tb.Disk(-1.0)\n", r"radius must be greater than zero"),
    ],
)
def test_a_file_with_a_mistake_in_it(run, tmp_path, text, said):
    (tmp_path / "theirs.py").write_text(text)
    code, _, err = run("run", f"{tmp_path / 'theirs.py'}:problem")
    assert code == 2 and err.count("\n") == 1
    assert re.search(said, err), err


def test_a_file_may_import_its_neighbours(run, tmp_path):
    (tmp_path / "constants_next_door.py").write_text("number = 3\n")
    (tmp_path / "theirs.py").write_text("from constants_next_door import number\n")
    code, _, err = run("run", f"{tmp_path / 'theirs.py'}:number")
    assert code == 2 and "is a int, not a Problem" in err


def test_outcomes_have_their_exit_codes(mine, run, tmp_path):
    code, _, err = run("run", f"{mine}:not_finite")
    assert code == 3 and "tengbc: The initial condition is not finite at t = 0" in err
    diverging = ("--strategy", "frozen-features", "--scheme", "euler", "--dt", 0.5, "--t-end", 5)
    code, _, err = run("run", f"{mine}:unknown", *diverging, "--out", tmp_path / "out")
    assert code == 3 and "tengbc: diverged: " in err
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["outcome"] == "diverged" and "smaller" in summary["message"]


def test_a_run_that_fails_before_its_march_has_an_outcome_too(mine, run, tmp_path):
    code, _, err = run("run", f"{mine}:not_finite", "--out", tmp_path / "out")
    assert code == 3 and err.count("\n") == 1
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert set(summary) >= CONTRACT and summary["outcome"] == "non-finite"
    assert summary["message"].startswith("The initial condition is not finite at t = 0, x = (")
    assert "non-finite: The initial condition" in (tmp_path / "out" / "log.txt").read_text()
    code, _, err = run("resume", tmp_path / "out")
    assert code == 3 and "is finished already (non-finite)" in err


@pytest.mark.parametrize("problem", ["nothing", "number", "no_end"])
def test_a_run_that_was_refused_leaves_its_directory_free(mine, run, tmp_path, problem):
    code, _, err = run("run", f"{mine}:{problem}", "--out", tmp_path / "out")
    assert code == 2 and err.count("\n") == 1
    assert not (tmp_path / "out" / "options.toml").exists()
    code, _, err = run("run", f"{mine}:not_finite", "--out", tmp_path / "out")
    assert code == 3, err


@pytest.mark.parametrize("outcome", Outcome)
def test_exit_codes_are_those_of_the_errors(outcome):
    error = Result(outcome).error()
    expected = {Outcome.DONE: 0, Outcome.INTERRUPTED: 130, Outcome.OUT_OF_TIME: 6}
    assert exit_code(outcome) == (expected[outcome] if error is None else error.exit_code)
