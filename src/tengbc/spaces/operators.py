"""Equation and conditions on features at points, as matrices, sources and boundary data.

What is known of an operator without looking at u (is it affine, does its matrix move in time, does
its source) is found here, and so is everything that is compiled for it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from tengbc.equations.local import local_rate, needed_derivatives
from tengbc.errors import UsageError
from tengbc.geometry.points import BoundaryPoints, Points
from tengbc.networks import Network, Parameters
from tengbc.pointwise import check_condition, check_finite
from tengbc.problem import Problem
from tengbc.projection.collocation import Collocation
from tengbc.structure import structure

Array = np.ndarray


@dataclass(frozen=True)
class LinearStructure:
    """What of equation and conditions is a matrix that stays, and what else stays as it is."""

    rates_are_matrix: bool
    conditions_are_matrix: bool
    affine_conditions: list[bool]
    source_is_constant: bool
    data_are_constant: bool


def linear_structure(
    problem: Problem, interior: Points, boundary: Sequence[BoundaryPoints]
) -> LinearStructure:
    """Found from the laws alone, at one point of each kind."""
    equation = structure(problem.equation.rhs, problem.shape, interior.x[0])
    conditions = [
        structure(
            problem.conditions[points.segment].residual,
            problem.shape,
            points.x[0],
            points.normal[0],
        )
        for points in boundary
    ]
    return LinearStructure(
        equation.affine and equation.constant_matrix,
        all(law.affine and law.constant_matrix for law in conditions),
        [law.affine for law in conditions],
        equation.constant_offset,
        all(law.constant_offset for law in conditions),
    )


class LinearisedOperators:
    """Matrices, sources and boundary data on the points of a collocation, by the head."""

    def __init__(self, collocation: Collocation):
        self.collocation = collocation
        self._compile(collocation)
        self._find_structure(collocation)
        self.derivatives = None if self.rates_are_matrix else _feature_derivatives(collocation)

    def _compile(self, collocation: Collocation) -> None:
        problem, network = collocation.problem, collocation.parameters.network
        shape, m = problem.shape, collocation.components
        split = collocation.parameters.head.start

        def linear_rows(law):
            """Derivatives of law(network, …) by the head, at one point."""

            def rows(theta, *arguments):
                def of_head(c):
                    whole = network(jnp.concatenate([theta[:split], c]))
                    return jnp.atleast_1d(law(whole, *arguments))

                return jax.jacrev(of_head)(theta[split:])

            return rows

        def value_and_rate(u, x, t):
            return jnp.concatenate(
                [jnp.reshape(u(x), m), jnp.reshape(problem.equation.rhs(u, x, t), m)]
            )

        def matrices(theta, x, t):
            both = jax.lax.map(
                lambda point: linear_rows(value_and_rate)(theta, point, t), x, batch_size=256
            )
            return both[:, :m], both[:, m:]

        def zero(x):
            return jnp.zeros(shape)

        self._matrices = jax.jit(matrices)
        self._source_at = problem.program(
            "source", lambda x, t: jnp.reshape(problem.equation.rhs(zero, x, t), m), (0, None)
        )
        laws = [problem.conditions[points.segment].residual for points in collocation.boundary]
        self._boundary_matrices = [
            jax.jit(jax.vmap(linear_rows(law), in_axes=(None, 0, 0, None))) for law in laws
        ]

        def data_at(segments, t):
            """−g(0) on all segments at one time."""

            def at_zero(law, x, normal):
                return -jnp.atleast_1d(law(zero, x, normal, t))

            return [
                jax.vmap(functools.partial(at_zero, law))(x, normal).ravel()
                for law, (x, normal) in zip(laws, segments, strict=True)
            ]

        segments = tuple(points.segment for points in collocation.boundary)
        self._data_at = problem.program(("data", *segments), data_at, (None, 0))

    def _find_structure(self, collocation: Collocation) -> None:
        found = linear_structure(collocation.problem, collocation.interior, collocation.boundary)
        self.rates_are_matrix = found.rates_are_matrix
        self._affine = found.affine_conditions
        self.conditions_are_matrix = found.conditions_are_matrix
        self.source_is_constant = found.source_is_constant
        self.data_are_constant = found.data_are_constant
        self._last_data: tuple[Array, Array] | None = None
        if self.rates_are_matrix and self.source_is_constant:
            self._constant_source = self._source(0.0)

    def interior_matrices(
        self, theta: Float[Array, " p"], t: float
    ) -> tuple[Float[Array, "n m c"], Float[Array, "n m c"]]:
        """Φ and ∂L(u)/∂c at time t and state θ."""
        if self.derivatives is not None:
            head = theta[self.collocation.parameters.head]
            return self.derivatives.values(), self.derivatives.matrix(head, t)
        with jax.enable_x64(True):
            values, rates = self._matrices(theta, self.collocation.interior.x, t)
        return np.asarray(values), np.asarray(rates)

    def boundary_matrices(self, theta: Float[Array, " p"], t: float) -> list[Float[Array, "_ _ c"]]:
        """∂g(u)/∂c on each segment; one that is not finite, or says nothing, is an error."""
        boundary = self.collocation.boundary
        with jax.enable_x64(True):
            blocks = [
                np.asarray(function(theta, points.x, points.normal, t))
                for function, points in zip(self._boundary_matrices, boundary, strict=True)
            ]
        for points, block, affine in zip(boundary, blocks, self._affine, strict=True):
            check_finite(
                f"The linear part of the condition on {points.segment}", block, points.x, t
            )
            if affine:
                check_condition(points.segment, block, t)
        return blocks

    def place(self, theta: Float[Array, " p"]) -> None:
        """Take the features of θ at the collocation's points, which have moved."""
        if self.derivatives is not None:
            self.derivatives.place(theta, self.collocation.interior.x)

    def source(self, t: float) -> Float[Array, " i"]:
        """L(0), what the matrix of the equation leaves out."""
        return self._constant_source if self.source_is_constant else self._source(t)

    def _source(self, t: float) -> Float[Array, " i"]:
        source = self._source_at(self.collocation.interior.x, float(t))
        check_finite("The equation's source", source, self.collocation.interior.x, t)
        return source.ravel()

    def data_at(self, t: float) -> Float[Array, " b"]:
        """d at one time."""
        if self._last_data is not None and t == self._last_data[0][-1]:
            return self._last_data[1][-1]
        return self.data(np.array([t]))[0]

    def data(self, times: Float[Array, " s"]) -> Float[Array, "s b"]:
        """d at several times, for conditions that are matrices: one call, since each has its price.

        The last answer is kept: those who watch a march ask for what its last stage asked for.
        """
        if not self.collocation.boundary:
            return np.zeros((len(times), 0))
        if self.data_are_constant:
            times = np.zeros(len(times))
        if self._last_data is None or not np.array_equal(self._last_data[0], times):
            segments = [(points.x, points.normal) for points in self.collocation.boundary]
            parts = self._data_at(segments, times)
            for points, part in zip(self.collocation.boundary, parts, strict=True):
                if not np.isfinite(part).all():
                    worst = int(np.argmax(~np.isfinite(part).all(axis=1)))
                    check_finite(
                        f"The condition on {points.segment}",
                        part[worst].reshape(len(points), -1),
                        points.x,
                        float(times[worst]),
                    )
            self._last_data = (np.array(times), np.concatenate(parts, axis=1))
        return self._last_data[1]


def _feature_derivatives(collocation: Collocation) -> FeatureDerivatives | None:
    """What makes an equation of second order cheap; None for others."""
    problem = collocation.problem
    try:
        needed_derivatives(problem.equation, problem.domain.dim, problem.shape)
    except UsageError:
        return None
    return FeatureDerivatives(problem, collocation.parameters, collocation.interior.x)


class FeatureDerivatives:
    """Values, gradients and Hessians of features at points, for networks of one architecture.

    An equation of second order asks at a point for u, ∇u and D²u alone. With those of the features
    as arrays, those of u are products with the head, and so are the matrices of the equation's
    derivative at any state.
    """

    def __init__(self, problem: Problem, parameters: Parameters[Network], x: Float[Array, "n d"]):
        self.problem, self.parameters = problem, parameters
        self.components = problem.components or 1
        self._compile()
        self.place(parameters.start, x)

    def _compile(self) -> None:
        rate, points = local_rate(self.problem.equation), (0, 0, 0, 0, None)
        times = (0, 0, 0, None, 0)
        program = self.problem.program
        self._rates = program("rates", jax.vmap(rate, points), times)
        self._derivatives = program("rate derivatives", jax.jacfwd(rate, (0, 1, 2)), points)

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
        m, features = self.components, self._parts[0]
        each = np.einsum("ij,nk->nijk", np.eye(m), features).reshape(len(features), m, -1)
        return np.concatenate([each, np.broadcast_to(np.eye(m), (len(features), m, m))], axis=2)

    def rates(self, heads: Float[Array, "s c"], times: Float[Array, " s"]) -> Float[Array, "s n m"]:
        """L(u) at the points, for several heads, each at its time."""
        found = self._rates(*self._fields(heads), self.x, np.asarray(times, dtype=np.float64))
        return found.reshape(len(heads), len(self.x), -1)

    def matrix(self, head: Float[Array, " c"], t: float) -> Float[Array, "n m c"]:
        """∂L(u)/∂head at the points."""
        m = self.components
        fields = [field[0] for field in self._fields(head[None])]
        found = self._derivatives(*fields, self.x, t)
        n, dim = self.x.shape
        value, slope, hessian = (
            part.reshape(n, m, m, *tail)
            for part, tail in zip(found, ((), (dim,), (dim, dim)), strict=True)
        )
        features, slopes, hessians = self._parts
        weights = (
            np.einsum("nij,nk->nijk", value, features)
            + np.einsum("nijd,nkd->nijk", slope, slopes)
            + np.einsum("nijde,nkde->nijk", hessian, hessians)
        )
        return np.concatenate([weights.reshape(n, m, -1), value], axis=2)

    def _fields(self, heads: Float[Array, "s c"]) -> list[Array]:
        """u, ∇u and D²u of several heads, (s, n, …)."""
        m, width = self.components, self._parts[0].shape[1]
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
