"""tengbc new: a problem that runs as it stands. tengbc doctor: what there is, and that it works."""

import runpy

import pytest

import tengbc as tb
from tengbc.cli.doctor import doctor
from tengbc.cli.new import new
from tengbc.errors import UsageError


def test_a_new_problem_runs_without_a_warning(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    new("my-plate")
    assert "tengbc run my_plate.py:problem" in capsys.readouterr().out
    problem = runpy.run_path("my_plate.py")["problem"]
    assert problem.name == "my-plate"
    solution = tb.solve(problem)
    assert solution.result and solution.error_estimate.max() <= 1e-3
    with pytest.raises(UsageError, match="there already"):
        new("my-plate.py")
    with pytest.raises(UsageError, match="no name"):
        new("no name")


def test_the_doctor_finds_it_well(capsys):
    with pytest.raises(SystemExit) as ended:
        doctor()
    assert ended.value.code == 0
    said = capsys.readouterr().out
    for label in ("jax", "devices", "precision", "BLAS", "threads", "memory"):
        assert f"\n{label}" in said
    assert "computes as it should" in said
