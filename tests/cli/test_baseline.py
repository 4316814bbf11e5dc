"""tengbc baseline: the same summary, an interruption that keeps what there is, clear refusals."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import tengbc as tb
from tengbc.cli.app import app
from tengbc.evidence.baselines.registry import BASELINES, run_baseline


def run(*arguments: str):
    return CliRunner().invoke(app, ["baseline", *arguments])


def test_finite_elements_from_the_command_line(tmp_path):
    done = run("fem", "heat-robin", "--resolution", "8", "--dt", "0.02", "--out", str(tmp_path))
    assert done.exit_code == 0
    content = json.loads((tmp_path / "summary.json").read_text())
    assert content["preset"] == "fem" and content["steps"] == 50
    assert content["relative_l2_max"] < 1e-2 and len(content["relative_l2_by_time"]) == 101
    assert content["parameters"] > 100 and "jax" in content["versions"]


@pytest.mark.parametrize(
    "arguments, text",
    [
        (("fme", "heat-robin"), "no baseline 'fme'"),
        (("fem", "heat-robin", "--steps", "5"), "fem has no option 'steps'"),
        (("fem", "heat-robin", "--dt", "-1"), "must be positive"),
        (("pinn-bfgs", "heat-rubin"), "heat-robin"),
    ],
)
def test_what_cannot_be_right_is_refused(arguments, text):
    failed = run(*arguments)
    assert isinstance(failed.exception, tb.UsageError) and text in str(failed.exception)


def test_an_interrupted_march_keeps_the_times_it_reached():
    ended = run_baseline(
        "fem",
        tb.problems.get("heat-robin"),
        resolution=8,
        dt=0.02,
        progress=lambda phase, fraction, known: known.get("step") == 20,
    )
    assert ended.result.outcome is tb.Outcome.INTERRUPTED
    assert ended.times[-1] == pytest.approx(0.4)
    assert np.isfinite(ended.at_times(np.zeros((1, 2)), ended.times)).all()


def test_the_papers_settings_are_known():
    assert BASELINES["fem"].paper == {"resolution": 256, "dt": 1e-4}
    assert BASELINES["pinn-bfgs"].paper["steps"] == 100_000
