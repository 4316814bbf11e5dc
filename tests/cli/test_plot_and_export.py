"""tengbc plot and tengbc export: files from a finished run, refusals before JAX is imported."""

import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import tengbc as tb
from tengbc.cli.app import app
from tengbc.errors import CheckpointError, TengbcError


@pytest.fixture(scope="module")
def run_directory(robin, tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    robin.save(directory / "solution.safetensors")
    return directory


def tengbc(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        (("plot", "--times", "0,0.5"), "solution.png"),
        (("plot", "--error"), "error.png"),
        (("export", "--to", "npz", "--grid", "5"), "solution.npz"),
        (("export", "--to", "vtk", "--grid", "6", "--times", "0,1"), "solution.pvd"),
    ],
)
def test_files_appear(arguments, written, run_directory):
    command, *options = arguments
    done = tengbc(command, run_directory, *options)
    assert done.exit_code == 0, done.exception
    assert done.stdout.strip() == str(run_directory / written)
    assert (run_directory / written).stat().st_size > 200


def test_csv_at_points_of_a_file(run_directory, robin, tmp_path):
    probes, out = tmp_path / "probes.csv", tmp_path / "u.csv"
    probes.write_text("0.1,0.2\n0.3,0.4\n")
    done = tengbc(
        "export", run_directory, "--to", "csv", "--points", probes, "--times", "0.25", "--out", out
    )
    assert done.exit_code == 0, done.exception
    found = np.loadtxt(out, delimiter=",", skiprows=1)
    loaded = tb.load(run_directory / "solution.safetensors")
    np.testing.assert_array_equal(found[:, 3], loaded([[0.1, 0.2], [0.3, 0.4]], 0.25))


BAD = {
    "plot nowhere": "There is no nowhere",
    "plot . --times 0,x": "times is '0,x'",
    "plot . --out u.bmp": "u.bmp ends in none of .png",
    "plot . --out u.gif --error": "leave --error and --times out",
    "export . --to hdf": "There is no format 'hdf'; choose one of netcdf",
    "export . --to csv --grid 3 --points p.csv": "give --grid or --points",
    "export . --to csv --points p.csv": "There is no file p.csv",
}


@pytest.mark.parametrize("arguments", BAD)
def test_refusals_are_one_sentence(arguments, run_directory, monkeypatch):
    monkeypatch.chdir(run_directory)
    done = tengbc(*arguments.split())
    assert isinstance(done.exception, TengbcError) and done.exception.exit_code == 2
    assert BAD[arguments] in str(done.exception)


def test_refusals_come_before_jax(tmp_path):
    script = (
        "import sys\nfrom tengbc.cli.app import app\n"
        "try: app(['export', '.', '--to', 'hdf'])\n"
        "except Exception: print('jax' in sys.modules, 'matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_damaged_solution(tmp_path):
    (tmp_path / "solution.safetensors").write_bytes(b"nothing of ours")
    done = tengbc("export", tmp_path, "--to", "npz")
    assert isinstance(done.exception, CheckpointError) and done.exception.exit_code == 4
