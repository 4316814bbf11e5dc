"""The README says what the files in results/ say."""

import re

from benchmarks.readme import README
from benchmarks.readme_results import written


def test_tables_are_those_of_the_results():
    text = README.read_text("utf-8")
    assert written(text) == text, "run python -m benchmarks.readme_results"


def test_the_ten_lines_run_as_they_stand():
    """Warnings are errors here: the first example must run without one."""
    block = re.search(r"## Ten lines\n\n```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert block is not None
    given = {}
    exec(block[1], given)
    solution = given["solution"]
    assert solution.result and solution.error_estimate.max() <= 1e-6
    assert solution(given["points"], t=0.5).shape == (1000,)


def test_the_problem_of_ones_own_runs_as_it_stands(capsys):
    blocks = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    given = {}
    exec(blocks[0].split("problem =")[0] + blocks[1], given)
    warm = given["warm"]
    assert warm.result and warm["temperature"]([0.5, 0.5], 1.0) > 20
    assert "through hole0" in capsys.readouterr().out
