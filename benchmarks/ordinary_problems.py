"""Problems of everyday kind, stated as a user would state them.

Data jump at the start, domains have holes and corners, conditions change within an edge: nothing
here was chosen to suit this package. Errors count from a first time on, by which a jump has
smoothed a little.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

import tengbc as tb

SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
"""Times at which errors are taken, in units of t_end."""


@dataclass(frozen=True)
class Ordinary:
    """A problem by name; `build` states it, `about` says in a few words what makes it ordinary.

    `layers` names segments along which u is steep, and `interfaces` are circles across which
    initial values jump, for finite elements, whose users put them into the mesh.
    `jumps` says that data change at once at the start, `first` from which time errors count, in
    units of t_end.
    """

    name: str
    about: str
    build: Callable[[], tb.Problem]
    layers: tuple[str, ...] = ()
    interfaces: tuple[tb.Disk, ...] = ()
    jumps: bool = True
    first: float = SHARES[0]

    def times(self) -> np.ndarray:
        """The times at which errors are taken."""
        end = self.build().t_end
        assert end is not None
        return end * np.array([share for share in SHARES if share >= self.first])


def plate() -> tb.Problem:
    """A plate with three pipes through it, a flux through two edges."""
    pipes = [tb.Disk(0.12, (0.4, 0.5)), tb.Disk(0.15, (1.0, 0.35)), tb.Disk(0.1, (1.55, 0.65))]
    return tb.Problem(
        domain=tb.Polygon(
            [(0, 0), (2, 0), (2, 1), (0, 1)], holes=pipes, names=["bottom", "right", "top", "left"]
        ),
        equation=tb.Heat(0.3),
        conditions={
            "bottom": tb.Neumann(0.0),
            "right": tb.Neumann(-0.5),
            "top": tb.Neumann(0.0),
            "left": tb.Neumann(1.0),
            "hole0": tb.Robin(a=5.0, b=1.0, v=10.0),
            "hole1": tb.Robin(a=1.0, b=1.0, v=0.2),
            "hole2": tb.Robin(a=20.0, b=1.0, v=-10.0),
        },
        initial=0.2,
        name="plate",
        t_end=1.0,
    )


def fin() -> tb.Problem:
    """A cooling fin whose base is suddenly hot."""
    air = tb.Robin(a=5.0, b=1.0, v=0.0)
    return tb.Problem(
        domain=tb.Rectangle((0.0, 0.0), (1.0, 0.2)),
        equation=tb.Heat(0.2),
        conditions={"left": tb.Dirichlet(1.0), "right": air, "bottom": air, "top": air},
        initial=0.0,
        name="fin",
        t_end=1.0,
    )


def stream(x):
    """ψ = Y·φ/(φ + w/4), φ = 0 on the cylinder and w = 0 on the walls: a flow along both."""
    height = x[1] - 0.25
    around = (x[0] - 0.6) ** 2 + height**2 - 0.1**2
    return height * around / (around + 0.25 * (0.0625 - height**2))


def flow(x):
    """b = (∂₂ψ, −∂₁ψ), without divergence, about 1."""
    slope = jax.grad(stream)(x)
    return jnp.stack([slope[1], -slope[0]])


def channel() -> tb.Problem:
    """A pulse that a stream carries past a cylinder, at a Péclet number of 200."""

    def pulse(x, t):
        profile = 1 + 0.5 * jnp.cos(4 * jnp.pi * x[1])
        return jnp.where(t < 0.6, jnp.sin(jnp.pi * t / 0.6) ** 2, 0.0) * profile

    insulated = tb.Neumann(0.0)
    return tb.Problem(
        domain=tb.Polygon(
            [(0, 0), (2, 0), (2, 0.5), (0, 0.5)],
            holes=[tb.Disk(0.1, (0.6, 0.25))],
            names=["wall", "outflow", "wall", "inflow"],
        ),
        equation=tb.Heat(0.005) + tb.Transport(flow),
        conditions={
            "inflow": tb.Dirichlet(pulse),
            "outflow": insulated,
            "wall": insulated,
            "hole0": insulated,
        },
        initial=0.0,
        name="channel",
        t_end=1.5,
    )


def sources() -> tb.Problem:
    """Two moving sources of heat on an L-shaped plate."""

    def heat(x, t):
        one = jnp.stack([0.3 + 1.4 * t, 0.4 + 0.0 * t])
        two = jnp.stack([0.5 + 0.2 * jnp.sin(2 * jnp.pi * t), 1.7 - 1.2 * t])
        bump = lambda centre: jnp.exp(-jnp.sum((x - centre) ** 2) / (2 * 0.1**2))
        return 20 * bump(one) + 10 * bump(two)

    cold, air = tb.Dirichlet(0.0), tb.Robin(a=1.0, b=1.0, v=0.0)
    return tb.Problem(
        domain=tb.Polygon(
            [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)],
            names=["bottom", "air", "air", "air", "air", "left"],
        ),
        equation=tb.Heat(0.1) + tb.Source(heat),
        conditions={"bottom": cold, "left": cold, "air": air},
        initial=0.0,
        name="sources",
        t_end=1.0,
    )


WALL_KAPPA = 1e-4
WALL_KINKS = ((0.0, 1.0), (30.0, 1.0), (60.0, 0.2))
"""A temperature history: a jump to 1 at t = 0, then straight lines, constant after the last."""


def history(t):
    """The temperature of the wall's surface."""
    return jnp.where(t < 30.0, 1.0, jnp.where(t < 60.0, 1 - 0.8 * (t - 30.0) / 30.0, 0.2))


def wall() -> tb.Problem:
    """A thick wall whose surface has a given temperature history."""
    return tb.Problem(
        domain=tb.Interval(0.0, 1.0),
        equation=tb.Heat(WALL_KAPPA),
        conditions={"left": tb.Dirichlet(lambda x, t: history(t)), "right": tb.Neumann(0.0)},
        initial=0.0,
        name="wall",
        t_end=100.0,
    )


WAVE = 4 * np.pi
"""The wave number along the surface of the wall in the plane."""


def wall_plane() -> tb.Problem:
    """The same wall, its surface warmer in the middle."""
    surface = lambda x, t: history(t) * (1 - 0.5 * jnp.cos(WAVE * x[1]))
    insulated = tb.Neumann(0.0)
    return tb.Problem(
        domain=tb.Rectangle((0.0, 0.0), (1.0, 0.5)),
        equation=tb.Heat(WALL_KAPPA),
        conditions={
            "left": tb.Dirichlet(surface),
            "right": insulated,
            "bottom": insulated,
            "top": insulated,
        },
        initial=0.0,
        name="wall-plane",
        t_end=100.0,
    )


def room() -> tb.Problem:
    """A room with radiator, window and door."""
    domain = tb.Rectangle((0.0, 0.0), (4.0, 3.0)).with_parts(
        radiator=("left", lambda x: (x[1] > 0.5) & (x[1] < 1.5)),
        window=("right", lambda x: (x[1] > 1.0) & (x[1] < 2.0)),
        door=("bottom", lambda x: (x[0] > 2.5) & (x[0] < 3.4)),
    )
    walls = dict.fromkeys(("left", "right", "bottom", "top"), tb.Robin(a=0.2, b=1.0, v=0.0))
    return tb.Problem(
        domain=domain,
        equation=tb.Heat(0.5),
        conditions=walls
        | {
            "radiator": tb.Neumann(1.5),
            "window": tb.Robin(a=3.0, b=1.0, v=0.0),
            "door": tb.Robin(a=1.0, b=1.0, v=0.0),
        },
        initial=1.0,
        name="room",
        t_end=4.0,
    )


def pattern() -> tb.Problem:
    """Schnakenberg's reaction, whose uniform state gives way to a pattern."""

    def reaction(u):
        made = u[0] ** 2 * u[1]
        return jnp.stack([0.1 - u[0] + made, 0.9 - made])

    def uneven(x):
        ripple = jnp.cos(7 * x[0] + 1) * jnp.cos(5 * x[1]) + jnp.sin(9 * x[1] - 4 * x[0])
        return jnp.stack([1 + 0.05 * ripple, 0.9 + 0.0 * ripple])

    insulated = tb.Neumann(0.0)
    domain = tb.Polygon(
        [(0, 0), (1, 0), (1.2, 0.6), (0.5, 1.1), (-0.1, 0.7)], holes=[tb.Disk(0.15, (0.5, 0.5))]
    )
    return tb.Problem(
        domain=domain,
        equation=tb.ReactionDiffusion([0.002, 0.06], reaction),
        conditions=dict.fromkeys(domain.segments, insulated),
        initial=uneven,
        name="pattern",
        t_end=20.0,
    )


JUMP_CENTRE, JUMP_RADIUS = (0.3, 0.2), 0.4


def jump() -> tb.Problem:
    """A hot disk within a cold one, whose rim is kept cold."""
    inside = lambda x: jnp.sum((x - np.array(JUMP_CENTRE)) ** 2) < JUMP_RADIUS**2
    return tb.Problem(
        domain=tb.Disk(1.0),
        equation=tb.Heat(0.1),
        conditions={"circle": tb.Dirichlet(0.0)},
        initial=lambda x: jnp.where(inside(x), 1.0, 0.0),
        name="jump",
        t_end=1.0,
    )


def corner() -> tb.Problem:
    """A corner of 7π/4 in a heated plate with cold edges."""
    rim = [(float(np.cos(a)), float(np.sin(a))) for a in np.arange(8) * np.pi / 4]
    return tb.Problem(
        domain=tb.Polygon([(0.0, 0.0), *rim], names=["rim"] * 9),
        equation=tb.Heat(0.1) + tb.Source(1.0),
        conditions={"rim": tb.Dirichlet(0.0)},
        initial=0.0,
        name="corner",
        t_end=1.0,
    )


def mixed_edge() -> tb.Problem:
    """A heated plate, insulated but for half of one edge, which is cold."""
    return tb.Problem(
        domain=tb.Rectangle().with_parts(cold=("bottom", (0.0, 0.5))),
        equation=tb.Heat(0.3) + tb.Source(1.0),
        conditions=dict.fromkeys(("left", "right", "bottom", "top"), tb.Neumann(0.0))
        | {"cold": tb.Dirichlet(0.0)},
        initial=0.0,
        name="mixed-edge",
        t_end=1.0,
    )


LARGE = [(x, y) for x in (-4, 4) for y in (-9, -3, 3, 9)] + [(0, -6), (0, 0), (0, 6)]
SMALL = [(x, y) for x in (-3.2, 3.2) for y in (-6, 0, 6)]


def seventeen() -> tb.Problem:
    """A plate with seventeen holes, the case Heat2d-CG of PINNacle."""
    holes = [tb.Disk(1.0, c) for c in LARGE] + [tb.Disk(0.4, c) for c in SMALL]
    laws = {f"hole{i}": tb.Robin(1.0, 1.0, 5.0 if i < len(LARGE) else 1.0) for i in range(17)}
    return tb.Problem(
        domain=tb.Polygon([(-8, -12), (8, -12), (8, 12), (-8, 12)], holes, ["edge"] * 4),
        equation=tb.Heat(1.0),
        conditions={"edge": tb.Robin(1.0, 1.0, 0.1), **laws},
        initial=0.0,
        name="seventeen",
        t_end=3.0,
    )


PROBLEMS = {
    each.name: each
    for each in (
        Ordinary("plate", "three holes, three Robin laws, data jump", plate),
        Ordinary("fin", "base suddenly hot, convection elsewhere", fin),
        Ordinary("channel", "a pulse past a cylinder, Péclet 200", channel, jumps=False, first=0.2),
        Ordinary("sources", "two moving sources on an L", sources, jumps=False),
        Ordinary("wall", "a temperature history on an interval", wall, layers=("left",)),
        Ordinary("wall-plane", "the same on a rectangle", wall_plane, layers=("left",)),
        Ordinary("room", "conditions change within edges", room),
        Ordinary("pattern", "two components, nonlinear, a hole", pattern, jumps=False),
        Ordinary(
            "jump",
            "discontinuous initial values",
            jump,
            interfaces=(tb.Disk(JUMP_RADIUS, JUMP_CENTRE),),
        ),
        Ordinary("corner", "a corner of 7π/4", corner),
        Ordinary("mixed-edge", "a value meets a slope on an edge", mixed_edge),
        Ordinary("seventeen", "seventeen holes (PINNacle's Heat2d-CG)", seventeen),
    )
}
