"""The divergence theorem ties interior weights, boundary weights and normals together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tengbc.geometry import AnnularSector, Ball, Box, Disk, Polygon


def flow(domain):
    """A smooth field Fᵢ = exp(bᵢ·x)·sin(aᵢ·x + i) in scaled coordinates, and its divergence."""
    generator = np.random.default_rng(7)
    a, b = generator.uniform(-1, 1, (2, domain.dim, domain.dim)) / domain.scale
    phase, origin = np.arange(domain.dim), np.mean(domain.bounds, axis=0)

    def field(x):
        x = x - origin
        return np.exp(x @ b.T) * np.sin(x @ a.T + phase)

    def divergence(x):
        x = x - origin
        angle = x @ a.T + phase
        slope = np.diag(b) * np.sin(angle) + np.diag(a) * np.cos(angle)
        return np.sum(np.exp(x @ b.T) * slope, axis=1)

    return field, divergence


def gap(domain, order):
    """∫_Ω div F − ∮ F·n, relative to ∮ |F|."""
    field, divergence = flow(domain)
    inside = domain.interior(rule="gauss", order=order)
    volume = np.sum(inside.w * divergence(inside.x))
    flux = size = 0.0
    for segment in domain.segments:
        points = domain.boundary(segment, rule="gauss", order=order)
        values = field(points.x)
        flux += np.sum(points.w * np.sum(values * points.normal, axis=1))
        size += np.sum(points.w * np.linalg.norm(values, axis=1))
    return abs(volume - flux) / size


def test_divergence_theorem(bounded):
    assert gap(bounded, order=16 if bounded.dim == 4 else 20) <= 1e-10


def test_divergence_of_a_periodic_field_integrates_to_zero(periodic):
    """The field is Fᵢ = exp(sin zᵢ)·cos(Σz), z the coordinates as angles."""
    lower, upper = periodic.bounds
    points = periodic.interior(rule="gauss", order=40)
    rate = 2 * np.pi / (upper - lower)
    z = (points.x - lower) * rate
    total = z.sum(axis=1, keepdims=True)
    divergence = np.exp(np.sin(z)) * (np.cos(z) * np.cos(total) - np.sin(total))
    terms = points.w[:, None] * divergence * rate
    assert abs(terms.sum()) <= 1e-12 * np.abs(terms).sum()


@pytest.mark.parametrize("order", [2, 3, 7, 10])
def test_gauss_is_exact_for_polynomials_of_its_order(bounded, order):
    """x₁^a·x₂^b of degree a + b = `order`, against the same rule of a higher order."""
    domain = bounded
    origin = np.mean(domain.bounds, axis=0)
    last = min(1, domain.dim - 1)

    def integrals(points):
        z = (points.x - origin) / domain.scale
        return [
            np.sum(points.w * z[:, 0] ** (order - power) * z[:, last] ** power)
            for power in range(order + 1)
        ]

    coarse = integrals(domain.interior(rule="gauss", order=order))
    fine = integrals(domain.interior(rule="gauss", order=order + 15))
    coordinates = np.abs(domain.bounds).max() / domain.scale  # rounded relative to their size
    assert coarse == pytest.approx(fine, abs=1e-13 * domain.measure * max(1, coordinates))


def test_known_integrals():
    def second_moment(domain, axis=0):
        points = domain.interior(rule="gauss", order=2)
        return np.sum(points.w * points.x[:, axis] ** 2)

    assert second_moment(Disk(2)) == pytest.approx(np.pi * 2**4 / 4, rel=1e-14)
    assert second_moment(Ball(2), 2) == pytest.approx(4 / 15 * np.pi * 2**5, rel=1e-14)
    assert second_moment(Box((0, 0), (2, 3)), 1) == pytest.approx(18, rel=1e-14)
    assert second_moment(Polygon([(0, 0), (1, 0), (0, 1)])) == pytest.approx(1 / 12, rel=1e-14)
    quarter = AnnularSector(1, 2, 0, np.pi / 2)
    assert second_moment(quarter) == pytest.approx(np.pi / 16 * (2**4 - 1), rel=1e-14)


@st.composite
def star_shaped(draw):
    """A polygon about a centre, of either orientation, with 3 to 12 vertices."""
    count = draw(st.integers(3, 12))
    number = st.floats(0.2, 1.0, allow_nan=False)
    radii = np.array(draw(st.lists(number, min_size=count, max_size=count)))
    jitter = np.array(draw(st.lists(number, min_size=count, max_size=count))) - 0.6
    angles = 2 * np.pi * (np.arange(count) + 0.5 * jitter) / count
    corners = radii[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    center = np.array([draw(st.floats(-50, 50)), draw(st.floats(-50, 50))])
    return (corners + center)[:: draw(st.sampled_from([1, -1]))], radii, angles


@given(star_shaped())
def test_any_star_shaped_polygon(case):
    corners, radii, angles = case
    polygon = Polygon(corners)
    wedges = radii * np.roll(radii, -1) * np.sin((np.roll(angles, -1) - angles) % (2 * np.pi))
    assert polygon.measure == pytest.approx(np.sum(wedges) / 2, rel=1e-11)
    assert gap(polygon, order=20) <= 1e-10
    points = polygon.interior(200)
    assert len(points) == 200 and polygon.contains(points.x).all()
    for segment in polygon.segments:
        edge = polygon.boundary(segment, 5)
        assert not polygon.contains(edge.x + 1e-7 * edge.normal).any()
        assert polygon.contains(edge.x - 1e-7 * edge.normal).all()
