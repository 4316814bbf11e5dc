"""report.html: one safe, small, complete file; remade from what is stored; compared."""

import json
import re
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.errors import UsageError
from tengbc.report.comparison import labels, write_comparison
from tengbc.report.from_directory import read_run, remake
from tengbc.report.pictures import opening
from tengbc.report.run_report import leave_report
from tengbc.solution.summary import measure, summary
from tests.report.cases import SECTOR, made_up

NASTY = '</script><script>alert("x")</script><img src=x onerror=alert(1)>'


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run directory as `tengbc run` leaves it, and the seconds its report took."""
    directory = tmp_path_factory.mktemp("run")
    solution = made_up(SECTOR)
    content = summary(solution, measure(solution), {"import": 1.0, "total": 5.0})
    (directory / "summary.json").write_text(json.dumps(content))
    began = time.process_time()  # the machine may be busy with other tests
    files = leave_report(directory, solution, content)
    assert files == [directory / "report.html"]
    return directory, time.process_time() - began


def test_one_file_small_and_soon(run):
    directory, seconds = run
    page = (directory / "report.html").read_text()
    assert 1e5 < len(page.encode()) <= 5e6 and seconds <= 3
    # Nothing is fetched: no address at all but the names of XML.
    assert set(re.findall(r"https?://[^\"' )]+", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(script|img|iframe|link)[^>]*\b(src|href)=\"(?!data:)", page)


def test_what_the_page_says(run):
    page = (run[0] / "report.html").read_text().replace("\N{NO-BREAK SPACE}", " ")
    for text in ("Solved", "∂ₜu = 0.1·∇²u", "AnnularSector", "g(u, x, n, t) = 0", "compiling"):
        assert text in page, text
    for segment in SECTOR.segments:
        assert page.count(f">{segment}</") >= 2  # in the table and in the drawing
    assert f"jax {jax.__version__}" in page
    assert "Condition number, at every step" in page and ">10⁵<" in page


def test_names_are_text_not_code(tmp_path):
    solution = made_up(tb.Polygon([(0, 0), (1, 0), (0, 1)], names=[NASTY, "b", "c"]), name=NASTY)
    page = tb.write_report(solution, tmp_path / "page.html", command=NASTY).read_text()
    assert NASTY not in page and "<img" not in page
    assert page.count("<script") == 2 == page.count("</script>")


def test_it_is_remade_without_the_problem(run, tmp_path):
    directory, _ = run
    before = (directory / "report.html").read_text()
    assert remake(directory, tmp_path / "again.html").read_text() == before
    stored = json.loads((directory / "report-data.json").read_text())
    assert stored["format"] == "tengbc-report" and stored["version"] == 2


def test_without_its_data_a_report_has_no_pictures(run, tmp_path):
    """And it has the answer's curves alone, though its companion's steps stand in the same file."""
    content = json.loads((run[0] / "summary.json").read_text()) | {"march": "answer 1"}
    (tmp_path / "summary.json").write_text(json.dumps(content))
    (tmp_path / "history.csv").write_text(
        "march,step,time,fit_residual,rank,boundary_inner\n"
        "answer 1,1,0.5,1e-9,7,1e-8\nanswer 1,2,1,2e-9,7,1e-8\n"
        "companion 1,1,0.25,4e-9,7,1e-8\n"
    )
    page = remake(tmp_path).read_text()
    assert "Solved" in page and "Fit residual" in page and "data-pictures=" not in page
    assert read_run(tmp_path)["history"]["measured"]["fit_residual"] == [1e-9, 2e-9]


def test_a_summary_of_few_words_will_do(tmp_path):
    """What a baseline leaves: no preset, no history, no estimate."""
    (tmp_path / "summary.json").write_text('{"problem": "mine", "outcome": "done"}')
    page = remake(tmp_path).read_text()
    assert "Solved" in page and "The error is not known" in page
    write_comparison([tmp_path, tmp_path], tmp_path / "comparison.html")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "holds no finished run"),
        ({"summary.json": "{}"}, "does not say how the run ended"),
        ({"report-data.json": "{"}, "cannot be read"),
        ({"report-data.json": "[]"}, "no JSON object"),
        ({"report-data.json": '{"format": "tengbc-report", "version": 99}'}, "remove it"),
    ],
)
def test_what_is_no_run_is_refused(tmp_path, files, said):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=said):
        remake(tmp_path)
    with pytest.raises(UsageError, match="There is no directory"):
        remake(tmp_path / "none")


def test_a_report_that_fails_costs_no_results(tmp_path, capsys):
    solution = made_up(SECTOR)
    solution.problem.exact = lambda x, t: 1 / 0
    content = summary(solution, None, {})
    assert leave_report(tmp_path, solution, content) == []
    assert "the report could not be made (division by zero)" in capsys.readouterr().err


def test_a_run_that_ended_at_once(tmp_path):
    solution = made_up(SECTOR, outcome=tb.Outcome.DIVERGED, message="lost at t = 0.05")
    start = tb.Solution(
        solution.problem,
        solution.parameters,
        np.zeros(1),
        solution.thetas[:1],
        solution.result,
        facts=solution.facts,
    )
    page = tb.write_report(start, tmp_path / "page.html").read_text()
    assert "Not solved: the march diverged" in page and "0 of 20" in page


def stored(directory, outcome, total):
    """A run directory with a solution made up."""
    directory.mkdir()
    solution = made_up(SECTOR, outcome=outcome)
    leave_report(directory, solution, summary(solution, measure(solution), {"total": total}))
    return directory


def test_runs_side_by_side(run, tmp_path):
    """The faster of the solved ones wins; a run that failed never does, however fast."""
    fast = stored(tmp_path / "fast", tb.Outcome.DONE, 3.0)
    failed = stored(tmp_path / "failed", tb.Outcome.TOLERANCE_NOT_REACHED, 1.0)
    page = write_comparison([run[0], fast, failed], tmp_path / "comparison.html").read_text()
    assert "2 of 3 runs solved" in page and "Fastest: fast, 3 s." in page
    assert page.count("data-compact></div>") == 3
    assert re.findall(r'class="best">([^<]*)<', page) == ["3 s"]  # equal errors: nobody wins
    assert ">5 s<" in page and ">1 s<" in page


def test_labels_are_short_and_distinct(tmp_path):
    places = [tmp_path / "a" / "run", tmp_path / "b" / "run", tmp_path / "b" / "other"]
    assert labels(places) == ["a/run", "b/run", "b/other"]
    assert labels(places[1:]) == ["run", "other"]


@pytest.fixture(scope="module")
def heated():
    """A cold plate with a corner cut out, which a source heats: at first it is flat."""
    corners = [(0, 0), (1, 0), (1, 0.5), (0.5, 0.5), (0.5, 1), (0, 1)]
    domain = tb.Polygon(corners)
    laws = {name: tb.Neumann(0.0) for name in domain.segments}
    laws["edge0"] = tb.Robin(1.0, 0.1, 0.0)
    equation = tb.Heat(0.1) + tb.Source(lambda x, t: x[0] * x[1])
    return tb.solve(tb.Problem(domain, equation, laws, 0.0, t_end=0.5, name="heated"), rtol=1e-3)


def test_it_says_balance_strategy_and_patches(heated, tmp_path):
    page = tb.write_report(heated, tmp_path, keep_data=True).read_text()
    data = json.loads((tmp_path / "report-data.json").read_text())
    assert data["balance"]["closes"] == pytest.approx(heated.balance().closes, rel=1e-5)
    assert "The balance closes to" in page and '"id": "balance"' in page
    assert "local-features: polynomials on patches" in page
    widths = np.unique(heated.body.boxes[:, 1, 0])
    sizes = f"{len(widths)} sizes, {widths[-1]:.3g} to {widths[0]:.3g} across"
    assert f"{heated.facts['patches']} patches of {sizes}, polynomials of degree" in page
    assert 'name="patches"' in page
    boxes = np.reshape(data["pictures"]["boxes"], (-1, 2, 2))
    lower, upper = boxes[:, 0], boxes.sum(axis=1)
    for x in heated.problem.domain.interior(50).x:  # each point lies in one box
        assert np.count_nonzero(((lower <= x) & (x < upper)).all(axis=1)) == 1


def test_it_opens_where_there_is_something_to_see(heated, tmp_path):
    tb.write_report(heated, tmp_path, keep_data=True)
    pictures = json.loads((tmp_path / "report-data.json").read_text())["pictures"]
    time = pictures["times"][pictures["opening"]]
    x = heated.problem.domain.interior(200).x
    spread = lambda t: np.ptp(heated(x, t))
    assert spread(time) > 0.4 * max(map(spread, pictures["times"])) and spread(0.0) == 0
    assert opening(np.array([1.0, 0.5, 0.1])) == 0 and opening(np.zeros(3)) == 0


def test_an_equation_without_a_known_flux_has_no_balance(tmp_path):
    equation = tb.Equation(lambda u, x, t: jnp.tanh(tb.laplacian(u)(x)))
    ends = {"left": tb.Neumann(0.0), "right": tb.Neumann(0.0)}
    start = lambda x: 1.0 + 0.1 * jnp.cos(np.pi * x[0])
    solution = tb.solve(tb.Problem(tb.Interval(0, 1), equation, ends, start), 0.01, rtol=1e-3)
    assert "The balance" not in tb.write_report(solution, tmp_path).read_text()
