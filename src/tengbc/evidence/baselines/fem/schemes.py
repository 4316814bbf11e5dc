"""Time stepping for M u' = f(t) − K u + N(u), methods as data.

Each stage solves (M + γΔt K) U = …, with one γ, so one factorisation serves the whole march. The
last stage is the new state. `explicit` treats N(u); without it a scheme is for linear problems. If
N(u) has `weights` that differ from the last stage's, a solve with M ends the step.
"""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from tengbc.errors import UsageError

Array = np.ndarray
ROOT = np.sqrt(2.0)


@dataclass(frozen=True, eq=False)
class FemScheme:
    """Runge–Kutta coefficients, the first stage being the old state; checks itself."""

    name: str
    order: int
    implicit: Float[Array, "s s"]
    explicit: Float[Array, "s s"] | None = None
    weights: Float[Array, " s"] | None = None
    nodes: Float[Array, " s"] = field(init=False)
    gamma: float = field(init=False)

    def __post_init__(self):
        a = self.implicit
        object.__setattr__(self, "nodes", a.sum(axis=1))
        object.__setattr__(self, "gamma", float(a[-1, -1]))
        assert np.allclose(np.diag(a)[1:], self.gamma) and not a[0].any(), "one γ, first stage old"
        assert not np.triu(a, 1).any() and np.isclose(a[-1].sum(), 1), "stages in order, Σb = 1"
        assert np.isclose(a[-1] @ self.nodes, 0.5), "Σbc = ½"
        if self.explicit is not None:
            b = self.explicit[-1] if self.weights is None else self.weights
            assert np.allclose(self.explicit.sum(axis=1), self.nodes), "the same stage times"
            assert not np.triu(self.explicit).any() and np.isclose(b @ self.nodes, 0.5), "Σbc = ½"


def _lower(*rows: list[float]) -> Float[Array, "s s"]:
    """A lower triangular matrix from its rows without the zeros at their ends."""
    matrix = np.zeros((len(rows), len(rows)))
    for i, row in enumerate(rows):
        matrix[i, : len(row)] = row
    return matrix


CRANK_NICOLSON = FemScheme("crank-nicolson", 2, _lower([], [1 / 2, 1 / 2]))

# The trapezoidal rule to 2 − √2 of the step, then BDF2: L-stable, and of all such pairs the one
# with a single γ.
GAMMA = 1 - ROOT / 2
TR_BDF2 = FemScheme("tr-bdf2", 2, _lower([], [GAMMA, GAMMA], [ROOT / 4, ROOT / 4, GAMMA]))

# Ascher, Ruuth & Spiteri's (2, 2, 2): L-stable for the linear part, explicit for the nonlinear one.
DELTA = 1 - 1 / (2 * GAMMA)
ARS222 = FemScheme(
    "ars222",
    2,
    _lower([], [0, GAMMA], [0, 1 - GAMMA, GAMMA]),
    _lower([], [GAMMA], [DELTA, 1 - DELTA]),
)

# Kennedy & Carpenter's ARK4(3)6L[2]SA: order four, L-stable for the linear part. Not what a
# finite-element code usually has, but the sweep for the best result may use it.
ARK4 = FemScheme(
    "ark4",
    4,
    _lower(
        [],
        [1 / 4, 1 / 4],
        [8611 / 62500, -1743 / 31250, 1 / 4],
        [5012029 / 34652500, -654441 / 2922500, 174375 / 388108, 1 / 4],
        [
            15267082809 / 155376265600,
            -71443401 / 120774400,
            730878875 / 902184768,
            2285395 / 8070912,
            1 / 4,
        ],
        [82889 / 524892, 0, 15625 / 83664, 69875 / 102672, -2260 / 8211, 1 / 4],
    ),
    _lower(
        [],
        [1 / 2],
        [13861 / 62500, 6889 / 62500],
        [
            -116923316275 / 2393684061468,
            -2731218467317 / 15368042101831,
            9408046702089 / 11113171139209,
        ],
        [
            -451086348788 / 2902428689909,
            -2682348792572 / 7519795681897,
            12662868775082 / 11960479115383,
            3355817975965 / 11060851509271,
        ],
        [
            647845179188 / 3216320057751,
            73281519250 / 8382639484533,
            552539513391 / 3454668386233,
            3354512671639 / 8306763924573,
            4040 / 17871,
        ],
    ),
    np.array([82889 / 524892, 0, 15625 / 83664, 69875 / 102672, -2260 / 8211, 1 / 4]),
)

SCHEMES = {scheme.name: scheme for scheme in (CRANK_NICOLSON, TR_BDF2, ARS222, ARK4)}


def choose_scheme(name: str | None, nonlinear: bool) -> FemScheme:
    """The scheme of that name; by default TR-BDF2, for a nonlinear problem ARS(2, 2, 2)."""
    scheme = SCHEMES.get(name or (ARS222.name if nonlinear else TR_BDF2.name))
    if scheme is None:
        raise UsageError(f"scheme is {name!r}; choose one of {', '.join(SCHEMES)}.")
    if nonlinear and scheme.explicit is None:
        raise UsageError(
            f"scheme is {name!r}, which is for linear problems; choose {ARS222.name!r}."
        )
    return scheme
