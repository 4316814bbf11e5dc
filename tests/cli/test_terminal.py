"""What a run says last: the table, the curve, colours only where they can be seen."""

import io
import json
import sys
from dataclasses import replace

import numpy as np
import pytest

from tengbc.cli import terminal
from tengbc.cli.terminal import BARS, sparkline
from tengbc.outcome import Outcome, Result
from tengbc.solution import Solution
from tengbc.solution.measure import Errors
from tengbc.solution.summary import summary
from tests.solver.cases import heat, linear_space

ERRORS = Errors([(0.0, 1e-9), (0.5, 1e-7), (1.0, 1e-5)], 1e-5, 5e-6, 1.0)


@pytest.fixture(scope="module")
def solution():
    problem = heat(name="bar")
    parameters = linear_space(problem).collocation.parameters
    facts = {
        "strategy": "frozen-features",
        "preset": "fast",
        "scheme": "radau9",
        "rtol": 1e-6,
        "t_end": 1.0,
        "steps": 2,
    }
    sizes = {"parameters": 7, "interior_points": 40, "boundary_points": 2}
    return Solution(
        problem,
        parameters,
        np.array([0.0, 0.5, 1.0]),
        np.tile(parameters.start, (3, 1)),
        Result(Outcome.TOLERANCE_NOT_REACHED, "the error is near 1e-5."),
        error_estimate=np.array([1e-9, 1e-8, np.nan]),
        facts=facts | sizes,
    )


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(solution, errors, stream, monkeypatch, **environment):
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm-256color", **environment}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", stream)
    terminal.print_summary(solution, errors, summary(solution, errors, {"total": 1.5}), [])
    return stream.getvalue()


def test_the_table_says_what_was_asked_and_what_was_reached(solution, monkeypatch):
    text = shown(solution, ERRORS, io.StringIO(), monkeypatch)
    assert "bar: tolerance not reached" in text
    assert "relative error asked for" in text and "1.0e-06" in text
    assert "relative L² error, worst" in text and "1.00e-05" in text
    assert "estimated error, worst" in text and "1.00e-08" in text
    assert "error over time, log scale" in text and "▁▅█" in text
    assert "total 1.50" in text


def test_times_of_an_error_are_named_and_what_was_not_measured_is_not_stated(solution, monkeypatch):
    whole = shown(solution, ERRORS, io.StringIO(), monkeypatch)
    assert "measured at 3 times from t = 0 to 1" in whole and "at t = 1" in whole
    start = Errors([(0.0, 1.77e-9)], float("nan"), float("nan"), 1.0)
    text = shown(solution, start, io.StringIO(), monkeypatch)
    assert "not measured after t = 0" in text and "nan" not in text
    assert text.count("1.77e-09") == 1  # at the start, and nowhere else


def test_without_a_truth_the_curve_is_the_estimate(solution, monkeypatch):
    text = shown(solution, None, io.StringIO(), monkeypatch)
    assert "estimate over time" in text and "L² error" not in text


def test_a_run_that_ended_on_its_way_says_how_far_it_came(solution, monkeypatch):
    assert "0 to 1 in 2 steps" in shown(solution, None, io.StringIO(), monkeypatch)
    short = replace(
        solution,
        times=solution.times[:2],
        thetas=solution.thetas[:2],
        error_estimate=np.full(2, np.nan),
    )
    assert "0 to 0.5, of 0 to 1 in 2 steps" in shown(short, None, io.StringIO(), monkeypatch)


def test_colour_only_on_a_terminal_that_wants_it(solution, monkeypatch):
    assert "\x1b[" not in shown(solution, ERRORS, io.StringIO(), monkeypatch)
    assert "\x1b[1;31m" in shown(solution, ERRORS, Terminal(), monkeypatch)
    assert "[1;31m" not in shown(solution, ERRORS, Terminal(), monkeypatch, NO_COLOR="1")


def test_json_is_the_whole_of_the_output(solution, capsys):
    content = summary(solution, ERRORS, {"total": 1.5})
    terminal.print_json(content)
    read = json.loads(capsys.readouterr().out)
    assert read["relative_l2_max"] == 1e-5 and read["rtol"] == 1e-6
    assert read["outcome"] == "tolerance not reached"


def test_sparklines():
    assert sparkline([10.0**k for k in range(8)]) == BARS
    assert sparkline([10.0**-k for k in range(8)]) == BARS[::-1]
    assert sparkline([0.0, 1.0, np.nan, 1e8]) == " ▁ █"
    assert sparkline([1.0, 1.1, 1.2]) == "▁▁▁"  # noise is not growth
    assert sparkline([]) == sparkline([0.0, np.inf]) == ""
    long = [1e-12] * 500
    long[377] = 1.0
    assert len(sparkline(long)) == 32 and sparkline(long).count("█") == 1  # peaks are kept


def test_a_tolerance_that_holds_from_some_time_on_says_so(solution, monkeypatch):
    """Else an estimate above what was asked for would stand beside "done"."""
    text = "the tolerance holds from t = 0.05 on"
    done = replace(solution, result=Result(Outcome.DONE, text))
    assert text in shown(done, ERRORS, io.StringIO(), monkeypatch, COLUMNS="120")
    plain = replace(solution, result=Result(Outcome.DONE))
    assert "remark" not in shown(plain, ERRORS, io.StringIO(), monkeypatch, COLUMNS="120")
