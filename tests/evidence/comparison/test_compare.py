"""Solvers side by side: same seconds, same points, reasons where a solver does not apply."""

import csv
import io
from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.cli import main
from tengbc.evidence.comparison import compare as comparison
from tengbc.evidence.comparison.compare import compare
from tengbc.evidence.comparison.presentation import (
    COLUMNS,
    comparison_csv,
    comparison_markdown,
    plot,
)
from tengbc.evidence.comparison.registry import CONTENDERS, chosen_solvers
from tengbc.evidence.comparison.trial import OutOfTime, SolverTrials, Trial, Watch
from tengbc.solution.measure import Errors


def wave_on_a_square() -> tb.Problem:
    def exact(x, t):
        return jnp.exp(-0.2 * t) * jnp.sin(x[0]) * jnp.sin(x[1])

    return tb.Problem(
        domain=tb.Rectangle((0.0, 0.0), (np.pi, np.pi)),
        equation=tb.Heat(kappa=0.1),
        conditions=dict.fromkeys(("left", "right", "bottom", "top"), tb.Dirichlet(0.0)),
        initial=lambda x: jnp.sin(x[0]) * jnp.sin(x[1]),
        exact=exact,
        name="wave",
        t_end=0.5,
    )


def test_finite_elements_improve_with_time_and_waves_do_not_apply():
    fem, spectral = compare(wave_on_a_square(), ["fem", "spectral"], seconds=2.0)
    assert fem.best is not None and fem.best.errors.worst < 1e-4
    errors = [trial.errors.worst for trial in fem.trials]
    assert len(errors) >= 2 and errors[-1] < errors[0]
    assert sum(trial.seconds for trial in fem.trials) <= 2.5  # all runs share the seconds
    assert not spectral.trials and "periodic" in spectral.reason


def test_the_runs_of_a_solver_share_its_seconds(monkeypatch):
    """A solver whose runs each take half of the seconds is run twice, however small a run is."""
    clock = Clock(monkeypatch)

    def trials(contest):
        for _ in range(10):
            if contest.timed("slow", lambda progress: clock.pass_by(1.0, progress)) is None:
                return
            yield trial(1e-3, 1.0)

    monkeypatch.setattr(
        comparison.importlib, "import_module", lambda name: SimpleNamespace(f=trials)
    )
    monkeypatch.setitem(CONTENDERS, "slow", "anywhere:f")
    first, second = compare(wave_on_a_square(), ["slow", "slow"], seconds=2.0)
    assert len(first.trials) == len(second.trials) == 2


class Clock:
    """Time that passes when it is told to."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr("tengbc.timing.time.perf_counter", lambda: self.now)

    def pass_by(self, seconds, progress):
        self.now += seconds
        progress("march", 1.0, {})


def test_how_long_it_will_take_is_said_beforehand(monkeypatch, capsys):
    monkeypatch.setattr("tengbc.evidence.comparison.compare.compare", lambda *given: None)
    monkeypatch.setattr(
        "sys.argv",
        ["tengbc", "compare", "heat-robin", "--seconds", "20", "--solvers", "fast,fem,paper"],
    )
    with pytest.raises(SystemExit):
        main()
    assert "3 solvers with 20 s each: about 60 s in all" in capsys.readouterr().err


def trial(error: float, seconds: float, complete: bool = True) -> Trial:
    errors = Errors([(0.0, 0.0), (1.0, error)], error, error, 1.0)
    reached = 1.0 if complete else 0.1
    return Trial("setting", seconds, 0.5, 10, errors, reached, complete, "note", seconds / 2)


ENTRIES = [
    SolverTrials("fast", [trial(1e-3, 1.0), trial(1e-9, 3.0)]),
    SolverTrials("paper", [trial(1e-12, 9.0, complete=False)]),
    SolverTrials("spectral", reason="it does not apply."),
]


def test_the_best_is_complete_and_most_accurate():
    best = ENTRIES[0].best
    assert best is not None and best.errors.worst == 1e-9
    mixed = SolverTrials("x", [trial(1e-12, 1.0, complete=False), trial(1e-3, 1.0)]).best
    assert mixed is not None and mixed.complete


def test_the_tables_hold_every_trial_and_every_reason():
    rows = list(csv.DictReader(io.StringIO(comparison_csv(ENTRIES))))
    assert list(rows[0]) == list(COLUMNS)
    assert [row["solver"] for row in rows] == ["fast", "fast", "paper", "spectral"]
    assert [row["best"] for row in rows[:3]] == ["0", "1", "1"]
    assert rows[2]["complete"] == "0" and rows[3]["note"] == "it does not apply."
    assert (rows[1]["user_seconds"], rows[1]["march_seconds"]) == ("3.500", "1.500")
    text = comparison_markdown(ENTRIES)
    assert "| 3.50 | 1.50 |" in text
    assert "1.0e-09" in text and "1.0e-03" not in text and "it does not apply." in text


def test_the_plot_is_written_as_png_and_svg(tmp_path):
    paths = plot(ENTRIES, "title", tmp_path)
    assert [path.name for path in paths] == ["comparison.png", "comparison.svg"]
    assert all(path.stat().st_size > 1000 for path in paths)


def test_unknown_solvers_and_unknown_truth_are_refused():
    with pytest.raises(tb.UsageError, match="no solver 'fme'"):
        chosen_solvers("fast,fme")
    problem = wave_on_a_square()
    problem.exact_function = None
    with pytest.raises(tb.UsageError, match="errors cannot be measured"):
        compare(problem, ["fem"], 1.0)


def test_every_contender_can_be_loaded():
    for home in CONTENDERS.values():
        module, _, function = home.partition(":")
        assert callable(getattr(comparison.importlib.import_module(module), function))


def test_the_watch_ends_a_run_that_takes_too_long():
    Watch(60.0).check("march", 0.5, {})
    with pytest.raises(OutOfTime):
        Watch(-1.0).check()
