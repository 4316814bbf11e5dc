"""Same seed, same network; features that fit the domain wherever it lies; refusals."""

import numpy as np
import pytest

from tengbc.errors import UsageError
from tengbc.geometry import Ball, Disk, Interval, PeriodicBox, Polygon, Rectangle
from tengbc.networks import Parameters, mlp, random_features
from tengbc.networks.layers import ACTIVATIONS, activation

TRIANGLE = np.array([(0.0, 0.0), (1.4, 0.2), (0.3, 1.1)])
MOVED = {
    "interval": lambda shift, scale: Interval(shift - scale, shift + scale),
    "rectangle": lambda shift, scale: Rectangle((shift, shift), (shift + scale, shift + 2 * scale)),
    "disk": lambda shift, scale: Disk(scale, (shift, shift)),
    "ball": lambda shift, scale: Ball(scale, (shift,) * 3),
    "polygon": lambda shift, scale: Polygon((shift + scale * TRIANGLE).tolist()),
}


@pytest.mark.parametrize(
    "build",
    [
        lambda seed: mlp(Disk(), widths=(9, 4), seed=seed),
        lambda seed: random_features(Disk(), 12, seed=seed),
        lambda seed: mlp(PeriodicBox([0], [1]), widths=(5,), seed=seed),
    ],
)
def test_the_seed_decides(build):
    one, same, other = (Parameters(build(seed)).start for seed in (4, 4, 5))
    np.testing.assert_array_equal(one, same)
    assert np.mean(one == other) < 0.5  # the heads are zero in both


@pytest.mark.parametrize("shape", MOVED)
@pytest.mark.parametrize(("shift", "scale"), [(0.0, 1e-4), (0.0, 1e5), (30.0, 1.0), (-7.0, 0.01)])
def test_features_follow_the_domain(shape, shift, scale):
    """A domain moved and scaled has the same features at the moved and scaled points."""
    here, there = MOVED[shape](0.0, 1.0), MOVED[shape](shift, scale)
    points = here.interior(20, rule="random", seed=8).x
    one, other = (mlp(domain, widths=(11, 3)).body for domain in (here, there))
    features = ridges(one, points)
    assert np.std(features, axis=0).max() > 0.05
    np.testing.assert_allclose(ridges(other, shift + scale * points), features, atol=1e-10)
    np.testing.assert_array_equal(other.layers[1].weight, one.layers[1].weight)


def ridges(body, points):
    return np.tanh(points @ body.layers[0].weight.T + body.layers[0].bias)


def test_every_ridge_passes_through_the_domain():
    """Where wᵀx + b = 0 misses the domain, a feature is as good as constant."""
    domain = Disk(0.5, (100.0, 0.0))
    layer = mlp(domain, widths=(200,)).body.layers[0]
    inside = domain.interior(4000, rule="random", seed=1).x
    heights = inside @ layer.weight.T + layer.bias
    assert np.all((heights.min(axis=0) < 0) & (heights.max(axis=0) > 0))
    # In units of the domain's half-diagonal the slopes are of size one: neither flat nor steep.
    slopes = np.linalg.norm(layer.weight, axis=1) * domain.scale
    assert 1.5 < np.sqrt(np.mean(slopes**2)) < 2.8


def test_activations_are_what_their_names_say():
    z = np.linspace(-3, 3, 25)
    formulas = {
        "tanh": np.tanh(z),
        "sin": np.sin(z),
        "gaussian": np.exp(-(z**2)),
        "softplus": np.log(1 + np.exp(z)),
        "swish": z / (1 + np.exp(-z)),
    }
    assert set(formulas) == set(ACTIVATIONS)
    for name, expected in formulas.items():
        np.testing.assert_allclose(activation(name)(z), expected, rtol=1e-14, atol=1e-15)


def test_refusals():
    with pytest.raises(UsageError, match=r"no activation 'relu'.*tanh, sin"):
        mlp(Disk(), widths=(3,), activation="relu")(np.zeros(2))
    for widths in ((), (4, 0), (-1,)):
        with pytest.raises(UsageError, match=r"widths is .*at least one neuron"):
            mlp(Disk(), widths=widths)
