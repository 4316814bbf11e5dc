"""The README says what the files in results/ say."""

from benchmarks.readme import README
from benchmarks.readme_results import written


def test_tables_are_those_of_the_results():
    text = README.read_text("utf-8")
    assert written(text) == text, "run python -m benchmarks.readme_results"
