"""A body that bends space: waves cos(k·y), sin(k·y) of y with y + ∇φ(y) = x.

Its parameters are the Fourier coefficients of the potential φ. On coordinates in which the periodic
box is [0, 2π)ᵈ the waves are all k with |kᵢ| ≤ reachᵢ. Since φ draws lattice points in y together
where the solution is steep, few waves resolve a front that would need many in x.
"""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float, Int
from scipy.spatial import KDTree

from tengbc.errors import UsageError
from tengbc.fourier.interpolation import Interpolation
from tengbc.fourier.lattice import Lattice
from tengbc.networks.body import AbstractBody
from tengbc.types import Point

ITERATIONS = 40
"""Damped Newton steps for y at most; from the nearest lattice point five usually do."""
LONGEST = 0.3
"""The longest Newton step, in units of the box over 2π."""


class DeformedWaves(AbstractBody):
    """φ(y) = Re Σ_k c_k exp(ik·y); features are Re and −Im of w_k exp(ik·y), w_k = 1 or 2.

    `potential` holds Re c and Im c of the half spectrum k_d ≥ 0, shape (2, 2r₁+1, …, r_d+1), with
    k₁ from −r₁ to r₁ and so on; `lower` and `lengths` place the box.
    """

    potential: Float[Array | np.ndarray, "2 ..."]
    lower: tuple[float, ...] = eqx.field(static=True)
    lengths: tuple[float, ...] = eqx.field(static=True)

    @property
    def dim(self) -> int:
        """The number of axes."""
        return len(self.lower)

    @property
    def reach(self) -> tuple[int, ...]:
        """The largest wave number along each axis."""
        *full, half = self.potential.shape[1:]
        return (*(n // 2 for n in full), half - 1)

    @property
    def width(self) -> int:
        return math.prod(self.potential.shape)

    @property
    def signal_count(self) -> int:
        return 0

    def trace(self, x: Point, taps: Float[Array, " s"]):
        return self.layout()

    def layout(self) -> tuple[Int[np.ndarray, " p"], Int[np.ndarray, " p"]]:
        raise UsageError(
            "The Jacobian of deformed waves is not made of products; march them with the preset "
            "'fast', which moves all their parameters by one equation."
        )

    # One point, as JAX code: differentiable in x.

    def _axis_numbers(self) -> list[np.ndarray]:
        *full, last = self.reach
        return [*(np.arange(-r, r + 1) for r in full), np.arange(last + 1)]

    def _weights(self) -> Float[np.ndarray, " r"]:
        """Waves with k_d > 0 stand for −k too."""
        return np.where(self._axis_numbers()[-1] > 0, 2.0, 1.0)

    def _waves(self, y: Float[Array, " d"]) -> Array:
        """w_k exp(ik·y) on the table of waves."""
        numbers = self._axis_numbers()
        result = jnp.ones(())
        for axis, k in enumerate(numbers):
            factor = jnp.exp(1j * k * y[axis])
            factor = factor * self._weights() if axis == self.dim - 1 else factor
            result = result[..., None] * factor
        return result

    def _slope_and_bend(self, y: Float[Array, " d"]) -> tuple[Array, Array]:
        """∇φ and D²φ at y."""
        coefficients = self.potential[0] + 1j * self.potential[1]
        terms = coefficients * self._waves(y)
        k = jnp.stack(jnp.meshgrid(*self._axis_numbers(), indexing="ij")).reshape(self.dim, -1)
        flat = terms.ravel()
        slope = jnp.real(1j * (k @ flat))
        return slope, -jnp.real((k * flat) @ k.T)

    def inner(self, x: Point) -> Float[Array, " d"]:
        """y with y + ∇φ(y) = x, in coordinates of [0, 2π)ᵈ."""
        place = (x - np.array(self.lower)) * (2 * np.pi / np.array(self.lengths))

        def newton(y: Array, longest: float | None = LONGEST) -> Array:
            slope, bend = self._slope_and_bend(y)
            step = jnp.linalg.solve(jnp.eye(self.dim) + bend, place - y - slope)
            if longest is None:
                return y + step
            return y + step / jnp.maximum(1.0, jnp.linalg.norm(step) / longest)

        fixed = jax.lax.stop_gradient
        start = jax.lax.fori_loop(0, ITERATIONS, lambda _, y: fixed(newton(fixed(y))), fixed(place))
        # Two more steps at the solution change nothing but carry first and second derivatives.
        return newton(newton(fixed(start), None), None)

    def __call__(self, x: Point) -> Float[Array, " n"]:
        waves = self._waves(self.inner(x))
        return jnp.stack([jnp.real(waves), -jnp.imag(waves)]).ravel()

    # Many points at once, by fast transforms.

    def combine(
        self, weight: Float[np.ndarray, "m n"], x: Float[np.ndarray, "n d"], slopes: bool = False
    ) -> Float[np.ndarray, "n m ..."]:
        """Σ weight·features at many points, or its gradient, without ever forming the features."""
        lattice = Lattice((0.0,) * self.dim, (2 * np.pi,) * self.dim, lattice_shape(self.reach))
        tables = np.asarray(weight).reshape(-1, *self.potential.shape)
        modes = np.stack([to_modes(table, lattice) for table in tables])
        unit = np.array(self.lengths) / (2 * np.pi)
        potential = to_modes(np.asarray(self.potential), lattice)
        scaled = _wrapped((x - np.array(self.lower)) / unit)
        y, jacobian = _inverse_map(lattice, potential, scaled)
        at = Interpolation(lattice, y)
        if not slopes:
            return at(modes).T
        along = np.stack([at(1j * k * modes) for k in lattice.numbers], axis=-1)  # (m, n, d)
        bent = np.linalg.solve(jacobian, np.moveaxis(along, 0, 2))  # J is symmetric
        return np.swapaxes(bent, 1, 2) / unit


def lattice_shape(reach: tuple[int, ...]) -> tuple[int, ...]:
    """Points per axis whose dealiased waves are those up to the reach."""
    return tuple(2 * math.ceil((3 * r + 1) / 2) for r in reach)


def to_modes(table: Float[np.ndarray, "2 ..."], lattice: Lattice) -> np.ndarray:
    """A lattice's half spectrum from a table of coefficients."""
    modes = np.zeros(lattice.numbers.shape[1:], complex)
    *full, half = table.shape[1:]
    places = np.ix_(*(np.arange(-(n // 2), n // 2 + 1) for n in full), np.arange(half))
    modes[places] = (table[0] + 1j * table[1]) * lattice.size
    return modes


def to_table(modes: np.ndarray, lattice: Lattice, reach: tuple[int, ...]) -> np.ndarray:
    """The table of coefficients of a lattice's half spectrum, zero where the lattice has none."""
    *full, half = reach
    shape = (*(2 * r + 1 for r in full), half + 1)
    table = np.zeros((2, *shape))
    own = [min(r, (n - 1) // 3) for r, n in zip(reach, lattice.shape, strict=True)]
    rows = [np.arange(-r, r + 1) for r in own[:-1]] + [np.arange(own[-1] + 1)]
    chosen = modes[np.ix_(*rows)] / lattice.size
    shifted = [k + r for k, r in zip(rows[:-1], full, strict=True)] + [rows[-1]]
    place = np.ix_(*shifted)
    table[0][place], table[1][place] = chosen.real, chosen.imag
    return table


def _wrapped(x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
    """x mod 2π, where rounding just below 0 gives 0 rather than 2π."""
    wrapped = np.mod(x, 2 * np.pi)
    return np.where(wrapped >= 2 * np.pi, 0.0, wrapped)


def _inverse_map(
    lattice: Lattice, potential: np.ndarray, x: Float[np.ndarray, "n d"]
) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "n d d"]]:
    """y with y + ∇φ(y) = x, and I + D²φ there: Newton's method from the nearest lattice point."""
    k, dim = lattice.numbers, lattice.dim
    pairs = [(i, j) for i in range(dim) for j in range(i, dim)]
    slopes = [1j * k[i] * potential for i in range(dim)]
    fields = np.stack([*slopes, *(-k[i] * k[j] * potential for i, j in pairs)])
    nodes = lattice.points.reshape(dim, -1).T
    shift = lattice.backward(fields[:dim]).reshape(dim, -1).T
    tree = KDTree(_wrapped(nodes + shift), boxsize=2 * np.pi)
    y = nodes[tree.query(x)[1]].copy()
    active = np.arange(len(x))
    whole = np.zeros((len(x), dim, dim))
    for _ in range(ITERATIONS):
        values = Interpolation(lattice, y[active])(fields)
        missing = x[active] - y[active] - values[:dim].T
        missing -= 2 * np.pi * np.round(missing / (2 * np.pi))
        jacobian = np.zeros((len(active), dim, dim))
        for (i, j), value in zip(pairs, values[dim:], strict=True):
            jacobian[:, i, j] = jacobian[:, j, i] = value + (i == j)
        whole[active] = jacobian
        step = np.linalg.solve(jacobian, missing[:, :, None])[:, :, 0]
        length = np.linalg.norm(step, axis=1, keepdims=True)
        y[active] += step / np.maximum(1.0, length / LONGEST)
        active = active[length[:, 0] > 1e-9]  # Newton's next error is the square of this step
        if not len(active):
            break
    return y, whole
