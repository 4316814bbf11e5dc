"""Tables of the README between two marks, which the programs here rewrite."""

import re
from collections.abc import Sequence
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def insert(text: str, mark: str, rows: Sequence[str]) -> str:
    """The text with these rows between the marks of a table."""
    marks = rf"(<!-- table: {re.escape(mark)} -->\n).*?(<!-- end -->)"
    assert re.search(marks, text, flags=re.S), f"there is no table {mark!r}"
    table = "\n".join(rows) + "\n"
    return re.sub(marks, lambda found: found[1] + table + found[2], text, flags=re.S)
