"""Reference values of the Burgers problem: how the packaged file is read, and how it was made.

    python -m tengbc.problems.burgers_data SOURCE [TARGET]

SOURCE is an .npz file with times `t`, values `u[k, i, j]` at x₁ = iπ/128, x₂ = 2πj/256, and a text
`method` that says how they were computed (`make_burgers_reference` writes it). Two
symmetries of the solution make the packaged file a quarter of a full grid: u is π-periodic in x₁
and odd, u(−x) = −u(x). Values are rounded to multiples of 2⁻³⁶ ≈ 1.5·10⁻¹¹, which is what makes
them compressible and far below the accuracy of the reference itself, about 10⁻⁸.
"""

import argparse
import functools
import hashlib
from importlib import resources
from pathlib import Path

import numpy as np
from jaxtyping import Float

from tengbc.errors import OutputError, UsageError
from tengbc.reference import Reference

ROUNDING = 2.0**-36
SYMMETRY_TOLERANCE = 1e-13


@functools.cache
def load() -> Reference:
    """The packaged reference on the full grid of 256 × 256 points of [0, 2π)²."""
    with (resources.files("tengbc.problems") / "data" / "burgers.npz").open("rb") as file:
        data = np.load(file, allow_pickle=False)
        times, half, source = data["t"], data["u"], str(data["source"])
    period = unfold(half)
    axis = np.arange(256) * (2 * np.pi / 256)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    samples = np.concatenate([period, period], axis=1).reshape(times.size, -1)
    for array in (times, points, samples):
        array.setflags(write=False)  # shared by everyone who loads it
    return Reference(times=times, points=points, samples=samples, source=source)


def fold(u: Float[np.ndarray, "k 128 256"]) -> Float[np.ndarray, "k 65 256"]:
    """The rows x₁ ∈ [0, π/2] of one period x₁ ∈ [0, π); raises if oddness does not hold."""
    defect = float(np.abs(u + _reflect(u)).max())
    if not defect <= SYMMETRY_TOLERANCE:
        raise UsageError(
            f"The values break u(−x) = −u(x) by {defect:.1e}, more than {SYMMETRY_TOLERANCE:g}; "
            f"fold only a solution of the Burgers problem."
        )
    return u[:, :65]


def unfold(half: Float[np.ndarray, "k 65 256"]) -> Float[np.ndarray, "k 128 256"]:
    """One period x₁ ∈ [0, π) from its first half: the inverse of `fold`."""
    padded = np.concatenate([half, np.zeros_like(half[:, :63])], axis=1)
    return np.concatenate([half, -_reflect(padded)[:, 65:]], axis=1)


def _reflect(u: Float[np.ndarray, "k 128 256"]) -> Float[np.ndarray, "k 128 256"]:
    """u(−x) on a periodic grid: index i becomes −i."""
    return np.roll(u[:, ::-1, ::-1], 1, axis=(1, 2))


def write(source: Path, target: Path) -> None:
    """Fold, round and pack a source file, with its origin beside the numbers."""
    try:
        content = source.read_bytes()
        with np.load(source, allow_pickle=False) as data:
            times, u, method = data["t"], data["u"], str(data["method"])
        digest = hashlib.sha256(content).hexdigest()
        np.savez_compressed(
            target,
            t=times,
            u=np.round(fold(u) / ROUNDING) * ROUNDING,
            source=np.array(
                f"{method}; values rounded to multiples of 2^-36; made from {source.name}, "
                f"SHA-256 {digest}"
            ),
        )
    except (OSError, KeyError) as error:
        raise OutputError(
            f"The reference could not be made from {source} ({error}); "
            f"give an .npz file with arrays t, u and method, and a target that can be written."
        ) from error


def main() -> None:
    """Command line: SOURCE, and optionally where to write."""
    parser = argparse.ArgumentParser(description="Pack the Burgers reference values.")
    parser.add_argument("source", type=Path)
    default = Path(__file__).parent / "data" / "burgers.npz"
    parser.add_argument("target", type=Path, nargs="?", default=default)
    arguments = parser.parse_args()
    write(arguments.source, arguments.target)


if __name__ == "__main__":
    main()
