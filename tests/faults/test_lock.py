"""P18: two processes cannot spoil one run directory, and a kill frees it."""

import subprocess
import sys

import pytest

from tengbc.errors import OutputError
from tengbc.runs.directory import Lock, RunDirectory
from tests.faults.cases import FROZEN, chosen

HOLD = """
import sys, time
from pathlib import Path
from tengbc.runs.directory import Lock
lock = Lock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


def test_twenty_rounds(tmp_path):
    for _ in range(20):
        child = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None and child.stdout.readline() == "held\n"
        with pytest.raises(OutputError, match=rf"in use by another process \(number {child.pid}\)"):
            Lock(tmp_path)
        child.kill()
        child.communicate()
        Lock(tmp_path).release()


def test_a_directory_in_use_is_left_alone(tmp_path):
    first = RunDirectory.create(tmp_path / "run", chosen(FROZEN))
    before = {path: path.read_bytes() for path in (tmp_path / "run").glob("*.toml")}
    with pytest.raises(OutputError, match="in use by another process") as error:
        RunDirectory.open(tmp_path / "run")
    assert error.value.exit_code == 5
    with pytest.raises(OutputError, match="has not come to its end; go on with `tengbc resume"):
        RunDirectory.create(tmp_path / "run", chosen(FROZEN, seed=3))
    assert {path: path.read_bytes() for path in (tmp_path / "run").glob("*.toml")} == before
    first.close()
    second, found = RunDirectory.open(tmp_path / "run")
    assert found.options.seed == 0
    second.close()


@pytest.mark.parametrize(("outcome", "code"), [("done", 0), ("tolerance not reached", 6)])
def test_a_finished_run_is_left_as_it_is(tmp_path, outcome, code):
    """Resumed it says so, and gives the code of its outcome; nothing heavy is imported for that."""
    RunDirectory.create(tmp_path / "run", chosen(FROZEN)).close()
    (tmp_path / "run" / "summary.json").write_text(f'{{"outcome": "{outcome}"}}')
    before = sorted((tmp_path / "run").rglob("*"))
    script = (
        "import sys; from tengbc.cli import main\ntry: main()\n"
        "except SystemExit as e: assert 'jax' not in sys.modules; raise"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "resume", str(tmp_path / "run")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == code
    assert f"is finished already ({outcome})" in done.stderr and done.stderr.count("\n") == 1
    assert sorted((tmp_path / "run").rglob("*")) == before
    with pytest.raises(OutputError, match=r"already holds a finished run \("):
        RunDirectory.create(tmp_path / "run", chosen(FROZEN))
