"""Waves of a map that moves with the solution on a periodic box: potential and head march alike.

u(x) = Σ_k û_k exp(i k·y) with x = y + ∇φ(y). The parameters are the potential φ, a Fourier series
too (the body), and û (the linear head). Both move at once: φ so that equal cells in y hold equal
parts of a monitor of |∇u|, û so that the equation holds. There are more waves when the shortest
fill up: nothing is fitted anew, zeros are added to θ.
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from jaxtyping import Complex, Float

from tengbc.errors import DivergedError, NonFiniteError
from tengbc.fourier import box_lattice
from tengbc.networks.potential import table_shape
from tengbc.problem import Problem
from tengbc.projection import Fit
from tengbc.spaces.deformed_rates import MonitorOptions, Rates
from tengbc.spaces.interface import AbstractSpace, Arrays

Array = np.ndarray
SIZES = (32, 48, 64, 96, 128, 160, 192, 224, 256, 320, 384, 512)
"""Points per axis to choose from, good for the transform."""
RESPONSE = 80.0
"""The rate at which the deformation follows the solution, per rate at which the latter changes."""
EARLIEST = 0.25
"""Errors add up, so less of a tail is allowed early on: the part (t/T)², but at least EARLIEST²."""
RELAXATIONS = 100
"""Iterations that suit the deformation to the initial values."""
LIMIT = 10.0
"""|λ|Δt of a step of SSP104. It bears 13.9 on the real axis, but |λ| grows until the next look."""
ITERATIONS, SETTLED = 40, 0.02
"""Steps of the power method for |λ| at most, and the part of |λ| that the last may change."""
SHORT = 1e-7
"""The part of θ by which it is moved to see how its rates change."""
SHORTEST_STEP = 1e-9
"""A march that needs steps shorter than this part of the time is given up."""


class DeformedSpace(AbstractSpace):
    """θ = (φ, û, 0) as tables of coefficients, all of it moved by one equation.

    `tail_limit` is the part of u that the shortest waves may hold at the time `end` before there
    are more of them; `least` gives the fewest points per axis at a time.
    """

    def __init__(
        self,
        problem: Problem,
        tail_limit: float,
        end: float,
        least: Callable[[float], int] = lambda t: SIZES[0],
        monitor: MonitorOptions | None = None,
    ):
        self.problem, self.tail_limit, self.least = problem, tail_limit, least
        self.end, self.monitor = end, monitor or MonitorOptions()
        # A run cut short is as accurate as the whole one.
        self.natural_end = max(end, problem.t_end or 0.0)
        self.points, self.scale, self.rate = SIZES[0], 1.0, 0.0
        self.fastest: Float[Array, " p"] = np.zeros(0)  # the direction that decays fastest

    @property
    def _rates(self) -> Rates:
        return rates_on(self.problem, self.points, self.monitor)

    @property
    def _control(self) -> tuple[float, float]:
        return self.scale, self.rate

    # The start.

    def start(self) -> Float[Array, " p"]:
        """θ of the initial values on the smallest lattice that holds them, suitably deformed."""
        allowed, first = self.tail_limit * EARLIEST**2, self.least(0.0)
        sizes = [n for n in SIZES if n >= first] or [SIZES[-1]]
        for n in sizes:
            lattice = box_lattice(self.problem.domain, n)
            values = self.problem.initial(lattice.points.reshape(lattice.dim, -1).T)
            if not np.isfinite(values).all():
                raise NonFiniteError("The initial condition is not finite everywhere; correct it.")
            fields = values.reshape(lattice.size, -1).T.reshape(-1, *lattice.shape)
            plain = lattice.forward(fields) * lattice.kept
            if lattice.tail(plain) > allowed and n < sizes[-1]:
                continue
            self.points, self.scale = n, float(np.ptp(values)) or 1.0
            modes, potential = self._deformed_start(plain)
            if lattice.tail(modes) <= allowed or n == sizes[-1]:
                break
        return self._rates.theta(modes, potential)

    def _deformed_start(
        self, plain: Complex[Array, "m ..."]
    ) -> tuple[Complex[Array, "m ..."], Complex[Array, "..."]]:
        """The initial values in coordinates that suit them; `plain` is their spectrum in x."""
        rates = self._rates
        potential = np.zeros(plain.shape[1:], complex)
        slope, _ = rates(plain, potential, 0.0, (self.scale, 0.0))
        speed = np.abs(rates.lattice.backward(slope)).max()
        self.rate = max(RESPONSE * float(speed) / self.scale, 10 / self.end)
        for _ in range(RELAXATIONS):
            potential = rates.relaxed(potential, self._control)
        return rates.initial(potential), potential

    # What a scheme asks.

    def values(self, theta: Float[Array, " p"]) -> Float[Array, "p 1"]:
        return theta[:, None]

    def rates(self, theta: Float[Array, " p"], t: float) -> Float[Array, "p 1"]:
        return self._rates.of_theta(theta, t, self._control)[:, None]

    def project(self, theta, target, t, key=(), first=False) -> Fit:
        """Waves are orthogonal on the lattice and have no boundary: the target is θ."""
        return Fit(target[:, 0], 0.0, 0.0, 1.0, iterations=1)

    def size(self, theta: Float[Array, " p"]) -> float:
        modes, _ = self._rates.spectra(theta)
        lattice = self._rates.lattice
        energy = lattice.energy_weights * np.abs(modes / lattice.size) ** 2
        return float(np.sqrt(np.sum(energy)))

    def measured(
        self, theta: Float[Array, " p"], t: float, fits: Sequence[Fit]
    ) -> dict[str, float]:
        compression, cell, _ = self._rates.health(theta)
        if not (math.isfinite(compression) and np.isfinite(theta).all()):
            raise NonFiniteError(
                f"The march of deformed waves met NaN or infinity by t = {t:.6g}; the equation "
                f"({self.problem.equation.formula}) is not finite there, or the problem is "
                f"ill-posed."
            )
        if cell <= 0:
            raise DivergedError(
                f"the deformation folded over at t = {t:.6g}; take a larger rtol or a smaller dt."
            )
        waves = math.prod(table_shape(self._rates.lattice))
        return {"spectrum_tail": self.tail(theta), "waves": waves, "compression": compression}

    def tail(self, theta: Float[Array, " p"]) -> float:
        """The part of u in its shortest waves."""
        return self._rates.lattice.tail(self._rates.spectra(theta)[0])

    def longest_step(self, theta: Float[Array, " p"], t: float) -> float:
        """By the power method for the fastest rate |λ|, from the direction of the last look."""
        direction, rate = self.fastest, self.rates(theta, t)[:, 0]
        if len(direction) != len(theta):
            direction = np.random.default_rng(0).normal(size=len(theta))
        apart = SHORT * max(float(np.linalg.norm(theta)), SHORT)
        found = 0.0
        for _ in range(ITERATIONS):
            before, unit = found, direction / max(float(np.linalg.norm(direction)), 1e-300)
            direction = (self.rates(theta + apart * unit, t)[:, 0] - rate) / apart
            found = float(np.linalg.norm(direction))
            if not abs(found - before) > SETTLED * found:
                break
        self.fastest = direction
        longest = LIMIT / found if found > 0 else np.inf
        if not longest > SHORTEST_STEP * self.end:
            raise DivergedError(
                f"the march of deformed waves would need steps of {longest:.1e} at t = {t:.6g}; "
                f"the solution has become too steep for it."
            )
        return longest

    # What moves during a march.

    def adapt(self, theta: Float[Array, " p"], t: float) -> Float[Array, " p"]:
        """Add waves if the shortest hold too much, or if `least` asks for more."""
        self.scale = max(self.scale, self._rates.health(theta)[2])
        allowed = self.tail_limit * max(t / self.natural_end, EARLIEST) ** 2
        least = self.least(t)
        larger = [n for n in SIZES if n >= max(self.points + 1, least)]
        if not larger or (self.points >= least and self.tail(theta) <= allowed):
            return theta
        before, spectra = self._rates.lattice, self._rates.spectra(theta)
        self.points = larger[0]
        finer = self._rates.lattice
        return self._rates.theta(*(before.resample(each, finer) for each in spectra))

    def memory(self) -> Arrays:
        control = np.array([self.points, self.scale, self.rate])
        return {"control": control, "fastest": self.fastest}

    def remember(self, memory: Arrays) -> None:
        points, self.scale, self.rate = memory["control"].tolist()
        self.points, self.fastest = int(points), np.array(memory["fastest"])


@lru_cache(maxsize=2 * len(SIZES))
def rates_on(problem: Problem, points: int, monitor: MonitorOptions) -> Rates:
    """Kept, so that what one march has prepared serves the next."""
    return Rates(problem, box_lattice(problem.domain, points), monitor)
