"""Sealed files: the same content back, and no changed byte goes unnoticed."""

import json
import os

import numpy as np
import pytest
import safetensors

from tengbc.errors import CheckpointError, OutputError
from tengbc.storage.atomic import write_atomically
from tengbc.storage.checksummed import pack, unpack

FORM = "test/1"
CONTENT = {"name": 'quotes " and \\ and "sha256":"' + "0" * 64 + '"', "list": [1, 0.1, None]}
TENSORS = {"a": np.arange(6.0).reshape(2, 3), "b": np.array([1, 2]), "none": np.zeros((0, 2))}


@pytest.fixture
def data():
    return pack(FORM, CONTENT, TENSORS)


def test_what_went_in_comes_out(tmp_path, data):
    path = tmp_path / "file"
    write_atomically(path, data)
    content, tensors = unpack(path, FORM)
    assert {name: content[name] for name in CONTENT} == CONTENT
    assert set(tensors) == set(TENSORS)
    for name, array in TENSORS.items():
        np.testing.assert_array_equal(tensors[name], array)
        assert tensors[name].dtype == array.dtype
    assert pack(FORM, CONTENT, TENSORS) == data
    assert list(tmp_path.iterdir()) == [path]


def test_others_can_read_it(tmp_path, data):
    path = tmp_path / "file"
    path.write_bytes(data)
    with safetensors.safe_open(path, framework="numpy") as file:
        assert json.loads(file.metadata()["tengbc"])["form"] == FORM
        np.testing.assert_array_equal(file.get_tensor("a"), TENSORS["a"])


def test_every_changed_byte_is_noticed(tmp_path, data):
    path = tmp_path / "file"
    rng = np.random.default_rng(0)
    for place in range(len(data)):
        spoiled = bytearray(data)
        spoiled[place] ^= int(rng.integers(1, 256))
        path.write_bytes(spoiled)
        with pytest.raises(CheckpointError):
            unpack(path, FORM)


def test_every_truncation_is_noticed(tmp_path, data):
    path = tmp_path / "file"
    for size in [*range(0, len(data), 7), len(data) - 1]:
        path.write_bytes(data[:size])
        with pytest.raises(CheckpointError):
            unpack(path, FORM)
    path.write_bytes(data + b"\0")
    with pytest.raises(CheckpointError, match="its digest does not match"):
        unpack(path, FORM)


def test_foreign_files(tmp_path, data):
    path = tmp_path / "file"
    path.write_bytes(safetensors.numpy.save({"a": np.zeros(3)}))
    with pytest.raises(CheckpointError, match="not a file of tengbc's") as error:
        unpack(path, FORM)
    assert error.value.exit_code == 4
    path.write_bytes(data)
    with pytest.raises(CheckpointError, match="holds a 'test/1', but a 'test/2' is wanted"):
        unpack(path, "test/2")
    with pytest.raises(OutputError, match="No such file"):
        unpack(tmp_path / "missing", FORM)


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_failing_disk_leaves_the_old_file(tmp_path, monkeypatch, failing):
    path = tmp_path / "file"
    write_atomically(path, b"old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(OutputError, match="No space left on device"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
