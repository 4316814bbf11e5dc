"""Values, slopes and bends of frozen features: with them an equation costs products, not programs.

An equation of second order asks at a point for u, ∇u and D²u alone. With the features' own values,
gradients and second derivatives as arrays, those of u are products with the head, and so are the
matrices of the equation's derivative at any state.
"""

from __future__ import annotations

import jax
import numpy as np
from jaxtyping import Float

from tengbc.fourier.local_rates import local_rate
from tengbc.networks import Parameters
from tengbc.problem import Problem

Array = np.ndarray


class Jets:
    """The 2-jets of features at points, for networks of one architecture."""

    def __init__(self, problem: Problem, parameters: Parameters, x: Float[Array, "n d"]):
        self.problem, self.parameters = problem, parameters
        self._compile()
        self.place(parameters.start, x)
        # Multistep schemes ask for several states while they start and for one later on: that
        # program is compiled here too, not in the middle of a march.
        self.rates(parameters.start[None, parameters.head], np.zeros(1))

    def _compile(self) -> None:
        rate, points = local_rate(self.problem.equation), (0, 0, 0, 0, None)
        times = (0, 0, 0, None, 0)
        self._rates = jax.jit(jax.vmap(jax.vmap(rate, points), times))
        self._derivatives = jax.jit(jax.vmap(jax.jacfwd(rate, (0, 1, 2)), points))

        def features(theta, x):
            body = self.parameters.network(theta).body
            slope = jax.jacfwd(body)
            return body(x), slope(x), jax.jacfwd(slope)(x)

        def at_points(theta, x):
            return jax.lax.map(lambda point: features(theta, point), x, batch_size=256)

        self._features = jax.jit(at_points)

    def place(self, theta: Float[Array, " p"], x: Float[Array, "n d"]) -> None:
        """Take the features of θ at points x."""
        self.x = x
        with jax.enable_x64(True):
            self._parts = tuple(np.asarray(part) for part in self._features(theta, x))

    def values(self) -> Float[Array, "n m c"]:
        """∂u/∂head at the points: Φ, once for each component."""
        m, features = self.problem.components or 1, self._parts[0]
        each = np.einsum("ij,nk->nijk", np.eye(m), features).reshape(len(features), m, -1)
        return np.concatenate([each, np.broadcast_to(np.eye(m), (len(features), m, m))], axis=2)

    def rates(self, heads: Float[Array, "s c"], times: Float[Array, " s"]) -> Float[Array, "s n m"]:
        """L(u) at the points, for several heads, each at its time."""
        with jax.enable_x64(True):
            found = self._rates(*self._fields(heads), self.x, np.asarray(times, dtype=np.float64))
            return np.asarray(found).reshape(len(heads), len(self.x), -1)

    def matrix(self, head: Float[Array, " c"], t: float) -> Float[Array, "n m c"]:
        """∂L(u)/∂head at the points."""
        m = self.problem.components or 1
        fields = [field[0] for field in self._fields(head[None])]
        with jax.enable_x64(True):
            found = [np.asarray(part) for part in self._derivatives(*fields, self.x, t)]
        n, dim = self.x.shape
        value, slope, bend = (
            part.reshape(n, m, m, *tail)
            for part, tail in zip(found, ((), (dim,), (dim, dim)), strict=True)
        )
        features, slopes, bends = self._parts
        weights = (
            np.einsum("nij,nk->nijk", value, features)
            + np.einsum("nijd,nkd->nijk", slope, slopes)
            + np.einsum("nijde,nkde->nijk", bend, bends)
        )
        return np.concatenate([weights.reshape(n, m, -1), value], axis=2)

    def _fields(self, heads: Float[Array, "s c"]) -> list[Array]:
        """u, ∇u and D²u of several heads, (s, n, …)."""
        m, width = self.problem.components or 1, self._parts[0].shape[1]
        weight = heads[:, : m * width].reshape(len(heads), m, width)
        bias = heads[:, m * width :]
        result = []
        for order, part in enumerate(self._parts):
            field = np.tensordot(weight, part, axes=(2, 1))  # (s, m, n, …)
            if not order:
                field += bias[:, :, None]
            field = np.moveaxis(field, 1, 2)
            result.append(field if self.problem.shape else field[:, :, 0])
        return result
