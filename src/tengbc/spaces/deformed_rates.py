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

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import Complex, Float

from tengbc.equations.local import Derivatives, local_rates, needed_derivatives
from tengbc.fourier import Lattice
from tengbc.networks.potential import table_indices, table_shape
from tengbc.problem import Problem

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
    """d/dt of (û, φ) for a problem on a lattice; everything compiled, in float64."""

    def __init__(self, problem: Problem, lattice: Lattice, monitor: MonitorOptions):
        self.problem, self.lattice, self.monitor = problem, lattice, monitor
        dim = lattice.dim
        self.needed = needed_derivatives(problem.equation, dim, problem.shape)
        self._law = local_rates(problem.equation)
        self._unit = np.array(lattice.lengths).reshape(-1, *[1] * dim) / (2 * np.pi)
        self._numbers = lattice.numbers
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

    def spectra(self, theta: Float[np.ndarray, " p"]) -> tuple[np.ndarray, np.ndarray]:
        """(û, φ) on the lattice."""
        with jax.enable_x64(True):
            modes, potential = self._spectra(theta)
        return np.asarray(modes), np.asarray(potential)

    def theta(self, modes: np.ndarray, potential: np.ndarray) -> Float[np.ndarray, " p"]:
        """θ of (û, φ); the head's bias is the wave k = 0, and so zero."""
        both = np.concatenate([potential[None], modes])[(..., *self._places_of_table)]
        tables = np.stack([np.real(both), np.imag(both)], axis=1) / self.lattice.size
        return np.concatenate([tables.ravel(), np.zeros(len(modes))])

    @partial(jax.jit, static_argnums=0)
    def _spectra(self, theta: Array) -> tuple[Array, Array]:
        count, components = int(np.prod(self._table)), self.problem.components or 1
        tables = theta[: (1 + components) * count].reshape(1 + components, *self._table)
        coefficients = (tables[:, 0] + 1j * tables[:, 1]) * self.lattice.size
        modes = jnp.zeros((1 + components, *self._numbers.shape[1:]), complex)
        modes = modes.at[(slice(None), *self._places_of_table)].set(coefficients)
        return modes[1:], modes[0]

    @partial(jax.jit, static_argnums=0)
    def of_theta(self, theta, t, control):
        """dθ/dt."""
        modes, potential = self(*self._spectra(theta), t, control)
        both = jnp.concatenate([potential[None], modes])
        both = both[(slice(None), *self._places_of_table)] / self.lattice.size
        tables = jnp.stack([jnp.real(both), jnp.imag(both)], axis=1)
        return jnp.concatenate([tables.ravel(), jnp.zeros(len(modes))])

    # Transforms of arrays (…, n₁, …, n_d).

    def forward(self, u: Float[Array, "..."]) -> Complex[Array, "..."]:
        """The dealiased spectrum of a field."""
        return jnp.fft.rfftn(u, axes=self.lattice.axes) * self.lattice.kept

    def backward(self, modes: Complex[Array, "..."]) -> Float[Array, "..."]:
        """The field of a spectrum."""
        return jnp.fft.irfftn(modes, s=self.lattice.shape, axes=self.lattice.axes)

    def _slopes(self, modes: Complex[Array, "..."]) -> Float[Array, "d ..."]:
        """∇_y of a field with leading axes."""
        return self.backward(jnp.stack([1j * k * modes for k in self._numbers]))

    # Geometry.

    def _jacobian(self, potential) -> tuple[list[list[Array]], Array]:
        """J⁻¹ as a table of fields, and det J."""
        k, dim = self._numbers, self.lattice.dim
        pairs = [(i, j) for i in range(dim) for j in range(i, dim)]
        second = self.backward(jnp.stack([-k[i] * k[j] * potential for i, j in pairs]))
        table = dict(zip(pairs, second, strict=True))
        entry = lambda i, j: table[min(i, j), max(i, j)] + (1.0 if i == j else 0.0)
        return inverse([[entry(i, j) for j in range(dim)] for i in range(dim)])

    def _places(self, potential) -> Float[Array, "d ..."]:
        """The points x of the lattice in y, wrapped into the box."""
        lower = np.array(self.lattice.lower).reshape(self._unit.shape)
        moved = jnp.mod(self._nodes + self._slopes(potential), 2 * np.pi)
        return jnp.asarray(lower + self._unit * moved)

    def _gradient(self, modes, inverted) -> list[Array]:
        """∇_x u in units of the box over 2π, each (m, …)."""
        slopes, axes = self._slopes(modes), range(self.lattice.dim)
        return [
            jnp.sum(jnp.stack([inverted[i][j] * slopes[j] for j in axes]), axis=0) for i in axes
        ]

    def _pull(
        self, gradient: list[Array], inverted: list[list[Array]], determinant: Array, control
    ) -> tuple[Complex[Array, "..."], Array]:
        """φ_t: where a cell holds more than its share of the monitor, it shrinks; and how fast.

        (m·det J)^{1/d} changes by tr(J⁻¹D²φ)/d of itself, which makes the fastest rate.
        """
        (scale, rate), dim = control, self.lattice.dim
        steep = jnp.sum(jnp.stack([g * g for g in gradient]), axis=(0, 1)) / scale**2
        steep = jnp.maximum(self._smoothed(steep), 0.0)
        monitor = jnp.exp(self._smoothed(0.5 * jnp.log1p(self.monitor.strength * steep)))
        share = (monitor * jnp.abs(determinant)) ** (1 / dim)
        share = share / jnp.mean(share)
        stretch = jnp.stack([inverted[i][i] for i in range(dim)]).sum(axis=0)
        fastest = 2 * rate / dim * jnp.max(share * stretch)
        return 2 * rate * self._relax * self.forward(share), fastest

    def _smoothed(self, field: Float[Array, "..."]) -> Float[Array, "..."]:
        return jnp.fft.irfftn(
            self._smooth * jnp.fft.rfftn(field, axes=self.lattice.axes),
            s=self.lattice.shape,
            axes=self.lattice.axes,
        )

    # The equation.

    def _curvature(self, gradient: list[Array], inverted, determinant) -> Array:
        """Second derivatives as the equation wants them: (d, d, m, …)."""
        dim, axes, unit = self.lattice.dim, range(self.lattice.dim), self._unit
        if self.needed == Derivatives.LAPLACIAN:
            # ∇²u = Σ ∂_{y_j}(det J · J⁻¹_{ji} ∂_{x_i}u) / det J: two transforms fewer than D²u.
            flux = [
                determinant * sum(inverted[j][i] * gradient[i] / unit[i] ** 2 for i in axes)
                for j in axes
            ]
            modes = jnp.sum(1j * self._numbers[:, None] * self.forward(jnp.stack(flux)), axis=0)
            laplacian = self.backward(modes) / determinant
            return jnp.eye(dim).reshape(dim, dim, *[1] * laplacian.ndim) * laplacian / dim
        if self.needed == Derivatives.HESSIAN:
            inner = [self._gradient(self.forward(g), inverted) for g in gradient]
            return jnp.stack(
                [jnp.stack([inner[i][j] / (unit[i] * unit[j]) for j in axes]) for i in axes]
            )
        return jnp.zeros((dim, dim, *gradient[0].shape))

    @partial(jax.jit, static_argnums=0)
    def __call__(self, modes, potential, t, control):
        """(dû/dt, dφ/dt)."""
        dim, shape, points = self.lattice.dim, self.problem.shape, self.lattice.size
        inverted, determinant = self._jacobian(potential)
        gradient = self._gradient(modes, inverted)
        pull, _ = self._pull(gradient, inverted, determinant, control)
        velocity = self._slopes(pull)
        u = self.backward(modes)
        slope = jnp.stack([g / unit for g, unit in zip(gradient, self._unit, strict=True)])
        curvature = self._curvature(gradient, inverted, determinant)
        rate = self._law(
            u.reshape(-1, points).T.reshape(points, *shape),
            jnp.moveaxis(slope.reshape(dim, -1, points), (2, 1, 0), (0, 1, 2)).reshape(
                points, *shape, dim
            ),
            jnp.moveaxis(
                curvature.reshape(dim, dim, -1, points), (3, 2, 0, 1), (0, 1, 2, 3)
            ).reshape(points, *shape, dim, dim),
            self._places(potential).reshape(dim, points).T,
            t,
        )
        moved = jnp.reshape(jnp.reshape(jnp.asarray(rate), (points, -1)).T, u.shape)
        moved = moved + sum(v * g for v, g in zip(velocity, gradient, strict=True))
        return self.forward(moved), pull

    # The start, and what a step size depends on.

    @partial(jax.jit, static_argnums=0)
    def initial(self, potential):
        """û of the initial values at the bent points: the head's exact fit."""
        points, dim = self.lattice.size, self.lattice.dim
        places = self._places(potential).reshape(dim, points).T
        values = jax.vmap(self.problem.initial_function)(places).reshape(points, -1).T
        return self.forward(jnp.asarray(values, float).reshape(-1, *self.lattice.shape))

    @partial(jax.jit, static_argnums=0)
    def relaxed(self, potential, control):
        """The deformation drawn a little nearer to what the initial values want."""

        def once(_, potential):
            inverted, determinant = self._jacobian(potential)
            gradient = self._gradient(self.initial(potential), inverted)
            pull, fastest = self._pull(gradient, inverted, determinant, control)
            return potential + RELAXATION / fastest * pull

        return jax.lax.fori_loop(0, 20, once, potential)

    @partial(jax.jit, static_argnums=0)
    def fastest(self, theta, t, control):
        """The fastest rate |λ| of the linearised law on the waves that are kept.

        The law's dependence on u, ∇u and ∇²u is measured by its own derivatives at each point.
        """
        modes, potential = self._spectra(theta)
        dim, shape, points = self.lattice.dim, self.problem.shape, self.lattice.size
        inverted, determinant = self._jacobian(potential)
        gradient = self._gradient(modes, inverted)
        pull, relaxing = self._pull(gradient, inverted, determinant, control)
        velocity = self._slopes(pull)
        u = self.backward(modes).reshape(-1, points).T.reshape(points, *shape)
        slope = jnp.stack([g / unit for g, unit in zip(gradient, self._unit, strict=True)])
        slope = jnp.moveaxis(slope.reshape(dim, -1, points), (2, 1, 0), (0, 1, 2))
        slope = slope.reshape(points, *shape, dim)
        hessian = jnp.zeros((points, *shape, dim, dim))
        places = self._places(potential).reshape(dim, points).T
        law = lambda *a: self._law(*a, places, t)
        tangents = self._tangents(u)
        felt = jax.vmap(lambda *v: jax.jvp(law, (u, slope, hessian), v)[1])(*tangents)
        own, along, across = jnp.abs(felt[0]), felt[1 : 1 + dim], jnp.abs(felt[1 + dim :])
        worst = lambda a: jnp.max(a.reshape(points, -1), axis=1)
        most = [n / 3 for n in self.lattice.shape]
        # How far a wave in y reaches in x: |J⁻¹k| along each axis, k at the corner of the spectrum.
        reach = [
            sum(jnp.abs(inverted[i][j]).ravel() * most[j] for j in range(dim)) for i in range(dim)
        ]
        wave = [r / float(unit.ravel()[0]) for r, unit in zip(reach, self._unit, strict=True)]
        drift = jnp.zeros(points)
        for j in range(dim):
            speed = sum(
                inverted[j][i].ravel()[:, None]
                * (
                    velocity[i].reshape(points, 1)
                    + along[i].reshape(points, -1) / float(self._unit[i].ravel()[0])
                )
                for i in range(dim)
            )
            drift = drift + most[j] * worst(jnp.abs(speed))
        pairs = [(i, j) for i in range(dim) for j in range(dim) if i == j or len(across) > 1]
        diffusion = sum(
            worst(across[min(n, len(across) - 1)]) * wave[i] * wave[j]
            for n, (i, j) in enumerate(pairs)
        )
        return jnp.max(jnp.hypot(diffusion + worst(own), drift)), relaxing

    def _tangents(self, u: Array) -> tuple[Array, Array, Array]:
        """Directions in (u, ∇u, D²u): u alone, each ∂ᵢu, then ∇²u or all of D²u."""
        dim, ones = self.lattice.dim, jnp.ones_like(u)
        if self.needed == Derivatives.HESSIAN:
            hessians = [np.outer(a, b) for a in np.eye(dim) for b in np.eye(dim)]
        else:
            hessians = [np.eye(dim) / dim]
        count = 1 + dim + len(hessians)
        value, slope, hessian = np.zeros(count), np.zeros((count, dim)), np.zeros((count, dim, dim))
        value[0], slope[1 : 1 + dim], hessian[1 + dim :] = 1.0, np.eye(dim), hessians
        spread = lambda a: jax.vmap(lambda v: ones[(..., *[None] * v.ndim)] * v)(jnp.asarray(a))
        return spread(value), spread(slope), spread(hessian)

    @partial(jax.jit, static_argnums=0)
    def health(self, theta):
        """The largest stretch of a cell, det J at its smallest, and the range of u."""
        modes, potential = self._spectra(theta)
        inverted, determinant = self._jacobian(potential)
        u = self.backward(modes)
        largest = sum(jnp.abs(inverted[i][i]) for i in range(self.lattice.dim))
        return jnp.max(largest), jnp.min(determinant), jnp.max(u) - jnp.min(u)


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
