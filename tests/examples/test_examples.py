"""The examples run, and what they print is right."""

import re
import runpy
from pathlib import Path

import matplotlib
import nbformat
import pytest

import tengbc as tb

ROOT = Path(__file__).parent.parent.parent / "examples"
SCRIPTS = {
    # script: (largest error it may print, files it leaves, words it prints)
    "first_solve": (1e-2, ["first_solve.png"], "heat left: 8"),
    "own_equation": (1e-6, ["own_equation.png"], "at the end 0.6087"),
    "mixed_conditions": (1e-3, [], "enters through left   at t = 1: +0.066"),
    "system": (1e-5, ["system.png"], "at x = 0.25, t = 2: prey"),
    "polygon_with_hole": (1e-3, ["polygon_with_hole.png"], "heat from the pipe"),
    "fit_numbers": (None, ["fit_numbers.png"], "h lies between 0.04"),
    "resume": (1e-4, ["resumed/summary.json"], "heat-robin: done"),
    "export_to_paraview": (None, ["heat.pvd", "heat.nc", "probes.csv"], "xarray.Dataset"),
    "compare_with_fem": (None, [], "finite elements, 817 unknowns"),
}


def test_every_script_is_tested_and_short():
    assert {path.stem for path in ROOT.glob("*.py")} == set(SCRIPTS)
    for path in ROOT.glob("*.py"):
        assert len(path.read_text("utf-8").splitlines()) <= 40


@pytest.mark.parametrize("name", SCRIPTS)
def test_script(name, tmp_path, monkeypatch, capfd):
    largest, files, words = SCRIPTS[name]
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / f"{name}.py"))
    printed = capfd.readouterr().out
    assert words in printed
    if largest is not None:
        (error,) = re.findall(r"relative error, at worst: (\S+)", printed)
        assert 0 < float(error) <= largest
    for file in files:
        assert (tmp_path / file).stat().st_size > 100


def test_study(tmp_path):
    """What leaves through the right side, and what is left, depend on h as they should."""
    data = tb.sweep(ROOT / "sweep/study.toml", out=tmp_path / "plate").to_xarray()
    assert (data.outcome == "done").all() and dict(data.sizes) == {"kappa": 3, "h": 3, "time": 2}
    assert (data["flux:right"] < 0).all() and (data.integral.diff("h") < 0).all()
    assert (tmp_path / "plate/sweep.html").stat().st_size > 1e4


@pytest.mark.parametrize("path", sorted(ROOT.glob("notebooks/*.ipynb")), ids=lambda p: p.stem)
def test_notebook(path, tmp_path):
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None, "strip the outputs"
    NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    assert any(cell.get("outputs") for cell in notebook.cells)
