"""Integrals of fields that jump against closed forms, and how often the field is looked at."""

import itertools
import math

import numpy as np
import pytest

import tengbc as tb
from tengbc.geometry import quadrature
from tengbc.patches.cells import Grid
from tengbc.patches.cutting import CutCells
from tengbc.patches.patches import Patches
from tests.patches.domains import DOMAINS
from tests.patches.test_cutting import at_level

SQUARE = tb.Rectangle((0.0, 0.0), (1.0, 1.0))
TOLERANCES = (1e-2, 1e-4, 1e-7)
POWERS = [(0, 0), (1, 0), (0, 1), (2, 1), (1, 2), (0, 3)]
CENTRE, RADIUS = np.array([0.37, 0.41]), 0.3


class Counted:
    """A field that counts the points at which it is asked."""

    def __init__(self, field):
        self.field, self.points = field, 0

    def __call__(self, x):
        self.points += len(x)
        return self.field(x)


def patches_over(domain, level=2, degree=5):
    cut = CutCells(domain, Grid.over(*map(np.asarray, domain.bounds)))
    cells = [cell for cell in at_level(cut.grid, level) if cut.kind(cell) != "outside"]
    return Patches(cut, dict.fromkeys(cells, degree))


def heads(patches, field, tolerance, largest=(1.0,)):
    every = range(len(patches))
    return dict(patches.projected(field, every, tolerance, 1.0, np.array(largest)))


def moments(patches, found):
    """∫ x^p of a projected field: that of the field itself, as x^p is among the features."""
    total = 0.0
    for batch in patches.batches:
        values, _ = patches.features(batch.members, batch.x, slopes=False)
        head = np.stack([found[int(k)] for k in batch.members])
        weighted = batch.w[..., None] * (values @ head)
        powers = np.array([p[: batch.x.shape[2]] for p in POWERS])
        total += np.einsum("bqm,bqp->pm", weighted, np.prod(batch.x[:, :, None] ** powers, axis=-1))
    return np.asarray(total)


def of_disk(centre, radius):
    """∫ x^a y^b over a disk: Σ binomials · ∫ r^(i+j+1) dr ∫ cos^i sin^j dφ."""
    found = []
    for a, b in POWERS:
        total = 0.0
        for i in range(0, a + 1, 2):
            for j in range(0, b + 1, 2):
                turn = 2 * math.gamma((i + 1) / 2) * math.gamma((j + 1) / 2)
                turn /= math.gamma((i + j) / 2 + 1)
                shift = math.comb(a, i) * math.comb(b, j) * centre[0] ** (a - i)
                shift *= centre[1] ** (b - j)
                total += shift * turn * radius ** (i + j + 2) / (i + j + 2)
        found.append(total)
    return np.array(found)


def of_triangles(corners):
    """∫ x^a y^b over a convex polygon: triangles from its first corner, by an exact rule."""
    u, w = quadrature.triangle(6)
    total, corners = 0.0, np.array(corners, dtype=float)
    for second, third in itertools.pairwise(corners[1:]):
        edges = np.stack([second - corners[0], third - corners[0]])
        x = corners[0] + u @ edges
        values = np.prod(x[:, None] ** np.array(POWERS), axis=-1)
        total += abs(np.linalg.det(edges)) / 2 * (w @ values)
    return np.asarray(total)


def disk(x):
    return (np.sum((x - CENTRE) ** 2, axis=1) < RADIUS**2) * 1.0


HALVES = {  # a·x < c, and the corners of what that leaves of the square
    "steep": ((1.0, 0.37), 0.6, [(0, 0), (0.6, 0), (0.23, 1), (0, 1)]),
    "flat": ((0.2, 1.0), 0.55, [(0, 0), (1, 0), (1, 0.35), (0, 0.55)]),
    "corner": ((1.0, 1.3), 0.4, [(0, 0), (0.4, 0), (0, 0.4 / 1.3)]),
    "diagonal": ((1.0, -1.0), 0.0, [(0, 0), (1, 1), (0, 1)]),
    "side": ((1.0, 0.0), 0.5, [(0, 0), (0.5, 0), (0.5, 1), (0, 1)]),
    "near a side": ((1.0, 0.0), 0.50001, [(0, 0), (0.50001, 0), (0.50001, 1), (0, 1)]),
}


@pytest.mark.parametrize("tolerance", TOLERANCES)
@pytest.mark.parametrize("name", HALVES)
def test_a_half_plane(name, tolerance):
    slope, height, corners = HALVES[name]
    field = Counted(lambda x: (x @ np.array(slope) < height) * 1.0)
    patches = patches_over(SQUARE)
    found = moments(patches, heads(patches, field, tolerance))[:, 0]
    np.testing.assert_allclose(found, of_triangles(corners), rtol=0, atol=0.1 * tolerance)
    assert field.points < 50_000


@pytest.mark.parametrize("tolerance", TOLERANCES)
@pytest.mark.parametrize("level", [0, 1, 3])
def test_a_disk(level, tolerance):
    field, patches = Counted(disk), patches_over(SQUARE, level)
    found = moments(patches, heads(patches, field, tolerance))[:, 0]
    np.testing.assert_allclose(found, of_disk(CENTRE, RADIUS), rtol=0, atol=0.1 * tolerance)
    assert field.points < 160_000


def test_every_head_and_not_only_their_sums():
    """∫ field·φ of each feature by a rule of many points on the part of each patch."""
    where, patches = 0.3123, patches_over(SQUARE)
    field = lambda x: np.where(x[:, 0] < where, np.exp(x[:, 1]), -2.0 + x[:, 0])
    found = heads(patches, field, 1e-8)
    for k in range(len(patches)):
        lower, upper = (patches.centre[k] + sign * patches.half[k] for sign in (-1, 1))
        middle = float(np.clip(where, lower[0], upper[0]))
        expected = 0.0
        for a, b in ((lower[0], middle), (middle, upper[0])):
            s, w = quadrature.product([quadrature.interval(24)] * 2)
            x = np.stack([a + (b - a) * s[:, 0], lower[1] + (upper - lower)[1] * s[:, 1]], axis=1)
            values, _ = patches.features(np.array([k]), x[None], slopes=False)
            expected += (b - a) * (upper - lower)[1] * (values[0].T @ (w * field(x)))
        np.testing.assert_allclose(found[k][:, 0], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("tolerance", TOLERANCES)
@pytest.mark.parametrize("level", [0, 2])
def test_a_half_plane_that_leaves_the_domain(level, tolerance):
    """∫ over the part of the unit disk with x < c of x^a y^b, by integrating y first."""
    patches, where = patches_over(DOMAINS["disk"], level), 0.3
    field = Counted(lambda x: (x[:, 0] < where) * 1.0)
    found = moments(patches, heads(patches, field, tolerance))[:, 0]
    s, w = np.polynomial.legendre.leggauss(40)
    turn = np.arccos(where) + (np.pi - np.arccos(where)) * (s + 1) / 2  # x = cos(turn)
    x, y = np.cos(turn), np.sin(turn)
    w = w * (np.pi - np.arccos(where)) / 2 * y
    lengths = [(y ** (b + 1) - (-y) ** (b + 1)) / (b + 1) for _, b in POWERS]
    expected = [w @ (x**a * length) for (a, _), length in zip(POWERS, lengths, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=0, atol=0.1 * tolerance)
    assert field.points < 250_000


def test_a_jump_beside_the_rim_of_a_hole():
    """A disk about a hole, so narrow that a cell holds both rims."""
    patches = patches_over(DOMAINS["round-hole"], 3, 4)
    centre = np.array([0.2, -0.13])
    field = lambda x: (np.linalg.norm(x - centre, axis=1) < 0.61) * 1.0
    found = moments(patches, heads(patches, field, 1e-5))[:, 0]
    expected = of_disk(centre, 0.61) - of_disk(centre, 0.6)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_what_reaches_into_a_patch_between_its_nodes():
    """The patch is not asked for, but the one beside it is."""
    patches = patches_over(SQUARE, 1, 3)
    field = lambda x: (np.sum((x - [0.25, 0.3]) ** 2, axis=1) < 0.2005**2) * 1.0
    asked = int(np.flatnonzero((patches.centre < 0.5).all(axis=1))[0])
    found = dict(patches.projected(field, [asked], 1e-5, 1.0, np.ones(1)))
    assert len(found) == 3  # without the patch across the corner
    above = patches.patch_of[next(c for c in patches.leaves if c.place == (0, 1))]
    gap = 0.5 - 0.3
    cap = 0.2005**2 * math.acos(gap / 0.2005) - gap * math.sqrt(0.2005**2 - gap**2)
    assert found[above][0, 0] * 0.5 == pytest.approx(cap, abs=1e-7)  # φ₀ = 1/√|patch|


@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_several_components_on_an_interval(tolerance):
    """Of sizes as different as can be, each with jumps of its own."""
    patches = patches_over(DOMAINS["interval"], 2, 4)
    places, small = (0.123456, 0.7, 0.7123), 1e-6
    field = Counted(
        lambda x: np.stack(
            [
                (x[:, 0] < places[0]) * 1.0,
                small * ((x[:, 0] > places[1]) & (x[:, 0] < places[2])),
                np.abs(x[:, 0] - places[0]),
            ],
            axis=1,
        )
    )
    found = moments(patches, heads(patches, field, tolerance, (1.0, small, 1.0)))
    power = lambda n, a, b: (b**n - a**n) / n
    for row, n in ((0, 1), (1, 2), (3, 3)):
        (a, c), b = (-0.3, 1.7), places[0]
        kink = power(n + 1, b, c) - power(n + 1, a, b) - b * (power(n, b, c) - power(n, a, b))
        expected = np.array([power(n, a, b), small * power(n, *places[1:]), kink])
        apart = np.abs(found[row] - expected)
        assert (apart <= 0.1 * tolerance * np.array([1.0, small, 1.0])).all()
    assert field.points < 20_000


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4])
def test_a_kink(tolerance):
    """∫ max(0, R − r) over a disk of radius R: πR³/3."""
    field, patches = Counted(lambda x: np.maximum(0.0, _from_edge(x))), patches_over(SQUARE, 3)
    found = moments(patches, heads(patches, field, tolerance, (RADIUS,)))[:, 0]
    cone = np.pi * RADIUS**3 / 3
    np.testing.assert_allclose(found[:3], [cone, *cone * CENTRE], rtol=0, atol=0.1 * tolerance)
    assert field.points < 2_000_000


def _from_edge(x):
    return RADIUS - np.linalg.norm(x - CENTRE, axis=1)


def test_small_jumps_on_a_wave():
    """A jump is seen although the field changes more than that between two looks."""
    patches = patches_over(SQUARE, 3)
    field = Counted(lambda x: 0.05 * disk(x) + np.sin(20 * x[:, 0]))
    found = moments(patches, heads(patches, field, 1e-5))[0, 0]
    wave = (1 - np.cos(20.0)) / 20
    assert found == pytest.approx(0.05 * np.pi * RADIUS**2 + wave, abs=1e-7)
    assert field.points < 2_000_000


def test_what_is_rough_everywhere_comes_to_an_end(monkeypatch):
    monkeypatch.setattr("tengbc.patches.jumps.MOST", 300_000)
    field = Counted(lambda x: np.sin(1e5 * x[:, 0] * (1 + x[:, 1])))
    found = heads(patches_over(SQUARE, 1), field, 1e-6)
    assert field.points < 3_000_000
    assert all(np.isfinite(head).all() for head in found.values())
