"""An equation as waves see it, û' = symbol(k)·û + N(u), and its steps in time.

The symbol gathers diffusion and transport with constant coefficients; N is everything else,
self-advection in conservative form and the rest by values at the lattice's points. Runge–Kutta
steps of order four leave the linear part exact (integrating factor).
"""

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
from jaxtyping import Complex, Float, Inexact

from tengbc.equations import AbstractEquation, Heat, Transport
from tengbc.equations.burgers import SelfAdvection
from tengbc.equations.local import Derivatives, needed_derivatives, rates_at
from tengbc.errors import NonFiniteError
from tengbc.fourier import Lattice
from tengbc.geometry.points import point_text
from tengbc.problem import Problem
from tengbc.schemes.tableau import RK4, explicit_step

Array = np.ndarray


@dataclass(frozen=True)
class Terms:
    """The parts of an equation: `linear` ones have a symbol, `rest` is evaluated by points."""

    shape: tuple[int, ...]
    linear: tuple[Heat | Transport, ...]
    self_advection: int
    rest: AbstractEquation | None
    needed: Derivatives

    @property
    def evaluated(self) -> bool:
        """Whether there is anything beside the symbol."""
        return self.self_advection > 0 or self.rest is not None


def sort_terms(problem: Problem) -> Terms:
    """Tell the terms with a symbol from the others."""
    linear, rest, self_advection = [], [], 0
    for term in problem.equation.terms:
        wave = isinstance(term, Transport) and not problem.components and term.velocity.constant
        if wave or (isinstance(term, Heat) and term.kappa.constant):
            linear.append(term)
        elif isinstance(term, SelfAdvection) and not problem.components:
            self_advection += 1
        else:
            rest.append(term)
    others = reduce(add, rest) if rest else None
    needed = Derivatives.NONE
    if others is not None:
        needed = needed_derivatives(others, problem.domain.dim, problem.shape)
    return Terms(problem.shape, tuple(linear), self_advection, others, needed)


def symbol(terms: Terms, lattice: Lattice) -> Inexact[Array, "m ..."]:
    """Σ −κ|k|² − i v·k, one for each component; real, which is cheaper, without transport."""
    waves = lattice.waves
    squared = np.sum(waves**2, axis=0)
    components = terms.shape[0] if terms.shape else 1
    total = np.zeros((components, *squared.shape))
    for term in terms.linear:
        if isinstance(term, Heat):
            kappa = np.broadcast_to(np.asarray(term.kappa.value), (components,))
            total -= kappa.reshape(-1, *[1] * lattice.dim) * squared
        else:
            velocity = np.asarray(term.velocity.value).reshape(-1, *[1] * lattice.dim)
            total = total - 1j * np.sum(velocity * waves, axis=0)
    return total


class Push:
    """N(u, t): the spectrum of what the symbol does not hold, dealiased."""

    def __init__(self, terms: Terms, lattice: Lattice, workers: int = 1):
        self.terms, self.lattice, self.workers = terms, lattice, workers
        self._along_diagonal = -0.5j * terms.self_advection * np.sum(lattice.waves, axis=0)
        self._along_diagonal *= lattice.kept

    def __call__(self, modes: Complex[Array, "m ..."], t: float) -> Complex[Array, "m ..."]:
        lattice, terms, total = self.lattice, self.terms, 0.0
        u = lattice.backward(modes, self.workers)
        if terms.self_advection:
            # −u Σ∂ᵢu = −½ Σ∂ᵢ(u²): one transform each way, and the mean of u is kept exactly.
            total = self._along_diagonal * lattice.forward(u * u, self.workers)
        if terms.rest is not None:
            rates = self._by_points(terms.rest, u, modes, t)
            total = total + lattice.kept * lattice.forward(rates, self.workers)
        return np.asarray(total)

    def _by_points(self, rest: AbstractEquation, u, modes, t: float) -> Float[Array, "m ..."]:
        lattice, dim, shape = self.lattice, self.lattice.dim, self.terms.shape
        components, points = len(u), lattice.size
        slope = np.zeros((dim, components, points))
        bend = np.zeros((dim, dim, components, points))
        if self.terms.needed >= Derivatives.GRADIENT:
            slope = np.stack([self._field(1j * k * modes) for k in lattice.waves])
        if self.terms.needed == Derivatives.LAPLACIAN:
            laplacian = self._field(-np.sum(lattice.waves**2, axis=0) * modes)
            bend = np.eye(dim)[:, :, None, None] * laplacian / dim
        if self.terms.needed == Derivatives.HESSIAN:
            bend = np.stack(
                [[self._field(-k * q * modes) for q in lattice.waves] for k in lattice.waves]
            )
        x = lattice.points.reshape(dim, -1).T
        rates = rates_at(
            rest,
            u.reshape(components, -1).T.reshape(points, *shape),
            np.moveaxis(slope, (2, 1, 0), (0, 1, 2)).reshape(points, *shape, dim),
            np.moveaxis(bend, (3, 2, 0, 1), (0, 1, 2, 3)).reshape(points, *shape, dim, dim),
            x,
            t,
        )
        rates = rates.reshape(points, components).T
        if not np.isfinite(rates).all():
            where = point_text(x[np.argwhere(~np.isfinite(rates))[0][1]])
            raise NonFiniteError(
                f"The equation ({rest.formula}) is not finite at {where}, t = {t:g}; take a "
                f"smaller dt, or correct it there."
            )
        return rates.reshape(components, *lattice.shape)

    def _field(self, modes: Complex[Array, "m ..."]) -> Float[Array, "m n"]:
        return self.lattice.backward(modes, self.workers).reshape(len(modes), -1)


class FourierStepper:
    """û' = cû + N(û, t): classical RK4 for exp(−ct)û on one lattice."""

    def __init__(self, terms: Terms, lattice: Lattice, workers: int = 1):
        self.lattice, self.push = lattice, Push(terms, lattice, workers)
        self._symbol, self._linear = symbol(terms, lattice), not terms.evaluated
        self._dt, self._factors = 0.0, dict[float, Array]()

    def step(self, modes: Complex[Array, "m ..."], t: float, dt: float) -> Complex[Array, "m ..."]:
        """The spectrum at t + Δt."""
        if dt != self._dt:
            self._dt, self._factors = dt, {s: np.exp(self._symbol * s) for s in (dt / 2, dt)}
        if self._linear:
            return self._carry(modes, dt)
        return explicit_step(RK4, self.push, modes, t, dt, self._carry)

    def _carry(self, modes: Complex[Array, "m ..."], s: float) -> Complex[Array, "m ..."]:
        """exp(cs)û."""
        return self._factors[s] * modes if s else modes
