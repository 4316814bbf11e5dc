"""A hot plate that cools through its right side; kappa and h are varied by study.toml."""

import tengbc as tb


def plate(kappa=0.1, h=0.5):
    """How fast heat spreads in the plate, and how fast the right side gives it away."""
    return tb.Problem(
        domain=tb.Rectangle((0.0, 0.0), (2.0, 1.0)),
        equation=tb.Heat(kappa),
        conditions={
            "left": tb.Dirichlet(0.0),
            "right": tb.Robin(a=h, b=kappa, v=0.0),  # h·u + κ·∂ₙu = 0
            "bottom": tb.Neumann(0.0),
            "top": tb.Neumann(0.0),
        },
        initial=lambda x: (x[0] * (2 - x[0])) ** 2,
        t_end=1.0,
        rtol=1e-3,
    )
