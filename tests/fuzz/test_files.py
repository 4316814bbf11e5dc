"""P17 and fuzz: whatever is in a file, loading it succeeds or ends in one of our errors."""

import importlib
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import safetensors
from hypothesis import example, given
from hypothesis import strategies as st

import tengbc
from tengbc.journal import Snapshot
from tengbc.options import Options, options
from tengbc.runs.checkpoints import Checkpoint, read
from tengbc.runs.config import config, read_config, to_toml
from tengbc.runs.directory import RunDirectory, explain, outcome_of
from tengbc.runs.verify import verify
from tengbc.storage.checksummed import pack
from tests.fuzz.allowed import allowed

GOOD = Checkpoint(
    {"options": "x"}, {"march": Snapshot({"theta": np.arange(30.0)}, {"usual_size": 1.0})}
).to_bytes()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


def test_the_hook_sees_what_it_should(place):
    """Without this, silence of the hook would mean nothing."""
    with pytest.raises(AssertionError):
        allowed(exec, "1")
    (place / "foreign_module.py").write_text("")
    with pytest.MonkeyPatch.context() as patch, pytest.raises(AssertionError):
        patch.syspath_prepend(place)
        allowed(importlib.import_module, "foreign_module")


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.binary(max_size=4),
    st.complex_numbers(),
    st.lists(st.integers(-3, 99), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)
names = st.sampled_from([*Options.model_fields, "problem", "out", "checkpoint_every", "nonsense"])


@given(st.dictionaries(names, scalars, max_size=6))
def test_options(chosen):
    allowed(lambda: options(**chosen))
    if found := allowed(config, chosen):
        assert found.hash and to_toml(found)


@given(st.binary(max_size=300))
@example(b'problem = "x"\ndt = 1e400')
@example(b"a" * 100_000)
@example(b"[" * 10_000)
def test_toml_bytes(place, data):
    (place / "study.toml").write_bytes(data)
    allowed(lambda: config(read_config(place / "study.toml")))


lines = st.tuples(names, st.sampled_from(["1", "nan", '"x"', "[1]", "{}", "true", "1e999", "'''"]))


@given(st.lists(lines, max_size=5))
def test_toml_lines(place, found):
    text = "\n".join(f"{name} = {value}" for name, value in found)
    (place / "study.toml").write_text(text)
    if chosen := allowed(lambda: config(read_config(place / "study.toml"))):
        (place / "again.toml").write_text(to_toml(chosen))
        assert config(read_config(place / "again.toml")) == chosen


@given(st.binary(max_size=200), st.integers(0, len(GOOD)), st.integers(0, len(GOOD)))
@example(b"", 0, len(GOOD))
@example((2**63).to_bytes(8, "little"), 0, 8)
@example((10**6).to_bytes(8, "little"), 0, 8)
def test_checkpoint_bytes(place, data, start, end):
    """A stretch of a good file replaced by anything."""
    start, end = sorted((start, end))
    spoiled = GOOD[:start] + data + GOOD[end:]
    (place / "file").write_bytes(spoiled)
    found = allowed(read, place / "file")
    assert (found is not None) == (spoiled == GOOD)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["stages", "about", "other"]), json_values, max_size=3))
def test_any_content_with_a_right_digest(place, content):
    """The digest is right, so what is inside must be looked at too."""
    (place / "packed").write_bytes(pack("tengbc checkpoint 1", content, {"0/a": np.zeros(2)}))
    allowed(read, place / "packed")


files = st.sampled_from(
    [
        "options.toml",
        "summary.json",
        "history.csv",
        "log.txt",
        "lock",
        "checkpoints/000001.safetensors",
    ]
)
contents = st.sampled_from(
    [
        b"",
        b'problem = "heat-robin"\n',
        b'problem = "mine.py:problem"\n',
        b'{"outcome": "done"}',
        b'{"outcome": "interrupted"}',
        b'{"outcome": 3}',
        b"[]",
        b"{" * 5000,
        b"march,step\nmarch,1\nmar",
        b"\xff\xfe\x00",
        GOOD,
        GOOD[:50],
    ]
)


@given(st.dictionaries(files, contents, max_size=6))
def test_run_directories(place, found):
    path = Path(place) / "run"
    shutil.rmtree(path, ignore_errors=True)
    (path / "checkpoints").mkdir(parents=True)
    for name, content in found.items():
        (path / name).write_bytes(content)
    allowed(verify, path)
    assert "\n" not in explain(path) and (outcome_of(path) is None or found["summary.json"])
    before = {name: (path / name).read_bytes() for name in found if name != "lock"}
    opened = allowed(RunDirectory.open, path)
    if opened is not None:
        directory, chosen = opened
        checkpoint = allowed(directory.newest_checkpoint, chosen, lambda text: None)
        assert checkpoint is None  # none of these belongs to the options beside it
        directory.close()
    after = {name: (path / name).read_bytes() for name in before}
    assert {n: v for n, v in after.items() if n != "log.txt"} == {
        n: v for n, v in before.items() if n != "log.txt"
    }


def test_nothing_in_the_package_can_run_a_file():
    """No eval, exec, YAML, no pickle read; a user's file is run in one place, as the help says."""
    source = Path(tengbc.__file__).parent
    pattern = re.compile(
        r"import (pickle|yaml|marshal|shelve|dill|joblib)|allow_pickle=True|(?<![.\w])(eval|exec)\("
        r"|from (pickle|yaml|marshal|shelve|dill|joblib) import (?!dumps\n)"
        r"|runpy\.run"
    )
    found = {
        path.relative_to(source).as_posix(): match[0]
        for path in source.rglob("*.py")
        if (match := pattern.search(path.read_text()))
    }
    assert found == {"runs/address.py": "runpy.run"}


def test_objects_cannot_be_packed():
    """So none can come out."""
    with pytest.raises(safetensors.SafetensorError):
        pack("x", {}, {"a": np.array([{}], dtype=object)})
