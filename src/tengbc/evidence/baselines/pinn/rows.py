"""What a space–time network should make zero: equation, initial values and conditions on points."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from tengbc.evidence.baselines.pinn.network import Builder
from tengbc.problem import Problem
from tengbc.solver.sampling import boundary_points

Array = np.ndarray
CHUNK = 512
"""Points whose Jacobian rows exist at a time."""


@dataclass(frozen=True)
class PointCounts:
    """Collocation points inside space–time, at the start and on the boundary."""

    interior: int = 2000
    initial: int = 400
    boundary: int = 600


class Block(NamedTuple):
    """Rows of one kind: a pointwise residual, its points, and the weight of each row."""

    residual: Callable
    arguments: tuple[Array, ...]
    scale: float


class Rows:
    """r(θ): T(∂ₜu − L(u)), u − u₀ and g(u) at their points, each a mean square of its kind.

    All are measured in units of the initial values; `boundary_weight` multiplies the squares of the
    initial and the boundary rows.
    """

    def __init__(
        self,
        problem: Problem,
        network: Builder,
        t_end: float,
        counts: PointCounts,
        seed: int,
        boundary_weight: float,
    ):
        inside = problem.domain.interior(counts.interior, seed=seed).x
        start = problem.domain.interior(counts.initial, seed=seed + 1).x
        wanted = problem.initial(start)
        unit = float(np.sqrt(np.mean(np.square(wanted)))) or 1.0
        rng = np.random.default_rng([seed, 3])
        self._components = problem.components or 1

        def equation(theta, x, t):
            u = network(theta)
            rate = jax.jvp(lambda s: u(x, s), (t,), (jnp.ones_like(t),))[1]
            return t_end * (rate - problem.equation.rhs(lambda y: u(y, t), x, t))

        def initial(theta, x, value):
            return network(theta)(x, 0.0) - value

        weight = np.sqrt(boundary_weight) / unit
        times = _spread_times(len(inside), t_end, rng)
        self.blocks = [
            Block(equation, (inside, times), 1.0 / unit / np.sqrt(len(inside))),
            Block(initial, (start, wanted), weight / np.sqrt(len(start))),
        ]
        segments = boundary_points(problem.domain, counts.boundary)
        total = sum(len(points) for points in segments)
        for points in segments:
            law = problem.conditions[points.segment].residual

            def condition(theta, x, normal, t, law=law):
                u = network(theta)
                return law(lambda y: u(y, t), x, normal, t)

            places = (points.x, points.normal, _spread_times(len(points), t_end, rng))
            self.blocks.append(Block(condition, places, weight / np.sqrt(total)))
        self._compile()

    def losses(self, theta: Float[Array, " p"], step: Float[Array, " p"], sizes: Array) -> Array:
        """‖r(θ − ηδ)‖² for several η."""
        with jax.enable_x64(True):
            return np.asarray(self._losses(theta, step, sizes))

    def loss_and_gradient(self, theta: Float[Array, " p"]) -> tuple[float, Float[Array, " p"]]:
        """‖r(θ)‖² and its gradient."""
        with jax.enable_x64(True):
            loss, gradient = self._loss_and_gradient(theta)
        return float(loss), np.asarray(gradient)

    def chunks(self, theta: Float[Array, " p"]):
        """r and its Jacobian ∂r/∂θ, some rows at a time: pairs (k,), (k, p)."""
        for block, function in zip(self.blocks, self._jacobians, strict=True):
            count = len(block.arguments[0])
            size = -(-count // -(-count // CHUNK))  # equal chunks: one shape is compiled
            for start in range(0, count, size):
                places = np.minimum(np.arange(start, start + size), count - 1)
                part = [argument[places] for argument in block.arguments]
                with jax.enable_x64(True):
                    residual, jacobian = map(np.asarray, function(theta, *part))
                kept = min(size, count - start)
                residual = residual[:kept].reshape(-1) * block.scale
                yield residual, jacobian[:kept].reshape(len(residual), -1) * block.scale

    @property
    def points(self) -> dict[str, int]:
        """How many points there are of each kind."""
        sizes = [len(block.arguments[0]) for block in self.blocks]
        return {"interior": sizes[0], "initial": sizes[1], "boundary": sum(sizes[2:])}

    @property
    def count(self) -> int:
        """The number of rows; a system has one of each component at a point."""
        return sum(self.points.values()) * self._components

    def _compile(self) -> None:
        def loss(theta):
            total = jnp.zeros(())
            for block in self.blocks:
                at = jax.vmap(block.residual, in_axes=(None, *(0 for _ in block.arguments)))
                total += block.scale**2 * jnp.sum(jnp.square(at(theta, *block.arguments)))
            return total

        def losses(theta, step, sizes):
            return jax.lax.map(lambda size: loss(theta - size * step), sizes)

        self._losses = jax.jit(losses)
        self._loss_and_gradient = jax.jit(jax.value_and_grad(loss))
        self._jacobians = [jax.jit(_value_and_jacobian(block)) for block in self.blocks]


def _value_and_jacobian(block: Block) -> Callable:
    def at_point(theta, *arguments):
        def flat(theta):
            value = jnp.atleast_1d(block.residual(theta, *arguments))
            return value, value

        jacobian, value = jax.jacrev(flat, has_aux=True)(theta)
        return value, jacobian

    return jax.vmap(at_point, in_axes=(None, *(0 for _ in block.arguments)))


def _spread_times(count: int, t_end: float, rng: np.random.Generator) -> Float[Array, " n"]:
    """One time in each of `count` equal parts of [0, T], in random order."""
    return (rng.permutation(count) + 0.5) / max(count, 1) * t_end
