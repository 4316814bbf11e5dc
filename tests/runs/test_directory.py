"""summary.json is strict JSON."""

import json

import pytest

from tengbc.runs.directory import write_summary


def test_a_summary_is_strict_json(tmp_path):
    path = write_summary(tmp_path, {"a": [[0.0, 1e-3]], "b": None, "c": "λ"})
    assert json.loads(path.read_text("utf-8")) == {"a": [[0.0, 1e-3]], "b": None, "c": "λ"}
    with pytest.raises(ValueError, match="JSON compliant"):
        write_summary(tmp_path, {"a": float("nan")})
