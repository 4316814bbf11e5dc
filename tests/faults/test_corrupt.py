"""P5: a damaged checkpoint is noticed, never loaded; the one before it is used."""

import numpy as np
import pytest

from tengbc import provenance
from tengbc.errors import CheckpointError
from tengbc.journal import Snapshot
from tengbc.runs import directory
from tengbc.runs.checkpoints import Checkpoint, Checkpoints, read
from tengbc.storage.checksummed import pack
from tests.faults.cases import FROZEN, chosen, fingerprint
from tests.faults.test_kill_in_process import Killed, killer


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    march = Snapshot({"theta": rng.random(40), "thetas": rng.random((20, 40))}, {"usual_size": 1.0})
    return Checkpoint({"options": "x", "seed": 0}, {"fit": Snapshot({}), "march": march}).to_bytes()


def refused(path, data):
    path.write_bytes(data)
    with pytest.raises(CheckpointError) as error:
        read(path)
    assert str(path) in str(error.value) and "\n" not in str(error.value)


def test_every_byte_of_the_header(tmp_path, data):
    end = 8 + int.from_bytes(data[:8], "little")
    for place in range(end):
        spoiled = bytearray(data)
        spoiled[place] ^= 1 << place % 8
        refused(tmp_path / "file", spoiled)


def test_two_thousand_random_bytes(tmp_path, data):
    rng = np.random.default_rng(1)
    for place, change in zip(
        rng.integers(0, len(data), 2000), rng.integers(1, 256, 2000), strict=True
    ):
        spoiled = bytearray(data)
        spoiled[place] ^= int(change)
        refused(tmp_path / "file", spoiled)


def test_five_hundred_truncations(tmp_path, data):
    for size in np.linspace(0, len(data) - 1, 500).astype(int):
        refused(tmp_path / "file", data[:size])


@pytest.mark.parametrize(
    "content", [{}, {"stages": 3, "about": {}}, {"stages": [["march"]], "about": {}}]
)
def test_a_right_digest_but_something_else(tmp_path, content):
    refused(tmp_path / "file", pack("tengbc checkpoint 1", content, {}))


def interrupted(path, workshop, monkeypatch):
    with monkeypatch.context() as patch, pytest.raises(Killed):
        killer(patch, "step", 8)
        workshop(path, chosen(FROZEN))
    return Checkpoints(path / "checkpoints")


SPOILERS = {
    "flipped": lambda data: data[:-9] + bytes([data[-9] ^ 4]) + data[-8:],
    "cut": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "foreign": lambda data: b"PK\x03\x04 something else",
}


@pytest.mark.parametrize("spoiler", SPOILERS)
def test_the_one_before_is_used(tmp_path, workshop, monkeypatch, spoiler):
    expected = fingerprint(workshop(tmp_path / "undisturbed", chosen(FROZEN)).solution)
    last, *_ = interrupted(tmp_path / "run", workshop, monkeypatch).paths()
    last.write_bytes(SPOILERS[spoiler](last.read_bytes()))
    warnings = []
    ended = workshop(tmp_path / "run", chosen(FROZEN), warnings.append)
    assert len(warnings) == 1 and last.name in warnings[0]
    assert last.with_suffix(".damaged").exists()
    assert fingerprint(ended.solution) == expected


def test_where_none_is_good_nothing_is_computed(tmp_path, workshop, monkeypatch):
    paths = interrupted(tmp_path / "run", workshop, monkeypatch).paths()
    for path in paths:
        path.write_bytes(b"")
    for _ in range(2):
        with pytest.raises(
            CheckpointError, match=r"No checkpoint in .* is whole .*\(3 looked at\)"
        ) as error:
            workshop(tmp_path / "run", chosen(FROZEN))
        assert error.value.exit_code == 4
    assert all(path.exists() for path in paths)


def test_changed_options_are_noticed(tmp_path, workshop, monkeypatch):
    interrupted(tmp_path / "run", workshop, monkeypatch)
    options = tmp_path / "run" / "options.toml"
    options.write_text(options.read_text().replace("seed = 0", "seed = 1"))
    with pytest.raises(CheckpointError, match="belong to other options") as error:
        workshop(tmp_path / "run", chosen(FROZEN))
    assert error.value.exit_code == 4


@pytest.mark.parametrize("what", ["threads", "versions"])
def test_other_threads_or_versions_are_said(tmp_path, workshop, monkeypatch, what):
    expected = fingerprint(workshop(tmp_path / "undisturbed", chosen(FROZEN)).solution)
    interrupted(tmp_path / "run", workshop, monkeypatch)
    monkeypatch.setattr(directory, what, lambda: getattr(provenance, what)() | {"jax": "17"})
    warnings = []
    ended = workshop(tmp_path / "run", chosen(FROZEN), warnings.append)
    assert len(warnings) == 1 and "→ 17" in warnings[0] and "last digits" in warnings[0]
    assert fingerprint(ended.solution) == expected  # nothing else has changed here
