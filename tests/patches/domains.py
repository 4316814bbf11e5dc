"""Domains of one and two dimensions, moved and turned so that nothing falls on a grid by chance."""

import numpy as np

import tengbc as tb

L_SHAPE = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]


def turned(vertices, angle, offset=(0.0, 0.0)):
    c, s = np.cos(angle), np.sin(angle)
    return [(c * x - s * y + offset[0], s * x + c * y + offset[1]) for x, y in vertices]


DOMAINS = {
    "interval": tb.Interval(-0.3, 1.7),
    "rectangle": tb.Rectangle((0.1, -0.2), (2.2, 0.7)),
    "disk": tb.Disk(),
    "disk-moved": tb.Disk(0.7, (np.pi, -2.1)),
    "annulus": tb.Annulus(0.25, 1.0),
    "annulus-thin": tb.Annulus(0.91, 1.0, (0.3, 0.01)),
    "sector": tb.AnnularSector(0.25, 1.0, 0.0, np.pi / 2),
    "sector-reflex": tb.AnnularSector(0.5, 1.2, 1.0, 6.5, center=(1, 2)),
    "l-shape": tb.Polygon(L_SHAPE),
    "l-shape-turned": tb.Polygon(turned(L_SHAPE, 0.3, (0.123, -4.56))),
    "triangle": tb.Polygon([(0, 0), (0.3, 1.1), (1.4, 0.2)]),
    "straight-hole": tb.Polygon(
        [(-1, -1), (1, -1), (1, 1), (-1, 1)], holes=[[(-0.5, -0.5), (0, -0.5), (-0.25, 0.25)]]
    ),
    "round-hole": tb.Polygon(
        [(-1, -1), (1, -1), (1, 1), (-1, 1)], holes=[tb.Disk(0.6, (0.2, -0.13))]
    ),
    "holes": tb.Polygon(
        [(0, 0), (4, 0), (4.5, 3), (1, 2.5)],
        holes=[tb.Disk(0.3, (1.5, 1)), [(2, 0.5), (2.5, 0.5), (2.2, 1)]],
    ),
    "holes-turned": tb.Polygon(
        turned([(0, 0), (2, 0), (2, 2), (0, 2)], 0.7, (10.1, 3.3)),
        holes=[
            tb.Disk(0.4, (9.9, 4.6)),
            turned([(0.3, 0.1), (0.7, 0.1), (0.5, 0.5)], 0.7, (10.1, 3.3)),
        ],
    ),
}
