"""tengbc report: one run again, several side by side, without JAX."""

import json
import subprocess
import sys

import pytest

from tengbc.cli import main
from tengbc.solution.summary import summary
from tests.report.cases import SECTOR, made_up


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    place = tmp_path_factory.mktemp("run")
    content = summary(made_up(SECTOR), None, {"total": 5.0})
    (place / "summary.json").write_text(json.dumps(content))
    return place


@pytest.fixture
def report(monkeypatch, capsys):
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["tengbc", "report", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = ended.code or 0
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_one_run(directory, report):
    code, out, err = report(directory)
    assert (code, out, err) == (0, f"{directory / 'report.html'}\n", "")
    assert "Solved" in (directory / "report.html").read_text()


def test_several_runs(directory, report, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert report(directory, directory)[:2] == (0, "comparison.html\n")
    assert "All runs solved" in (tmp_path / "comparison.html").read_text()
    assert report(directory, directory, "--out", tmp_path / "both.html")[0] == 0
    assert (tmp_path / "both.html").is_file()


def test_what_cannot_be_reported(directory, report, tmp_path):
    code, out, err = report(tmp_path / "none")
    assert code == 2 and out == "" and err.startswith("tengbc: There is no directory")
    code, _, err = report(tmp_path)
    assert code == 2 and "no summary.json" in err
    code, _, err = report(directory, "--out", tmp_path / "no" / "such" / "page.html")
    assert code == 5 and "cannot be written" in err


def test_jax_is_not_loaded(directory):
    code = (
        "import sys; sys.argv = ['tengbc', 'report', sys.argv[1]]\n"
        "from tengbc.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "assert 'jax' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(directory)], check=True)
