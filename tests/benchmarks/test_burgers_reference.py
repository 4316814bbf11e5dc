"""The packaged reference values of the Burgers problem: folded, rounded and made again."""

import sys

import numpy as np
import pytest

from benchmarks import burgers_reference
from tengbc import problems
from tengbc.errors import OutputError, UsageError
from tengbc.problems.burgers import reference, unfold


def test_folding_and_unfolding_are_inverse():
    x1, x2 = np.meshgrid(np.arange(128) * np.pi / 128, np.arange(256) * np.pi / 128, indexing="ij")
    odd = (np.sin(2 * x1 + x2) + np.sin(4 * x1 - 3 * x2))[None]
    np.testing.assert_allclose(unfold(burgers_reference.fold(odd)), odd, atol=1e-13)
    with pytest.raises(UsageError, match="break u"):
        burgers_reference.fold(odd + 1e-6 * np.cos(x2))


def test_the_file_can_be_made_again(tmp_path, monkeypatch):
    source, target = tmp_path / "source.npz", tmp_path / "target.npz"
    known = reference()
    u = known.samples.reshape(-1, 256, 256)[:, :128]
    np.savez(source, t=known.times, u=u, method=np.array("Fourier"))
    monkeypatch.setattr(sys, "argv", ["burgers_reference", str(source), str(target)])
    burgers_reference.main()
    packaged = burgers_reference.PACKAGED
    with np.load(target, allow_pickle=False) as made, np.load(packaged, allow_pickle=False) as ours:
        np.testing.assert_array_equal(made["u"], ours["u"])
        np.testing.assert_array_equal(made["t"], ours["t"])
        assert str(made["source"]).startswith("Fourier; ") and "SHA-256" in str(made["source"])
    assert packaged.stat().st_size < 1.2e6
    with pytest.raises(OutputError, match="could not be made"):
        burgers_reference.write(tmp_path / "missing.npz", target)


def test_the_reference_is_extrapolated_in_time_and_packed(tmp_path, monkeypatch):
    """Solutions with large steps: half the step has a sixteenth of the error, both have less."""
    compute = burgers_reference.compute
    small = lambda until, **given: compute(until, first=256, **{**given, "most": 256})
    monkeypatch.setattr(burgers_reference, "compute", small)
    monkeypatch.setattr(burgers_reference, "DT", 0.025)
    target = tmp_path / "packed.npz"
    line = ["make", str(tmp_path), str(target), "--until", "0.25", "--workers", "1"]
    monkeypatch.setattr("sys.argv", line)
    burgers_reference.main()
    expected = problems.get("burgers").reference.values_at(0.25).reshape(256, 256)[:128]

    def error(name):
        with np.load(tmp_path / name, allow_pickle=False) as data:
            return np.linalg.norm(data["u"][-1] - expected) / np.linalg.norm(expected)

    coarse, fine, both = map(error, ("dt-0.05.npz", "dt-0.025.npz", "reference.npz"))
    assert 13 < coarse / fine < 19
    assert both < fine / 5
    with np.load(target, allow_pickle=False) as packed:
        assert "extrapolated" in str(packed["source"]) and "0.025" in str(packed["source"])
    made = (tmp_path / "dt-0.05.npz").stat().st_mtime_ns
    burgers_reference.main()  # what is there is not computed again
    assert (tmp_path / "dt-0.05.npz").stat().st_mtime_ns == made
    monkeypatch.setattr("sys.argv", [*line[:4], "0.5", *line[5:]])
    with pytest.raises(UsageError, match="made with other options"):
        burgers_reference.main()
