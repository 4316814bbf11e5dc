"""P22: every error class has a test that makes it happen, and says what, why and what to do."""

import time
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc import errors
from tengbc.evidence.baselines.fem import BudgetError, solve_fem
from tengbc.evidence.comparison.trial import OutOfTime, Watch
from tengbc.journal import Snapshot
from tengbc.lstsq import blocks
from tengbc.networks import Parameters
from tengbc.outcome import Outcome, Result
from tengbc.runs.checkpoints import Checkpoint, Checkpoints, read
from tengbc.runs.directory import RunDirectory
from tengbc.solver.steps import time_grid


def outside():
    network = tb.random_features(tb.Interval(0.0, 1.0), 3)
    parameters = Parameters(network)
    thetas = parameters.start[None]
    tb.Solution(heat(), parameters, np.zeros(1), thetas, Result(Outcome.DONE))([0.5], 3.0)


def heat(initial=0.0):
    laws = {"left": tb.Dirichlet(0.0), "right": tb.Dirichlet(0.0)}
    return tb.Problem(tb.Interval(0.0, 1.0), tb.Heat(1.0), laws, initial)


def not_finite():
    tb.solve(heat(lambda x: jnp.log(x[0] - 0.5)), 0.1)


def damaged(path):
    Checkpoints(path).write(Checkpoint({}, {"a": Snapshot()}))
    file = path / "000001.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    read(file)


def frozen(t_end, **choices):
    tb.solve(heat(1.0), t_end, strategy="frozen-features", **choices)


def out_of_time():
    watch = Watch(1e-6)
    time.sleep(1e-3)
    watch.check()


def lost():
    """An exchange that a process of two does not live to see."""

    def gather(_):
        raise jax.errors.JaxRuntimeError("Connection closed by peer")

    alone = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("blocks",))
    with mock.patch.object(blocks, "_between_processes", lambda: (alone, gather)):
        blocks.gathered(np.zeros(3))


CASES = {
    errors.UsageError: lambda path: time_grid(1.0, -1.0),
    errors.ProblemError: lambda path: tb.Problem(tb.Disk(), tb.Heat(1.0), {}, 0.0),
    errors.OutsideError: lambda path: outside(),
    errors.NonFiniteError: lambda path: not_finite(),
    errors.DivergedError: lambda path: frozen(5.0, dt=0.5, scheme="euler"),
    errors.ToleranceError: lambda path: frozen(0.05, features=6, rtol=1e-9),
    errors.OutputError: lambda path: RunDirectory(path / "file" / "below"),
    errors.CheckpointError: lambda path: damaged(path),
    errors.LostProcessError: lambda path: lost(),
    BudgetError: lambda path: solve_fem(tb.problems.get("heat-robin"), dt=0.1, budget=1e-3),
    OutOfTime: lambda path: out_of_time(),
}


def kinds(base=errors.TengbcError):
    for kind in base.__subclasses__():
        if kind.__module__.startswith("tengbc"):
            yield kind
            yield from kinds(kind)


def test_every_class_has_a_case():
    assert set(kinds()) == set(CASES)


@pytest.mark.filterwarnings("ignore:initial values miss the condition:UserWarning")
@pytest.mark.parametrize("kind", CASES, ids=lambda kind: kind.__name__)
def test_it_says_what_why_and_what_to_do(kind, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(kind) as error:
        CASES[kind](tmp_path)
    message = str(error.value)
    assert type(error.value) is kind
    assert "\n" not in message and message.endswith((".", "…"))
    assert ";" in message or "," in message
    assert error.value.exit_code in (2, 3, 4, 5, 6, 7)
    if kind in (errors.DivergedError, errors.ToleranceError):
        assert error.value.solution.times[0] == 0.0  # the state so far is there
