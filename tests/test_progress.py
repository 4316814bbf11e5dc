"""Progress for people: after a second, at a terminal or in a notebook, gone at the end."""

import io
import sys
from types import SimpleNamespace

import pytest

import tengbc as tb
from tengbc import progress
from tengbc.progress import Bar, shown, time_left
from tests.solver.cases import heat


@pytest.fixture
def clock(monkeypatch):
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


class Terminal(io.StringIO):
    """Standard error at which somebody sits."""

    def isatty(self):
        return True


def sit_at_a_terminal(monkeypatch):
    """In the test itself: before it begins, pytest takes standard error back."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    return terminal


class Handle:
    """What IPython gives for an output that may change."""

    def __init__(self, outputs):
        self.outputs = outputs

    def update(self, content, raw):
        assert raw
        self.outputs[-1].append(content["text/plain"])


@pytest.fixture
def notebook(monkeypatch):
    """The outputs of a cell, each a list of what it showed one after the other."""
    import IPython
    import IPython.display

    outputs = []

    def display(content, raw, display_id):
        assert raw and display_id
        outputs.append([content["text/plain"]])
        return Handle(outputs)

    monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(kernel="a kernel"))
    monkeypatch.setattr(IPython.display, "display", display)
    return outputs


@pytest.mark.parametrize(
    ("passed", "fraction", "text"),
    [
        (10.0, 0.5, "0:10 left"),
        (65.0, 0.5, "1:05 left"),
        (10.0, 0.001, "2:46:30 left"),
        (10.0, 0.0, ""),
        (10.0, 1.0, ""),
        (0.0, 0.5, ""),
    ],
)
def test_the_time_left(passed, fraction, text):
    assert time_left(passed, fraction) == text


def march(bar, clock, seconds):
    """A march that tells ten times a second how far it has come."""
    began = clock.now
    for n in range(10 * seconds + 1):
        clock.now = began + n / 10
        bar("march", n / (10 * seconds), {"step": n, "misfit": 1.0 / 3.0})


def test_a_bar_at_a_terminal(clock, monkeypatch):
    terminal = sit_at_a_terminal(monkeypatch)
    with Bar() as bar:
        march(bar, clock, 1)
        assert terminal.getvalue().count("march") <= 1  # the last, when a second has passed
    with Bar() as bar:
        bar("fit", 0.0, {})
        clock.now += 3.0
        bar("march", 0.25, {"step": 2, "misfit": 1.0 / 3.0})
        clock.now += 3.0
        bar("march", 0.75, {"step": 3})
    text = terminal.getvalue()
    assert "march" in text and "step 3" in text and "0:01 left" in text and "75%" in text


def test_nothing_is_shown_of_what_takes_less_than_a_second(clock, monkeypatch):
    terminal = sit_at_a_terminal(monkeypatch)
    with Bar() as bar:
        for n in range(10):
            clock.now = n / 10
            bar("march", n / 9, {})
    assert terminal.getvalue() == ""


def test_a_line_that_changes_in_a_notebook(clock, notebook):
    with shown(None) as bar:
        march(bar, clock, 2)
    (output,) = notebook
    assert output[0].startswith("march 50%  0:01 left  step 10  misfit 0.333")
    assert output[-2].startswith("march 100%") and output[-1] == ""


def test_a_line_every_half_minute_elsewhere(clock, capsys):
    with shown(True) as bar:
        march(bar, clock, 70)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2 and lines[0].startswith("march 44%  0:39 left  step 311  misfit 0.333")


def test_who_is_told(clock, capsys):
    told = []
    with shown(lambda *known: told.append(known)) as function:
        function("march", 0.5, {})
    assert told == [("march", 0.5, {})]
    for choice in (None, False):  # nobody looks at what pytest captures
        with shown(choice) as bar:
            march(bar, clock, 70)
    assert capsys.readouterr().err == ""


def test_at_a_terminal_it_is_shown_unless_one_says_no(clock, monkeypatch):
    terminal = sit_at_a_terminal(monkeypatch)
    with shown(False) as bar:
        march(bar, clock, 2)
    assert terminal.getvalue() == ""
    with shown(None) as bar:
        march(bar, clock, 2)
    assert "100%" in terminal.getvalue()


@pytest.mark.parametrize("choice", [None, True])
def test_solve_shows_its_progress(monkeypatch, choice):
    terminal = sit_at_a_terminal(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    tb.solve(heat(), 0.01, rtol=0.5, progress=choice)
    text = terminal.getvalue()
    assert "march (fourfold steps)" in text and "━" in text and "100%" in text


def test_solve_tells_a_function():
    told = []
    tb.solve(heat(), 0.01, rtol=0.5, progress=lambda *known: told.append(known))
    longer = {"march (double steps)", "march (fourfold steps)"}
    assert {phase for phase, _, _ in told} == {"march", "march (companion)", *longer}
    assert told[-1][1] == 1.0
