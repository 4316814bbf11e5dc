"""The numbers that strategies begin with, where neither the user nor the problem says otherwise.

They stand here, and nowhere else, so that costs can be told before anything heavy is imported.
"""

from dataclasses import dataclass

DEFAULT_TOLERANCE = 1e-6
"""Relative error to reach where neither the user nor the problem names one."""


@dataclass(frozen=True)
class PaperDefaults:
    """The published method's numbers, and what it leaves open."""

    scheme: str = "heun"
    dt: float = 5e-4
    widths: tuple[int, ...] = (40,) * 7
    per_axis: int = 64
    boundary_points: int = 256
    cutoff: float = 1e-8
    """Of singular values, relative to the largest."""
    subset: int = 512
    first_subset: int = 768
    iterations: int = 5
    first_iterations: int = 7
    fit_iterations: int = 400
    fit_points: int = 1000
    """Points of the initial fit, whose cost grows with their square."""
    fit_boundary_points: int = 128
    fit_subset: int = 2500
    """Parameters of one of its steps: more than points, so that each could fit them all."""


@dataclass(frozen=True)
class FeatureDefaults:
    """What strategies with one global basis begin with."""

    scheme: str = "radau9"
    most_features: int = 2000
    """Features that are chosen at most without being asked for."""
    companion_features: float = 1.2
    """Features of the companion per feature of the answer: it has other features anyway, and time
    goes with the cube of their number."""
    oversampling: float = 2.4
    """Interior points per feature."""
    system_oversampling: float = 5.0
    """The same for systems. Waves do not decay, so nothing damps what grows between too few points:
    on a square with rigid walls, 180 features and t = 1 the error is 9·10⁻⁵ with 2.4 and 2·10⁻⁹
    with 5."""

    def features(self, digits: float, dim: int) -> float:
        """Features that a smooth solution needs for a number of digits."""
        return {1: 8 * digits, 2: 5 * digits**2, 3: 2.5 * digits**3}.get(dim, 100 * digits**2)

    def steps(self, digits: float) -> int:
        """Steps that a smooth solution needs for a number of digits."""
        return max(16, round(digits**2))


PAPER = PaperDefaults()
FEATURES = FeatureDefaults()
