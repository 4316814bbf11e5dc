"""How the network's parameters move: the deformation towards its monitor, the head by the equation.

In coordinates y that run through [0, 2π)ᵈ, X(y) = y + ∇φ(y) in units of the box over 2π,
J = I + D²φ, and ∇_x = J⁻¹∇_y. At fixed y the equation reads u_t = L(u) + Ẋ·∇_x u, so nothing is
ever interpolated: points, features and head march together. Since the waves are orthogonal on the
lattice in y, the head's least-squares problem is one Fourier transform.

The deformation relaxes towards equidistribution, m·det J = constant, by the parabolic Monge–Ampère
equation φ_t = r(1 − ∇²)⁻¹(m·det J)^{1/d} (Budd & Williams 2009). Its monitor is smoothed twice,
m = exp(S ½log(1 + α S|∇u|²)): the first S carries points to both sides of a front, the second,
taken of the logarithm, leaves no corner where the front ends.
"""

import functools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Complex, Float

from tengbc.equations.local import Derivatives, needed_derivatives, rates_at
from tengbc.fourier import Lattice
from tengbc.networks.potential import table_indices, table_shape
from tengbc.problem import Problem

Array = np.ndarray
FINE = 256
"""Points per axis from which on the smoothing shrinks with the cells."""
RELAXATION = 0.8
"""How far an iteration at the start goes, in units of the deformation's shortest time."""


@dataclass(frozen=True)
class MonitorOptions:
    """How strongly coordinates are deformed: α and the length of both smoothings.

    Lengths are in units of the box over 2π; on fine lattices, which steeper fronts have called for,
    the smoothing shrinks with the cells. Measured on Burgers (docs/burgers.md).
    """

    strength: float = 10.0
    length: float = 0.085


class Rates:
    """d/dt of (û, φ) for a problem on a lattice, by NumPy: transforms are all that takes time."""

    def __init__(self, problem: Problem, lattice: Lattice, monitor: MonitorOptions):
        self.problem, self.lattice, self.monitor = problem, lattice, monitor
        dim = lattice.dim
        self.needed = needed_derivatives(problem.equation, dim, problem.shape)
        self._unit = np.array(lattice.lengths) / (2 * np.pi)
        self._numbers, self._slope = lattice.numbers, 1j * lattice.numbers
        self._pairs = [(i, j) for i in range(dim) for j in range(i, dim)]
        self._second = np.stack([-self._numbers[i] * self._numbers[j] for i, j in self._pairs])
        self._nodes = np.stack(
            np.meshgrid(*[2 * np.pi * np.arange(n) / n for n in lattice.shape], indexing="ij")
        )
        squared = np.sum(lattice.numbers**2, axis=0)
        length = monitor.length * min(1.0, FINE / max(lattice.shape))
        self._smooth = np.exp(-0.5 * length**2 * squared)
        self._relax = lattice.kept / (1 + squared)
        self._relax.flat[0] = 0.0
        self._places_of_table = table_indices(lattice)
        self._table = (2, *table_shape(lattice))

    # θ = (φ, û, 0) as tables of coefficients, and the spectra that they stand for.

    def spectra(self, theta: Float[Array, " p"]) -> tuple[Array, Array]:
        """(û, φ) on the lattice."""
        count, components = int(np.prod(self._table)), self.problem.components or 1
        tables = theta[: (1 + components) * count].reshape(1 + components, *self._table)
        modes = np.zeros((1 + components, *self._numbers.shape[1:]), complex)
        coefficients = (tables[:, 0] + 1j * tables[:, 1]) * self.lattice.size
        modes[(slice(None), *self._places_of_table)] = coefficients
        return modes[1:], modes[0]

    def theta(self, modes: Array, potential: Array) -> Float[Array, " p"]:
        """θ of (û, φ); the head's bias is the wave k = 0, and so zero."""
        both = np.concatenate([potential[None], modes])[(slice(None), *self._places_of_table)]
        tables = np.stack([np.real(both), np.imag(both)], axis=1) / self.lattice.size
        return np.concatenate([tables.ravel(), np.zeros(len(modes))])

    def of_theta(
        self, theta: Float[Array, " p"], t: float, control: tuple[float, float]
    ) -> Float[Array, " p"]:
        """dθ/dt."""
        return self.theta(*self(*self.spectra(theta), t, control))

    # Transforms of arrays (…, n₁, …, n_d).

    def forward(self, u: Float[Array, "..."]) -> Complex[Array, "..."]:
        """The dealiased spectrum of a field."""
        return self.lattice.forward(u) * self.lattice.kept

    def _with_slopes(self, modes: Complex[Array, "..."]) -> tuple[Array, list[Array]]:
        """A field and ∇_y of it."""
        stack = np.stack([modes, *(ik * modes for ik in self._slope)])
        u, *slopes = self.lattice.backward(stack)
        return u, slopes

    # Geometry.

    def _geometry(self, potential: Complex[Array, "..."]) -> tuple[list[list[Array]], Array, Array]:
        """J⁻¹ as a table of fields, det J, and the points x of the lattice in y, in the box."""
        dim, slopes = self.lattice.dim, self._slope * potential
        fields = self.lattice.backward(np.concatenate([slopes, self._second * potential]))
        table = dict(zip(self._pairs, fields[dim:], strict=True))
        entry = lambda i, j: table[min(i, j), max(i, j)] + (1.0 if i == j else 0.0)
        rows = [[entry(i, j) for j in range(dim)] for i in range(dim)]
        moved = self._nodes + fields[:dim]
        moved -= 2 * np.pi * np.floor(moved / (2 * np.pi))
        places = np.array(self.lattice.lower) + self._unit * _points_first(moved)
        return *inverse(rows), places

    def _bent(self, slopes: list[Array], inverted: list[list[Array]]) -> list[Array]:
        """∇_x u in units of the box over 2π from ∇_y u, each (m, …)."""
        return [_sum(a * s for a, s in zip(row, slopes, strict=True)) for row in inverted]

    def _pull(
        self,
        gradient: list[Array],
        inverted: list[list[Array]],
        determinant: Array,
        control: tuple[float, float],
    ) -> tuple[Complex[Array, "..."], float]:
        """φ_t: where a cell holds more than its share of the monitor, it shrinks; and how fast.

        (m·det J)^{1/d} changes by tr(J⁻¹D²φ)/d of itself, which makes the fastest rate.
        """
        (scale, rate), dim = control, self.lattice.dim
        steep = _sum(np.sum(g * g, axis=0) for g in gradient) / scale**2
        steep = np.maximum(self._smoothed(steep), 0.0)
        monitor = np.exp(self._smoothed(0.5 * np.log1p(self.monitor.strength * steep)))
        share = (monitor * np.abs(determinant)) ** (1 / dim)
        share = share / np.mean(share)
        stretch = sum(inverted[i][i] for i in range(dim))
        fastest = 2 * rate / dim * float(np.max(share * stretch))
        return 2 * rate * self._relax * self.lattice.forward(share), fastest

    def _smoothed(self, field: Float[Array, "..."]) -> Float[Array, "..."]:
        return self.lattice.backward(self._smooth * self.lattice.forward(field))

    # The equation.

    def _curvature(
        self, gradient: list[Array], inverted: list[list[Array]], determinant: Array
    ) -> Float[Array, "n m d d"]:
        """Second derivatives as the equation wants them."""
        dim, axes, unit = self.lattice.dim, range(self.lattice.dim), self._unit
        points, components = self.lattice.size, len(gradient[0])
        hessian = np.zeros((points, components, dim, dim))
        if self.needed == Derivatives.LAPLACIAN:
            # ∇²u = Σ ∂_{y_j}(det J · J⁻¹_{ji} ∂_{x_i}u) / det J: two transforms fewer than D²u.
            scaled = [determinant * g / h**2 for g, h in zip(gradient, unit, strict=True)]
            flux = self.forward(np.stack(self._bent(scaled, inverted)))
            modes = _sum(ik * f for ik, f in zip(self._slope, flux, strict=True))
            laplacian = self.lattice.backward(modes) / determinant
            for i in axes:
                hessian[..., i, i] = _points_first(laplacian / dim)
        elif self.needed == Derivatives.HESSIAN:
            for i in axes:
                _, slopes = self._with_slopes(self.forward(gradient[i]))
                for j, field in zip(axes, self._bent(slopes, inverted), strict=True):
                    hessian[..., i, j] = _points_first(field / (unit[i] * unit[j]))
        return hessian

    def __call__(
        self,
        modes: Complex[Array, "m ..."],
        potential: Complex[Array, "..."],
        t: float,
        control: tuple[float, float],
    ) -> tuple[Complex[Array, "m ..."], Complex[Array, "..."]]:
        """(dû/dt, dφ/dt); what is no longer finite is for the march to see."""
        with np.errstate(all="ignore"):
            inverted, determinant, places = self._geometry(potential)
            u, slopes = self._with_slopes(modes)
            gradient = self._bent(slopes, inverted)
            pull, _ = self._pull(gradient, inverted, determinant, control)
            _, velocity = self._with_slopes(pull)
            shape, dim = self.problem.shape, self.lattice.dim
            slope = np.stack(
                [_points_first(g / h) for g, h in zip(gradient, self._unit, strict=True)], axis=-1
            )
            hessian = self._curvature(gradient, inverted, determinant)
            points = len(hessian)
            rate = rates_at(
                self.problem.equation,
                _points_first(u).reshape(points, *shape),
                slope.reshape(points, *shape, dim),
                hessian.reshape(points, *shape, dim, dim),
                places,
                t,
            )
            moved = np.asarray(rate).reshape(points, -1).T.reshape(u.shape)
            moved = moved + sum(v * g for v, g in zip(velocity, gradient, strict=True))
            return self.forward(moved), pull

    # The start, and how a state is.

    def initial(self, potential: Complex[Array, "..."]) -> Complex[Array, "m ..."]:
        """û of the initial values at the bent points: the head's exact fit."""
        values = self.problem.initial(self._geometry(potential)[2])
        return self.forward(
            values.reshape(self.lattice.size, -1).T.reshape(-1, *self.lattice.shape)
        )

    def relaxed(
        self, potential: Complex[Array, "..."], control: tuple[float, float]
    ) -> Complex[Array, "..."]:
        """The deformation drawn a little nearer to what the initial values want."""
        inverted, determinant, _ = self._geometry(potential)
        _, slopes = self._with_slopes(self.initial(potential))
        pull, fastest = self._pull(self._bent(slopes, inverted), inverted, determinant, control)
        return potential + RELAXATION / fastest * pull

    def health(self, theta: Float[Array, " p"]) -> tuple[float, float, float]:
        """The largest stretch of a cell, det J at its smallest, and the range of u."""
        modes, potential = self.spectra(theta)
        with np.errstate(all="ignore"):
            inverted, determinant, _ = self._geometry(potential)
            u = self.lattice.backward(modes)
            largest = sum(np.abs(inverted[i][i]) for i in range(self.lattice.dim))
            return float(np.max(largest)), float(np.min(determinant)), float(np.ptp(u))


def _sum(fields: Iterable[Array]) -> Array:
    return functools.reduce(np.add, fields)


def _points_first(fields: Float[Array, "m ..."]) -> Float[Array, "n m"]:
    return fields.reshape(len(fields), -1).T


def inverse(table: list[list[Array]]) -> tuple[list[list[Array]], Array]:
    """The inverse of a symmetric table of fields, and its determinant, in closed form (d ≤ 3)."""
    if len(table) == 1:
        return [[1 / table[0][0]]], table[0][0]
    if len(table) == 2:
        (a, b), (_, c) = table
        determinant = a * c - b * b
        off = -b / determinant
        return [[c / determinant, off], [off, a / determinant]], determinant
    (a, b, c), (_, d, e), (_, _, f) = table
    aa, ab, ac = d * f - e * e, c * e - b * f, b * e - c * d
    bb, bc, cc = a * f - c * c, b * c - a * e, a * d - b * b
    determinant = a * aa + b * ab + c * ac
    adjugate = [[aa, ab, ac], [ab, bb, bc], [ac, bc, cc]]
    return [[entry / determinant for entry in row] for row in adjugate], determinant
