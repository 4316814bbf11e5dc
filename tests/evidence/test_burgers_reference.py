"""The packaged reference values of the Burgers problem: folded, rounded and made again."""

import sys

import numpy as np
import pytest

from tengbc.errors import OutputError, UsageError
from tengbc.evidence import burgers_reference
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
