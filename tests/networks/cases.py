"""One table of networks, each with parameters that are not special."""

import jax.numpy as jnp
import numpy as np

from tengbc.geometry import AnnularSector, Ball, Box, Disk, Interval, PeriodicBox, Rectangle
from tengbc.networks import Basis, Dense, DenseLayers, GradedAxes, Parameters, mlp, random_features
from tengbc.networks.adapt import graded_axis
from tengbc.networks.network import with_head
from tengbc.networks.waves import graded_network


def monomials(x):
    return jnp.stack([x[0], x[0] * x[1], x[1] ** 2, jnp.sin(x[0] + 2 * x[1])])


AXIS = graded_axis(np.linspace(-1, 1, 50), 0.3 + np.linspace(-0.4, 0.6, 50) ** 2)
AXES = GradedAxes((AXIS, graded_axis(np.linspace(0, 1, 50), np.full(50, 0.3))))
WAVES = Dense(np.arange(10.0).reshape(5, 2) - 4, np.arange(5.0))
NETWORKS = {
    "tanh-deep": mlp(Disk(), widths=(5,) * 7),
    "tanh-uneven": mlp(Rectangle(), widths=(5, 3, 9)),
    "tanh-one-neuron": mlp(Interval(0.0, 2.0), widths=(1,)),
    "sin-interval": mlp(Interval(-1.0, 3.0), widths=(6, 4), activation="sin"),
    "gaussian-ball": mlp(Ball(), widths=(6, 7), activation="gaussian"),
    "softplus-4d": mlp(Box((0, 0, 0, 0), (1, 0.5, 2, 1)), widths=(7, 5), activation="softplus"),
    "swish-system": mlp(AnnularSector(0.5, 1.0, 0.0, 1.0), 3, widths=(6, 4), activation="swish"),
    "system-of-1": mlp(Disk(), 1, widths=(6, 4)),
    "periodic-1d": mlp(PeriodicBox([0], [3.0]), widths=(6, 5), embedding_size=4),
    "periodic-system": mlp(PeriodicBox((0, -1), (2, 1)), 2, widths=(6,), embedding_size=3),
    "random-features": random_features(Disk(), 30),
    "graded-waves": graded_network(Interval(-1.0, 1.0), AXIS, 8, 0, 1),
    "graded-system": graded_network(Interval(-1.0, 1.0), AXIS, 7, 2, 1),
    "graded-axes": with_head(DenseLayers(AXES, (WAVES,), "sin"), 0),
    "basis": with_head(Basis(monomials, 2), 0),
    "basis-system": with_head(Basis(monomials, 2), 3),
}


def dim(name: str) -> int:
    body = NETWORKS[name].body
    if isinstance(body, Basis):
        return body.dim
    embedding = body.embedding
    if isinstance(embedding, GradedAxes):
        return len(embedding.axes)
    return body.layers[0].weight.shape[1] if embedding is None else len(embedding.period)


def some_theta(parameters: Parameters, seed: int = 3) -> np.ndarray:
    """The network's own body, shaken, and a random head in place of the zero one."""
    rng = np.random.default_rng(seed)
    theta = parameters.start + 0.1 * rng.normal(size=len(parameters))
    theta[parameters.head] = rng.normal(size=theta[parameters.head].size)
    return theta
