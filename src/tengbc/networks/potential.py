"""Waves of a potential map: cos(k·y), sin(k·y) of y with y + ∇φ(y) = x on a periodic box.

The map's parameters are the Fourier coefficients of the potential φ. On coordinates in which the
box is [0, 2π)ᵈ the waves are all k with |kᵢ| ≤ reachᵢ. Since φ draws lattice points in y together
where the solution is steep, few waves resolve a front that would need many in x.
"""

import math
from typing import ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Float

from tengbc.fourier.interpolation import Interpolation
from tengbc.fourier.lattice import Lattice
from tengbc.networks.body import AbstractBody
from tengbc.networks.maps import AbstractMap
from tengbc.types import Point

ITERATIONS = 40
"""Damped Newton steps for y at most; from the nearest lattice point five usually do."""
LONGEST = 0.3
"""The longest Newton step, in units of the box over 2π."""


class PotentialMap(AbstractMap):
    """x ↦ y with y + ∇φ(y) = x, φ(y) = Re Σ_k c_k exp(ik·y), y in [0, 2π)ᵈ.

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

    def _axis_numbers(self) -> list[np.ndarray]:
        *full, last = self.reach
        return [*(np.arange(-r, r + 1) for r in full), np.arange(last + 1)]

    def _weights(self) -> Float[np.ndarray, " r"]:
        """Waves with k_d > 0 stand for −k too."""
        return np.where(self._axis_numbers()[-1] > 0, 2.0, 1.0)

    def waves(self, y: Float[Array, " d"]) -> Array:
        """w_k exp(ik·y) on the table of waves, w_k = 1 or 2."""
        result = jnp.ones(())
        for axis, k in enumerate(self._axis_numbers()):
            factor = jnp.exp(1j * k * y[axis])
            factor = factor * self._weights() if axis == self.dim - 1 else factor
            result = result[..., None] * factor
        return result

    def slope_and_hessian(self, y: Float[Array, " d"]) -> tuple[Array, Array]:
        """∇φ and D²φ at y."""
        coefficients = self.potential[0] + 1j * self.potential[1]
        terms = coefficients * self.waves(y)
        k = jnp.stack(jnp.meshgrid(*self._axis_numbers(), indexing="ij")).reshape(self.dim, -1)
        flat = terms.ravel()
        slope = jnp.real(1j * (k @ flat))
        return slope, -jnp.real((k * flat) @ k.T)

    def __call__(self, x: Point) -> Float[Array, " d"]:
        place = (x - np.array(self.lower)) * (2 * np.pi / np.array(self.lengths))

        def newton(y: Array, longest: float | None = LONGEST) -> Array:
            slope, hessian = self.slope_and_hessian(y)
            step = jnp.linalg.solve(jnp.eye(self.dim) + hessian, place - y - slope)
            if longest is None:
                return y + step
            return y + step / jnp.maximum(1.0, jnp.linalg.norm(step) / longest)

        fixed = jax.lax.stop_gradient
        start = jax.lax.fori_loop(0, ITERATIONS, lambda _, y: fixed(newton(fixed(y))), fixed(place))
        # Two more steps at the solution change nothing but carry first and second derivatives.
        return newton(newton(fixed(start), None), None)

    @property
    def lattice(self) -> Lattice:
        """Points in y whose dealiased waves are the map's own."""
        return Lattice((0.0,) * self.dim, (2 * np.pi,) * self.dim, lattice_shape(self.reach))

    def at(
        self, x: Float[np.ndarray, "n d"]
    ) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "n d d"]]:
        """y and I + D²φ there, at many points x by fast transforms."""
        unit = np.array(self.lengths) / (2 * np.pi)
        potential = to_modes(np.asarray(self.potential), self.lattice)
        return _inverse_map(self.lattice, potential, _wrapped((x - np.array(self.lower)) / unit))


class DeformedWaves(AbstractBody):
    """Re and −Im of w_k exp(ik·y), y = map(x): all waves k that the map's own potential has."""

    map: PotentialMap
    # What is smooth in time is the coordinates and the waves in them, not u at a fixed x.
    interpolated: ClassVar[Literal["values", "parameters"]] = "parameters"

    @property
    def width(self) -> int:
        return math.prod(self.map.potential.shape)

    def __call__(self, x: Point) -> Float[Array, " n"]:
        waves = self.map.waves(self.map(x))
        return jnp.stack([jnp.real(waves), -jnp.imag(waves)]).ravel()

    def combine(
        self, weight: Float[np.ndarray, "m n"], x: Float[np.ndarray, "k d"], slopes: bool = False
    ) -> Float[np.ndarray, "k m ..."]:
        """By fast transforms, without ever forming the features."""
        lattice = self.map.lattice
        tables = np.asarray(weight).reshape(-1, *self.map.potential.shape)
        modes = np.stack([to_modes(table, lattice) for table in tables])
        y, jacobian = self.map.at(x)
        at = Interpolation(lattice, y)
        if not slopes:
            return at(modes).T
        along = np.stack([at(1j * k * modes) for k in lattice.numbers], axis=-1)  # (m, n, d)
        bent = np.linalg.solve(jacobian, np.moveaxis(along, 0, 2))  # J is symmetric
        return np.swapaxes(bent, 1, 2) / (np.array(self.map.lengths) / (2 * np.pi))


def lattice_shape(reach: tuple[int, ...]) -> tuple[int, ...]:
    """Points per axis whose dealiased waves are those up to the reach."""
    return tuple(2 * math.ceil((3 * r + 1) / 2) for r in reach)


def table_shape(lattice: Lattice) -> tuple[int, ...]:
    """The shape of a table of all waves that a lattice keeps, k_d ≥ 0."""
    *full, half = ((n - 1) // 3 for n in lattice.shape)
    return (*(2 * reach + 1 for reach in full), half + 1)


def table_indices(lattice: Lattice, shape: tuple[int, ...] | None = None) -> tuple[np.ndarray, ...]:
    """Where a lattice's half spectrum has the waves of a table, by default of all it keeps."""
    *full, half = shape or table_shape(lattice)
    return np.ix_(*(np.arange(-(n // 2), n // 2 + 1) for n in full), np.arange(half))


def to_modes(table: Float[np.ndarray, "2 ..."], lattice: Lattice) -> np.ndarray:
    """A lattice's half spectrum from a table of coefficients."""
    modes = np.zeros(lattice.numbers.shape[1:], complex)
    modes[table_indices(lattice, table.shape[1:])] = (table[0] + 1j * table[1]) * lattice.size
    return modes


def padded_table(table: Float[np.ndarray, "..."], shape: tuple[int, ...]) -> np.ndarray:
    """A table with more waves: zeros around, along the last axis only behind."""
    added = [n - m for n, m in zip(shape, table.shape, strict=True)]
    around = [(a // 2, a - a // 2) for a in added[:-1]]
    return np.pad(table, [*around, (0, added[-1])])


def _wrapped(x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
    """x mod 2π, where rounding just below 0 gives 0 rather than 2π."""
    wrapped = np.mod(x, 2 * np.pi)
    return np.where(wrapped >= 2 * np.pi, 0.0, wrapped)


def _inverse_map(
    lattice: Lattice, potential: np.ndarray, x: Float[np.ndarray, "n d"]
) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "n d d"]]:
    """y with y + ∇φ(y) = x, and I + D²φ there: Newton's method from the nearest lattice point."""
    from scipy.spatial import KDTree  # heavy, and used by deformed waves alone

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
