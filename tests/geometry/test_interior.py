"""Interior points: weights, membership, counts, repeatability, evenness."""

import itertools
import time

import numpy as np
import pytest
from scipy.spatial import KDTree

from tengbc.geometry import Box, Disk, Polygon, Rectangle

SAMPLED = ["uniform", "low-discrepancy", "random"]


def depth_inside(domain, x):
    """Whether points lie a little deeper inside than the closed domain asks for."""
    return domain._inside(x, -1e-13 * domain.scale)


@pytest.mark.parametrize("rule", SAMPLED)
def test_weights_are_equal_and_sum_to_the_measure(domain, rule):
    points = domain.interior(700, rule=rule)
    assert points.x.shape == (len(points), domain.dim)
    assert points.x.dtype == points.w.dtype == np.float64
    assert np.ptp(points.w) == 0
    assert points.w.sum() == pytest.approx(domain.measure, rel=1e-12)


@pytest.mark.parametrize("order", [0, 1, 5, 12])
def test_gauss_weights_are_positive_and_sum_to_the_measure(domain, order):
    points = domain.interior(rule="gauss", order=order)
    assert (points.w > 0).all()
    assert points.w.sum() == pytest.approx(domain.measure, rel=1e-12)
    assert domain.contains(points.x).all()


@pytest.mark.parametrize("rule", SAMPLED)
def test_every_sample_lies_strictly_inside(domain, rule):
    for seed in (0, 1):
        points = domain.interior(3000, rule=rule, seed=seed)
        assert domain.contains(points.x).all()
        assert depth_inside(domain, points.x).all()


@pytest.mark.parametrize("rule", ["low-discrepancy", "random"])
def test_the_count_is_exact(domain, rule):
    for n in (1, 2, 7, 100, 1001):
        assert len(domain.interior(n, rule=rule)) == n


def test_a_uniform_grid_has_about_n_points(domain):
    relative = 0.1 if domain.dim < 3 else 0.2  # a whole number of cells on each axis
    assert len(domain.interior(5000, rule="uniform")) == pytest.approx(5000, rel=relative)


def test_a_uniform_grid_of_cells_per_axis():
    points = Rectangle((0, 0), (1, 2)).interior(rule="uniform", per_axis=4)
    assert len(points) == 16
    assert np.unique(points.x[:, 0]) == pytest.approx([0.125, 0.375, 0.625, 0.875])
    assert np.unique(points.x[:, 1]) == pytest.approx([0.25, 0.75, 1.25, 1.75])
    disk = Disk().interior(rule="uniform", per_axis=64)
    assert len(disk) == pytest.approx(64**2 * np.pi / 4, rel=0.01)


@pytest.mark.parametrize("rule", ["low-discrepancy", "random"])
def test_a_seed_repeats_and_another_seed_differs(domain, rule):
    first, again = (domain.interior(50, rule=rule, seed=3).x for _ in range(2))
    other = domain.interior(50, rule=rule, seed=4).x
    plain = domain.interior(50, rule=rule).x
    assert np.array_equal(first, again)
    for shifted in (other, plain):
        assert np.linalg.norm(first - shifted, axis=1).min() > 1e-6 * domain.scale


@pytest.mark.parametrize("seed", [0, 5])
def test_low_discrepancy_leaves_no_gap(domain, seed):
    """The largest empty ball is a small multiple of the mean spacing (|Ω|/n)^(1/d)."""
    lower, upper = domain.bounds
    if domain.measure < 0.05 * np.prod(upper - lower):
        pytest.skip("the tip of the thin triangle is narrower than the spacing")
    n = 2000
    tree = KDTree(domain.interior(n, seed=seed).x)
    anywhere = domain.interior(20_000, rule="random", seed=9).x
    gap = tree.query(anywhere)[0].max() / (domain.measure / n) ** (1 / domain.dim)
    assert gap < (2.0 if domain.dim < 4 else 2.5)


def test_low_discrepancy_integrates_better_than_random_points(domain):
    """Mean of a smooth function, against the Gauss rule."""

    def integral(points):
        value = np.cos(2 * (points.x - domain.bounds[0]).sum(axis=1))
        return np.sum(points.w * value) / domain.measure

    exact = integral(domain.interior(rule="gauss", order=30))
    if domain.periodic:  # the function is not periodic, so take the Gauss rule of a plain box
        exact = integral(Box(domain.lower, domain.upper).interior(rule="gauss", order=30))
    random = [integral(domain.interior(4000, rule="random", seed=s)) - exact for s in range(8)]
    even = [integral(domain.interior(4000, seed=s)) - exact for s in range(8)]
    assert np.linalg.norm(even) < np.linalg.norm(random) / 2
    assert np.abs(even).max() < 5e-3


@pytest.mark.parametrize("rule", SAMPLED)
def test_sampling_is_unbiased(domain, rule):
    """First and second moments agree with the Gauss rule: a map that distorts area would not."""
    accurate, sampled = domain.interior(rule="gauss", order=8), domain.interior(40_000, rule=rule)
    if domain.periodic:
        accurate = Box(domain.lower, domain.upper).interior(rule="gauss", order=8)
    for power in (1, 2):
        moments = [
            np.sum(p.w[:, None] * ((p.x - domain.bounds[0]) / domain.scale) ** power, axis=0)
            for p in (accurate, sampled)
        ]
        assert moments[1] == pytest.approx(moments[0], abs=0.02 * domain.measure)


@pytest.mark.parametrize("rule", SAMPLED)
def test_many_points_are_quick(domain, rule):
    lower, upper = domain.bounds
    if rule == "uniform" and domain.measure < 0.05 * np.prod(upper - lower):
        pytest.skip("the grid over the bounding box of a thin domain has millions of cells")
    seconds = []
    for _ in range(3):  # imports and a sweep of the garbage collector fall into one of them at most
        start = time.process_time()
        domain.interior(65_536, rule=rule)
        seconds.append(time.process_time() - start)
    assert min(seconds) < 1.0


def test_a_thin_frame_is_covered_in_proportion():
    """It fills 1.6 % of any box around it, so its points come from triangles, not by rejection."""
    outer, width = np.array([(0, 0), (1, 0), (1, 1), (0, 1)]), 0.004
    frame = Polygon(outer, holes=[0.5 + (outer - 0.5) * (1 - 2 * width)])
    points = frame.interior(4000)
    assert len(points) == 4000 and depth_inside(frame, points.x).all()
    for axis, low in itertools.product((0, 1), (True, False)):
        distance = points.x[:, axis] if low else 1 - points.x[:, axis]
        assert np.mean(distance < width) == pytest.approx(width / frame.measure, abs=0.01)


def test_low_discrepancy_stays_even_in_more_dimensions():
    """Each pair of coordinates is even too: 16 × 16 cells with about 16 points each."""
    x = Box([0] * 6, [1] * 6).interior(4096).x
    for first, second in itertools.combinations(range(6), 2):
        counts = np.histogram2d(x[:, first], x[:, second], bins=16, range=[(0, 1), (0, 1)])[0]
        assert np.std(counts) < 3  # independent points: 4
