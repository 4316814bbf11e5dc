"""Problems of several materials and nonlinear ones, stated as a user would state them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

import tengbc as tb

SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
"""Times at which errors are taken, in units of t_end."""


@dataclass(frozen=True)
class Local:
    """A problem by name; `bars` are the seconds it may take, by relative tolerance."""

    name: str
    about: str
    build: Callable[[], tb.Problem]
    bars: dict[float, float]

    def times(self) -> np.ndarray:
        """The times at which errors are taken."""
        end = self.build().t_end
        assert end is not None
        return end * np.array(SHARES)


def composite() -> tb.Problem:
    """A disk of κ = 10 in a square of κ = 1, heat generated inside."""
    domain = tb.Rectangle().with_regions(core=tb.Disk(0.3, (0.5, 0.5)))
    return tb.Problem(
        domain=domain,
        equation=tb.Diffusion({"core": 10.0, "rest": 1.0}) + tb.Source({"core": 5.0}),
        conditions=dict.fromkeys(domain.segments, tb.Dirichlet(0.0)),
        initial=0.0,
        name="composite",
        t_end=0.1,
    )


LAYERS = ((0.0, 1.0, 0.6), (1.0, 1.5, 0.05), (1.5, 1.7, 0.3))
"""From, to and κ of brick, insulation and board."""
CONTACT = 0.2
"""The resistance between two of them."""
ROOM, AIR, WAVE = 2.0, 5.0, np.pi
"""κ∂ₙu = ROOM·κ₁·(v − u) on the left and AIR·κ₃·(−u) on the right; the wave along the wall."""


def wall_laws() -> dict:
    """Equation and interfaces of the wall."""
    names = ("brick", "insulation", "board")
    contact = tb.Contact(resistance=CONTACT)
    kappas = dict(zip(names, (kappa for _, _, kappa in LAYERS), strict=True))
    return {
        "equation": tb.Diffusion(kappas),
        "interfaces": {"brick|insulation": contact, "insulation|board": contact},
        "initial": 0.0,
        "t_end": 1.0,
    }


def layered_wall() -> tb.Problem:
    """Three layers with contact resistance, suddenly a warm room on one side."""
    brick, insulation, board = (tb.Interval(a, b) for a, b, _ in LAYERS)
    return tb.Problem(
        domain=tb.Interval(0.0, 1.7).with_regions(brick=brick, insulation=insulation, board=board),
        conditions={"left": tb.Robin(ROOM, 1.0, ROOM), "right": tb.Robin(AIR, 1.0, 0.0)},
        name="layered-wall",
        **wall_laws(),
    )


def layered_wall_plane() -> tb.Problem:
    """The same in the plane, the room warmer in places."""
    brick, insulation, board = (tb.Rectangle((a, 0.0), (b, 1.0)) for a, b, _ in LAYERS)
    warm = lambda x, t: ROOM * (1 + 0.5 * jnp.cos(WAVE * x[1]))
    return tb.Problem(
        domain=tb.Rectangle((0.0, 0.0), (1.7, 1.0)).with_regions(
            brick=brick, insulation=insulation, board=board
        ),
        conditions={
            "left": tb.Robin(ROOM, 1.0, warm),
            "right": tb.Robin(AIR, 1.0, 0.0),
            "bottom": tb.Neumann(0.0),
            "top": tb.Neumann(0.0),
        },
        name="layered-wall-plane",
        **wall_laws(),
    )


def radiating() -> tb.Problem:
    """κ(u) = 1 + u, a source that moves along, one edge that radiates."""

    def source(x, t):
        centre = jnp.stack([0.2 + 0.6 * t, 0.5 + 0.2 * jnp.sin(2 * jnp.pi * t)])
        return 20 * jnp.exp(-jnp.sum((x - centre) ** 2) / (2 * 0.1**2))

    def radiates(u, x, normal, t):
        return (1 + u(x)) * tb.normal_derivative(u)(x, normal) + u(x) ** 4

    return tb.Problem(
        domain=tb.Rectangle(),
        equation=tb.Diffusion(lambda u: 1 + u) + tb.Source(source),
        conditions={
            "left": tb.Neumann(0.0),
            "right": radiates,
            "bottom": tb.Neumann(0.0),
            "top": tb.Dirichlet(0.5),
        },
        initial=0.5,
        name="radiating",
        t_end=1.0,
    )


def burgers_hole() -> tb.Problem:
    """A front of Burgers' equation, ν = 0.01, that crosses a square with a hole."""
    front = lambda x: 0.5 * (1 - jnp.tanh((x[0] + x[1] - 0.3) / 0.08))
    domain = tb.Polygon(
        [(0, 0), (1, 0), (1, 1), (0, 1)],
        holes=[tb.Disk(0.12, (0.5, 0.5))],
        names=["bottom", "right", "top", "left"],
    )
    closed = tb.Neumann(0.0)
    return tb.Problem(
        domain=domain,
        equation=tb.Burgers(0.01),
        conditions=dict.fromkeys(domain.segments, closed),
        initial=front,
        name="burgers-hole",
        t_end=1.0,
    )


PROBLEMS = {
    each.name: each
    for each in (
        Local("composite", "a disk of κ = 10, heated", composite, {1e-2: 1.0, 1e-4: 3.0}),
        Local("layered-wall", "contact, 1-D", layered_wall, {1e-2: 0.5, 1e-4: 2.0}),
        Local("layered-wall-plane", "contact, 2-D", layered_wall_plane, {1e-2: 0.5, 1e-4: 2.0}),
        Local("radiating", "κ(u), u⁴, moving source", radiating, {1e-2: 3.0, 1e-4: 20.0}),
        Local("burgers-hole", "a front past a hole", burgers_hole, {1e-2: 10.0, 1e-4: 60.0}),
    )
}
