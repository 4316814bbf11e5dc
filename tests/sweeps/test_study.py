"""Which runs a study has, and what is refused in one sentence before anything starts."""

import math
import re
import statistics
import subprocess
import sys
from io import StringIO

import pytest
from rich.console import Console

import tengbc as tb
from tengbc.sweeps.board import Board
from tengbc.sweeps.study import read_study, study
from tests.sweeps.cases import FILE, write_study

ROD = f"{FILE}:rod"


def runs(**given):
    return [run.parameters for run in study({"problem": ROD, "out": "out"} | given).runs]


def test_a_grid_combines_all_values():
    found = runs(grid={"kappa": [1, 2.5], "seed": [0, 1, 2]})
    assert found == [{"kappa": k, "seed": s} for k in (1, 2.5) for s in (0, 1, 2)]
    spaced = runs(grid={"kappa": {"from": 0.01, "to": 100, "count": 5, "log": True}})
    assert [run["kappa"] for run in spaced] == pytest.approx([0.01, 0.1, 1, 10, 100], rel=1e-14)
    whole = runs(grid={"seed": {"from": 0, "to": 9, "count": 4}})
    assert whole == [{"seed": 0}, {"seed": 3}, {"seed": 6}, {"seed": 9}]
    halves = runs(grid={"kappa": {"from": 1, "to": 2, "count": 3}})
    assert [run["kappa"] for run in halves] == [1, 1.5, 2]
    assert spaced[0]["kappa"] == 0.01 and spaced[-1]["kappa"] == 100


def test_a_list_is_taken_as_it_stands_with_every_point_of_a_grid():
    found = runs(list=[{"kappa": 1.0, "size": 2}, {"kappa": 3.0, "size": 4}], grid={"seed": [0, 1]})
    assert [(run["kappa"], run["size"], run["seed"]) for run in found] == [
        *((1.0, 2, 0), (1.0, 2, 1)),
        *((3.0, 4, 0), (3.0, 4, 1)),
    ]


def test_draws_follow_their_seed_and_their_laws():
    laws = {
        "kappa": {"from": 1.0, "to": 3.0},
        "size": {"from": 0.01, "to": 100.0, "log": True},
        "seed": {"from": 0, "to": 3},
        "rtol": [1e-3, 1e-4],
    }
    found = runs(random={"draws": 2000, "draw_seed": 5, **laws})
    assert runs(random={"draws": 50, "draw_seed": 5, **laws}) == found[:50]
    assert runs(random={"draws": 50, "draw_seed": 6, **laws}) != found[:50]
    kappa, size = ([run[name] for run in found] for name in ("kappa", "size"))
    assert 1 <= min(kappa) < 1.01 and 2.99 < max(kappa) <= 3
    assert statistics.fmean(kappa) == pytest.approx(2.0, abs=0.05)  # σ/√n = 0.013
    assert statistics.fmean(map(math.log10, size)) == pytest.approx(0.0, abs=0.1)  # 0.026
    assert statistics.pstdev(map(math.log10, size)) == pytest.approx(4 / math.sqrt(12), abs=0.05)
    assert {run["seed"] for run in found} == {0, 1, 2, 3}
    assert {run["rtol"] for run in found} == {1e-3, 1e-4}


def test_options_and_numbers_go_where_they_belong():
    grid = {"kappa": [0.5], "rtol": [1e-4], "widths": [[8, 8]]}
    (run,) = study({"problem": f"{FILE}:rod(size=2)", "out": "out", "grid": grid, "dt": 0.1}).runs
    assert run.config.problem == f"{FILE}:rod(size=2, kappa=0.5)"
    chosen = run.config.options
    assert (chosen.rtol, chosen.widths, chosen.dt) == (1e-4, (8, 8), 0.1)


def test_problems_may_be_varied_too():
    (first, second) = study(
        {"out": "out", "grid": {"problem": ["heat-robin", "transport"]}, "rtol": 1e-3}
    ).runs
    assert (first.config.problem, second.config.problem) == ("heat-robin", "transport")


def test_a_study_is_known_by_its_runs_and_by_its_problems_text(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(FILE.read_text())
    given = {"problem": f"{file}:rod", "out": "out", "grid": {"kappa": [1, 2]}}
    known = study(given).hash
    assert study(given | {"out": "elsewhere", "quantities": ["flux"]}).hash == known
    assert study(given | {"rtol": 1e-3}).hash != known
    assert study(given | {"grid": {"kappa": [1, 3]}}).hash != known
    file.write_text(FILE.read_text() + "\n")
    assert study(given).hash != known


def test_the_problems_path_is_relative_to_the_study(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(FILE.read_text())
    path = tmp_path / "study.toml"
    path.write_text('problem = "mine.py:rod"\nout = "out"\n[grid]\nkappa = [1]\n')
    monkeypatch.chdir("/")
    assert read_study(path).runs[0].config.problem == f"{tmp_path}/mine.py:rod(kappa=1)"


WRONG = {
    # What is in the study: what is said of it.
    "[grid]": "The study has no runs, for nothing is varied",
    "": "The study has no runs, for nothing is varied",
    "grids = 3": "A study has no entry 'grids'; did you mean 'grid'?",
    "[grid]\nrtol = 3": "rtol is 3, but a list of values is wanted",
    "[grid]\nrtol = []": "rtol has no value in its list",
    "[grid]\nseed = [1, 1]": "seed has a value twice in its list",
    "[grid]\ndt = [-2]": "dt is -2, but it should be greater than 0",
    "[grid]\nseed = [-1]": "seed is -1, but it should be greater than or equal to 0",
    "[grid]\nt_end = [1]": "t_end is varied and given for all runs too",
    "[grid]\nkappa = ['x']": "kappa is 'x', but rod is called with numbers",
    "[grid]\nkappa = [true]": "kappa is True, but rod is called with numbers",
    "[grid]\nkappa = {from = 1, to = 2}": "kappa has count None",
    "[grid]\nkappa = {from = 2, to = 1, count = 3}": "kappa runs from 2 to 1",
    "[grid]\nkappa = {from = 0, to = 1, count = 3, log = true}": "which has no logarithm",
    "[grid]\nkappa = {from = 0, to = 1, cuont = 3}": "kappa has no entry 'cuont'; did you mean",
    "[grid]\nkappa = [1]\n[[list]]\nkappa = 2": "kappa is varied twice",
    "[[list]]\nkappa = 1\n[[list]]\nsize = 1": "Entries of the list differ in their names",
    "[[list]]\nkappa = 1\n[random]\ndraws = 1": "a list or random draws, not both",
    "[random]\nkappa = {from = 0, to = 1}": "draws is None in",
    "[random]\ndraws = 3\ndraw_seed = 1.5\nkappa = [1]": "draw_seed is 1.5",
    "quantities = ['flow']\n[grid]\nseed = [1]": "There is no quantity 'flow'; write integral",
    "quantities = 'flux'\n[grid]\nseed = [1]": "quantities is no list",
    "quantities = ['flux']\ntimes = [-1]\n[grid]\nseed = [1]": "times has -1",
    "times = [1]\n[grid]\nseed = [1]": "times and quantities belong together",
    "slurm = 3\n[grid]\nseed = [1]": "slurm is 3, but it should be a table",
    "[grid]\nseed = {from = 0, to = 9, count = 100001}": "seed has count 100001",
    "[grid]\nseed = {from = 0, to = 9, count = 3}": "seed is 4.5, but it should be a valid integer",
    "list = [{seed = 1}, 3]": "Entries of the list differ in their names",
    "list = {seed = 1}": "list is no list of tables",
}
UNKNOWN = {
    "[grid]\nkapa = [1]": (
        "rod",
        "'rod' in .*rods.py takes no number 'kapa'; did you mean 'kappa'",
    ),
    "[grid]\nseed = [1]": ("rood", "rods.py has no 'rood'; check the name"),
    "[grid]\nkappa = [1]": ("made", "is a Problem, which takes no numbers"),
    "[grid]\nseed = [0, 1]": ("seeded", "seed is an option of a run and an argument of seeded"),
    "quantities = ['flux:top']\n[grid]\nseed = [1]": ("rod", "choose from left, right"),
    "quantities = ['value:1,2']\n[grid]\nseed = [1]": ("rod", "not at a point of 1 coordinates"),
    "[grid]\ndt = [0.1, 0.2]": ("trouble", "'trouble' in .*rods.py needs a number 'kind'"),
}


@pytest.mark.parametrize("text", WRONG, ids=lambda text: text.replace("\n", " ") or "nothing")
def test_what_cannot_be_is_refused_in_a_sentence(tmp_path, text):
    path = write_study(tmp_path / "study.toml", tmp_path / "out", text)
    with pytest.raises(tb.UsageError) as error:
        read_study(path)
    said = str(error.value)
    assert WRONG[text] in said and "\n" not in said and ";" in said and said.endswith((".", "?"))


@pytest.mark.parametrize("text", UNKNOWN)
def test_what_only_the_problems_file_can_tell_is_refused_too(tmp_path, text, monkeypatch):
    """By the first worker, before any run begins; here without the process around it."""
    from tengbc.sweeps.worker import check

    problem, said = UNKNOWN[text]
    found = read_study(write_study(tmp_path / "study.toml", tmp_path / "out", text, problem))
    with pytest.raises(tb.UsageError, match=said):
        check([run.given for run in found.runs], found.parameters, found.quantities)


def sentence(*line):
    """What `tengbc sweep` says of a study it refuses."""
    command = [sys.executable, "-X", "importtime", "-m", "tengbc", "sweep", *map(str, line)]
    done = subprocess.run(command, capture_output=True, text=True)
    *imports, said = done.stderr.splitlines()
    jax = any(line.split("|")[-1].strip() == "jax" for line in imports)
    return done.returncode, said, jax


def test_the_command_refuses_before_jax_is_imported_and_writes_nothing(tmp_path):
    path = write_study(tmp_path / "study.toml", tmp_path / "out", "[grid]\ndt = [-2]")
    code, said, jax = sentence(path)
    assert (code, jax) == (2, False) and said.startswith("tengbc: dt is -2, but")
    path = write_study(tmp_path / "study.toml", tmp_path / "out", "[grid]\nkapa = [2]")
    code, said, _ = sentence(path)
    assert code == 2 and "takes no number 'kapa'; did you mean 'kappa'" in said
    assert not (tmp_path / "out").exists()


def test_a_directory_that_is_not_a_sweeps_is_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(tb.OutputError, match="is there and holds no sweep"):
        tb.sweep(ROD, out=tmp_path, grid={"seed": [0]})
    with pytest.raises(tb.UsageError, match=r"holds no sweep, for it has no study\.json"):
        tb.load_sweep(tmp_path)
    (tmp_path / "study.json").write_text('{"form": "tengbc study 1"}')
    with pytest.raises(tb.UsageError, match="is not what this version of tengbc wrote"):
        tb.load_sweep(tmp_path)


def test_python_is_told_as_well(tmp_path, monkeypatch, wrong_types):
    with pytest.raises(tb.UsageError, match="a study's file or a problem's address"):
        tb.sweep(lambda kappa: None, out=tmp_path / "out", grid={"kappa": [1]})
    with pytest.raises(tb.UsageError, match="out is missing"):
        tb.sweep(ROD, grid={"kappa": [1]})
    with pytest.raises(tb.UsageError, match="jobs is 0"):
        tb.sweep(ROD, out=tmp_path / "out", grid={"kappa": [1]}, jobs=0)
    monkeypatch.setenv("TENGBC_SWEEP_WORKER", "1")
    with pytest.raises(tb.UsageError, match="if __name__"):
        tb.sweep(ROD, out=tmp_path / "out", grid={"kappa": [1]})


def test_the_board_says_how_far_it_is(monkeypatch):
    """Ten runs, four of them done before; two end in ten seconds, so four take twenty more."""
    now = [100.0]
    monkeypatch.setattr("tengbc.sweeps.board.time.monotonic", lambda: now[0])
    found = study({"problem": ROD, "out": "out", "grid": {"kappa": [k / 4 for k in range(10)]}})
    board = Board(found, todo=6)
    for number in (5, 6, 7, 8):
        board.begins(number)
    board.moves(8, "march", 0.25)
    now[0] += 10.0
    board.ends(5, "done", "")
    board.ends(6, "diverged", "lost.")
    board.elsewhere(7)
    assert board.headline == "6 of 10 runs, 1 not solved, 0:20 left"
    text = StringIO()
    Console(file=text, width=80).print(board.table())
    assert re.search(r"│ 6 +│ 1.25 +│ diverged +│ +│", text.getvalue())
    assert re.search(r"│ 8 +│ 1.75 +│ march 25% +│ 10 s +│", text.getvalue())
    assert not re.search(r"│ 7 ", text.getvalue())
