"""P1: a run that ends anywhere, even inside the write of a checkpoint, resumes to the same bits."""

import os

import pytest

from tengbc.runs.checkpoint_journal import CheckpointJournal
from tengbc.runs.checkpoints import Checkpoints
from tengbc.storage import atomic
from tests.faults.cases import DEFAULT, FROZEN, PAPER, chosen, fingerprint

STRATEGY = {"preset": "fast", "strategy": "frozen-features"}
RUNS = {
    "paper": (PAPER, "heat"),
    "paper, multistep": (PAPER | {"scheme": "ab3"}, "heat"),
    "fast": (FROZEN, "heat"),
    "multistep": (FROZEN | {"scheme": "bdf3", "dt": 0.001}, "heat"),
    "many steps": (FROZEN | {"dt": 0.0003}, "heat"),
    # Features and points are placed anew as the front forms.
    "following": (
        FROZEN | {"strategy": "moving-features", "features": 30, "t_end": 0.4, "dt": 0.04},
        "front",
    ),
    "narrow": (STRATEGY | {"t_end": 0.1, "rtol": 1e-2}, "narrow"),
    # Two levels, and half the step in between, which tells what to refine.
    "levels": (STRATEGY | {"t_end": 30.0, "rtol": 1e-5}, "calm"),
    # Steps of adapted length, an answer and its companion.
    "local": (DEFAULT, "logistic"),
    # Its matrices are taken anew half-way, and what follows depends on where that was.
    "nonlinear": (FROZEN | {"scheme": "bdf2", "t_end": 0.2, "dt": 0.02}, "logistic"),
}
POINTS = {
    "step": (CheckpointJournal, "offer"),
    "open": (atomic, "open"),
    "fsync": (os, "fsync"),
    "replace": (os, "replace"),
    "listdir": (os, "listdir"),
    "line of history": (os, "write"),
}
# Their sessions are long to begin: one kind of end is enough for them.
COSTLY = ("following", "narrow", "levels", "local")
COUNTS = {"levels": (90, 60)}
"""The calls at which two sessions end: here with half the step, and in the second level."""
KILLED_AT_EVERY_STEP = [name for name in RUNS if name not in (*COSTLY, "many steps")]


class Killed(BaseException):
    """Nothing in the package may catch it: after it no code of ours has run, as after SIGKILL."""


@pytest.fixture(scope="module")
def run(request, tmp_path_factory, workshop):
    kind, problem = RUNS[request.param]
    path = tmp_path_factory.mktemp(request.param) / "undisturbed"
    ended = workshop(path, chosen(kind, problem))
    assert ended.content is not None
    if kind is DEFAULT:
        assert ended.solution.facts["strategy"] == "local-features"
    if request.param == "levels":
        assert ended.solution.facts["march"] == "answer 2"
        assert ended.solution.facts["steps"] > 25  # the first ones are divided
    return (kind, problem), path, fingerprint(ended.solution)


def killer(patch, where, count):
    """Arm a point: its count-th call is the last thing that happens."""
    owner, name = POINTS[where]
    original, calls = getattr(owner, name, open), 0

    def call(*arguments, **named):
        nonlocal calls
        calls += 1
        if calls == count:
            raise Killed
        return original(*arguments, **named)

    patch.setattr(owner, name, call, raising=False)


@pytest.mark.parametrize(
    ("run", "where"),
    [(name, where) for name in RUNS for where in POINTS if name not in COSTLY or where == "step"],
    indirect=["run"],
)
def test_same_bits_after_two_kills(request, run, tmp_path, monkeypatch, workshop, where):
    (kind, problem), undisturbed, expected = run
    killed = 0
    for count in COUNTS.get(request.node.callspec.params["run"], (7, 5)):
        with monkeypatch.context() as patch:
            killer(patch, where, count)
            try:
                ended = workshop(tmp_path / "run", chosen(kind, problem))
            except Killed:
                killed += 1
    assert killed == 2 or (killed and where != "step"), "the point was never reached"
    ended = workshop(tmp_path / "run", chosen(kind, problem))
    assert fingerprint(ended.solution) == expected
    assert (tmp_path / "run/history.csv").read_bytes() == (undisturbed / "history.csv").read_bytes()
    assert len(Checkpoints(tmp_path / "run" / "checkpoints").paths()) <= 3
    assert not list((tmp_path / "run").rglob(".*"))


@pytest.mark.parametrize("run", KILLED_AT_EVERY_STEP, indirect=True)
def test_twenty_kills_in_a_row_lose_at_most_one_step_each(run, tmp_path, monkeypatch, workshop):
    """Each session is killed at its second step: what the first one did is never done again."""
    (kind, problem), undisturbed, expected = run
    sessions = 0
    while True:
        with monkeypatch.context() as patch:
            killer(patch, "step", 2)
            try:
                ended = workshop(tmp_path / "run", chosen(kind, problem))
                break
            except Killed:
                sessions += 1
        assert sessions < 400
    assert sessions > 8
    assert fingerprint(ended.solution) == expected
    assert (tmp_path / "run/history.csv").read_bytes() == (undisturbed / "history.csv").read_bytes()
