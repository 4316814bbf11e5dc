"""Files that cannot be what they should: one sentence, the right code, in less than a second."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from tengbc.journal import Snapshot
from tengbc.runs.checkpoints import Checkpoint
from tengbc.runs.directory import RunDirectory
from tests.cli.test_bad_options import SCRIPT
from tests.faults.cases import FROZEN, chosen

GOOD = Checkpoint({"options": "x"}, {"march": Snapshot({"theta": np.arange(30.0)})}).to_bytes()
SPOILED = {"empty": b"", "cut": GOOD[:200], "foreign": b"PK\x03\x04 a zip file", "other": GOOD}
CASES = {
    **{f"resume {name}": (4, "whole and of tengbc's making") for name in SPOILED},
    "resume other": (4, "belong to other options"),
    **{f"check {name}": (4, None) for name in SPOILED},
    "run none.toml": (5, "none.toml cannot be read (No such file"),
    "run none.py:problem": (2, "There is no file"),
    "run heat-robin --scheme rk5": (2, "did you mean 'rk4'?"),
    "run unknown.toml": (2, "There is no option 'shceme'; did you mean 'scheme'?"),
    "run broken.toml": (2, "is not valid TOML"),
    "run heat-robin --out file/below": (5, "cannot be written (Not a directory)"),
    "run heat-robin --out locked": (5, "cannot be written (Permission denied)"),
    "run heat-robin --out empty": (5, "go on with `tengbc resume"),
    "resume nothing": (2, "holds no run"),
    "check nothing": (2, "There is no problem called"),
}
if os.geteuid() == 0:  # may write everywhere; tests/faults/test_disk.py injects the refusal
    del CASES["run heat-robin --out locked"]


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    place = tmp_path_factory.mktemp("files")
    for name, data in SPOILED.items():
        RunDirectory.create(place / name, chosen(FROZEN)).close()
        (place / name / "checkpoints" / "000001.safetensors").write_bytes(data)
    (place / "file").write_text("")
    (place / "locked").mkdir(mode=0o500)
    (place / "unknown.toml").write_text('problem = "heat-robin"\nshceme = "rk4"\n')
    (place / "broken.toml").write_text("problem = \n")
    path = os.pathsep.join(os.path.abspath(p) for p in os.environ.get("PYTHONPATH", "").split(":"))
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=json.dumps([line.split() for line in CASES]),
        capture_output=True,
        text=True,
        cwd=place,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    found, heavy = json.loads(done.stdout)
    return dict(zip(CASES, found, strict=True)), heavy


@pytest.mark.parametrize("line", CASES)
def test_one_sentence_and_the_right_code(ended, line):
    code, out, err, seconds = ended[0][line]
    expected, said = CASES[line]
    assert code == expected and seconds < 1, err
    if said is not None:
        assert err.startswith("tengbc: ") and err.count("\n") == 1 and out == ""
        assert said in err and err.strip()[-1] in ".?"
    else:
        assert err == "" and "✗ " in out


def test_nothing_heavy_was_imported(ended):
    assert ended[1] == []
