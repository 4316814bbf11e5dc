"""Numbers of a problem as unknowns: solve for many of them, or find them from measurements.

A *factory* is a function of numbers by name that returns a problem, `lambda kappa, h: …`. `fit`
takes Gauss–Newton steps, damped where a full one does not pay (Levenberg, Marquardt), on the solver
itself, first with coarse solutions, at the end with those of rtol. Derivatives are central
differences of solutions over a hundredth of a number, with an error of some 1e-4 and rtol/0.01 at
most: such a part of its standard error is what an estimate is moved by. What the error of the
solution itself may move it by is stated.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from tengbc.errors import DivergedError, TengbcError, UsageError
from tengbc.optional import pyplot
from tengbc.pointwise import as_points
from tengbc.problem import Problem
from tengbc.progress import shown
from tengbc.solution import Solution
from tengbc.solver.solve import solve
from tengbc.types import Progress

Array = np.ndarray
STEP = 1e-2
"""Differences are taken over this part of a number."""
TOLERANCE, COARSE = 1e-5, 1e-3
"""rtol of the solutions at the end, unless given, and at first."""
SETTLED, NEAR = 0.01, 0.2
"""A search ends once its next step would change what is computed by this part of the noise, and so
each number by no more than this part of its standard error; that with coarse solutions earlier."""
QUICK = 0.5
"""Derivatives are not taken anew while a step leaves less than this part of the squares."""
MOST_STEPS = 50
FARTHEST = 1e3
"""Times its start; a number that is larger runs away."""
LARGEST_DAMPING = 1e8
CONFIDENCE = 0.95
VAGUE = 0.5
"""A number whose standard error is more than this part of it is said not to be determined."""
Factory = Callable[..., Problem]


def solve_many(
    factory: Factory,
    parameters: Iterable[Mapping[str, float] | float | Sequence[float]],
    t_end: float | None = None,
    *,
    progress: Progress | bool | None = None,
    **choices: Any,
) -> list[Solution]:
    """Solve `factory(…)` for each set of numbers, given by name, by position, or one alone.

    The rest is as for `solve`. What one solution has compiled the next ones use; local features
    compile nothing at all.
    """
    sets = list(parameters)
    found = []
    with shown(progress) as told:
        for k, numbers in enumerate(sets):
            told(f"solution {k + 1} of {len(sets)}", k / len(sets), {})
            problem = _made(factory, numbers)
            found.append(solve(problem, t_end, progress=False, **choices))
    return found


def _made(factory: Factory, numbers: Any) -> Problem:
    if isinstance(numbers, Mapping):
        return factory(**numbers)
    return factory(*np.atleast_1d(np.asarray(numbers, dtype=float)).tolist())


@dataclass(frozen=True)
class Estimation:
    """Numbers found from measurements, how well they are known, and the solution they give.

    `values`, `errors` (standard errors) and `intervals` (95 %) are by name; `correlation` is
    between the numbers; `noise` is the standard deviation of one measurement as the residual shows
    it; `solver_errors` is how far the solver's own error can have moved each number.
    """

    values: dict[str, float]
    errors: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    correlation: Float[Array, "p p"]
    noise: float
    solver_errors: dict[str, float]
    residual: Float[Array, " n"]
    measured: Float[Array, " n"]
    times: Float[Array, " n"]
    solution: Solution
    undetermined: str
    """What the data cannot determine, in a sentence; empty where they determine all."""
    solves: int

    def __str__(self) -> str:
        width = max(map(len, self.values))
        lines = [
            f"{name:<{width}} = {value:.6g} ± {self.errors[name]:.2g}, with 95 % confidence "
            f"between {self.intervals[name][0]:.6g} and {self.intervals[name][1]:.6g}"
            for name, value in self.values.items()
        ]
        share = max(self.solver_errors[name] / self.errors[name] for name in self.values)
        lines.append(
            f"{len(self.residual)} measurements with noise near {self.noise:.2g}; the solver's "
            f"error adds at most {share:.1g} of a standard error ({self.solves} solutions)"
        )
        return "\n".join([*lines, *([self.undetermined] if self.undetermined else [])])

    def plot(self) -> Any:
        """Measured against computed values, and what is left over time; Matplotlib's Axes."""
        axes = pyplot().subplots(1, 2, figsize=(9, 4), layout="constrained")[1]
        computed = self.measured - self.residual
        ends = [min(computed.min(), self.measured.min()), max(computed.max(), self.measured.max())]
        axes[0].plot(ends, ends, color="#999999", linewidth=0.8)
        axes[0].plot(computed, self.measured, ".", color="#0072B2")
        axes[0].set_xlabel("computed")
        axes[0].set_ylabel("measured")
        found = [f"{name} = {v:.4g} ± {self.errors[name]:.1g}" for name, v in self.values.items()]
        axes[0].set_title(", ".join(found), fontsize="medium")
        axes[1].axhline(0.0, color="#999999", linewidth=0.8)
        axes[1].axhspan(-2 * self.noise, 2 * self.noise, color="#56B4E9", alpha=0.25, linewidth=0)
        axes[1].plot(self.times, self.residual, ".", color="#D55E00")
        axes[1].set_xlabel("t")
        axes[1].set_ylabel("measured − computed")
        axes[1].set_title("the band is twice the noise", fontsize="medium")
        return axes


def fit(
    factory: Factory,
    data: tuple[ArrayLike, ArrayLike, ArrayLike],
    start: Mapping[str, float],
    *,
    sigma: ArrayLike | None = None,
    component: int | str = 0,
    rtol: float = TOLERANCE,
    progress: Progress | bool | None = None,
    **choices: Any,
) -> Estimation:
    """Find the numbers of a problem that explain measurements of its solution best.

    **Arguments:**

    - `factory`: a function of the numbers, by name, that returns a problem.
    - `data`: (points, times, values). Either one value per point and time, n of each, or points
      (n, d), times (k,) and values (k, n): sensors that are read k times.
    - `start`: the numbers to begin with.
    - `sigma`: standard deviations of the values, up to a common factor; equal unless given.
    - `component`: the one measured, of a system, by name or number.
    - `rtol` and other options of `solve`.
    """
    names = tuple(start)
    if not names:
        raise UsageError("start names no numbers to look for; give one such as {'kappa': 0.1}.")
    begin = np.array([float(start[name]) for name in names])
    first = factory(**dict(zip(names, begin.tolist(), strict=True)))
    table = _Measurements(data, first.domain.dim, sigma, first.naming.index(component))
    if table.count <= len(names):
        raise UsageError(
            f"{table.count} measurements cannot tell {len(names)} numbers and their errors; give "
            f"more of them, or look for fewer numbers."
        )
    with shown(progress) as told:
        search = _Search(factory, names, table, begin, choices, told)
        try:
            near, *_ = search.minimised(begin, max(rtol, COARSE), NEAR)
            return search.estimated(*search.minimised(near, rtol, SETTLED))
        except DivergedError as error:  # most often because nothing holds a number back
            raise DivergedError(" ".join(filter(None, [str(error), search.unknown]))) from None


class _Measurements:
    """Values at points and times, gathered by time, and what each is worth."""

    def __init__(self, data: Any, dim: int, sigma: ArrayLike | None, component: int):
        try:
            x, t, values = data
        except (TypeError, ValueError):
            raise UsageError("data must be (points, times, values); give these three.") from None
        points = np.atleast_2d(as_points(x, dim))
        times, values = np.atleast_1d(np.asarray(t, float)), np.asarray(values, float)
        if values.ndim == 2 and values.shape == (len(times), len(points)):
            points = np.tile(points, (len(times), 1))
            times, values = np.repeat(times, values.shape[1]), values.ravel()
        if not points.shape[0] == times.size == values.size or values.ndim != 1:
            raise UsageError(
                f"There are {len(points)} points, {times.size} times and values of shape "
                f"{values.shape}; give as many of each, or values of shape (times, points)."
            )
        if not (np.isfinite(values).all() and np.isfinite(times).all()):
            raise UsageError("Some measurements are not finite; leave them out.")
        self.points, self.times, self.values, self.component = points, times, values, component
        self.count = values.size
        given = np.ones(()) if sigma is None else np.asarray(sigma, float)
        if np.any(given <= 0) or given.size not in (1, self.count):
            raise UsageError("sigma must be positive, one number or one for each value.")
        self.weights = np.broadcast_to((1.0 / given).ravel(), (self.count,))
        self.end = float(times.max())

    def of(self, solution: Solution) -> Float[Array, " n"]:
        """The solution where and when it was measured."""
        found = np.empty(self.count)
        distinct, where = np.unique(self.times, return_inverse=True)
        for k, t in enumerate(distinct):
            rows = where == k
            values = np.asarray(solution(self.points[rows], t))
            found[rows] = values.reshape(len(values), -1)[:, self.component]
        return found


class _Search:
    """Solutions for numbers, their residuals and derivatives, and the steps that use them."""

    def __init__(
        self,
        factory: Factory,
        names: tuple[str, ...],
        table: _Measurements,
        begin: Float[Array, " p"],
        choices,
        told,
    ):
        self.factory, self.names, self.table = factory, names, table
        self.choices, self.told, self.solves, self.rtol = choices, told, 0, COARSE
        self.scale = np.where(begin != 0, np.abs(begin), 1.0)
        self.unknown = ""
        """What the latest derivatives say the data do not determine."""

    def solved(self, numbers: Float[Array, " p"]) -> Solution:
        self.told(f"fit: solution {self.solves + 1}", 0.0, {})
        self.solves += 1
        problem = self.factory(**dict(zip(self.names, numbers.tolist(), strict=True)))
        end = max(self.table.end, problem.t_end or 0.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the same ones, dozens of times
            solution = solve(
                problem, end, rtol=self.rtol, throw=False, progress=False, **self.choices
            )
        if solution.result.outcome.verdict == "bad" or solution.times[-1] < self.table.end:
            raise DivergedError(
                f"With {self._text(numbers)} the problem cannot be solved ({solution.result}), so "
                f"the fit ends there; begin elsewhere, or look for fewer numbers."
            )
        return solution

    def computed(self, numbers: Float[Array, " p"]) -> tuple[Solution, Float[Array, " n"]]:
        """A solution and its values where it was measured."""
        solution = self.solved(numbers)
        return solution, self.table.of(solution)

    def jacobian(
        self, numbers: Float[Array, " p"], known: Float[Array, " n"]
    ) -> Float[Array, "n p"]:
        """∂u/∂p where it was measured, by central differences; one-sided at a limit.

        `known` are the values for the numbers themselves. Of coarse solutions one-sided ones do.
        """
        columns = []
        for k in range(len(numbers)):
            step = np.zeros(len(numbers))
            step[k] = STEP * max(abs(numbers[k]), 1e-3 * self.scale[k])
            ends = []
            for side in (1.0, -1.0):
                if ends and ends[0][0] and self.rtol >= COARSE:
                    break
                try:
                    ends.append((side, self.computed(numbers + side * step)[1]))
                except UsageError:  # the number would be beyond what the problem allows
                    ends.append((0.0, known))
            (first, one), (second, other) = [*ends, (0.0, known)][:2]
            columns.append((one - other) / ((first - second) * step[k]))
        return np.stack(columns, axis=1)

    def minimised(
        self, begin: Float[Array, " p"], rtol: float, settled: float
    ) -> tuple[Float[Array, " p"], Solution, Float[Array, " n"], Float[Array, "n p"]]:
        """The numbers of least squares, the solution, its values, their weighted derivatives."""
        self.rtol, slopes = rtol, None
        weights, measured = self.table.weights, self.table.values
        numbers, damping = begin, 1e-3
        solution, values = self.computed(numbers)
        left = weights * (measured - values)
        for _ in range(MOST_STEPS):
            if slopes is None:
                slopes = weights[:, None] * self.jacobian(numbers, values)
                self.unknown = self._undetermined(numbers, slopes, left) or self.unknown
            full = _damped(slopes, left, 0.0)
            if np.linalg.norm(slopes @ full) <= settled * _noise(slopes, left):
                return numbers, solution, values, slopes
            while damping < LARGEST_DAMPING:
                step = _damped(slopes, left, damping)
                try:
                    tried, its_values = self.computed(numbers + step)
                    its_left = weights * (measured - its_values)
                    if its_left @ its_left <= left @ left:
                        break
                except TengbcError:  # beyond what the problem allows, or cannot be solved
                    pass
                damping = max(10 * damping, 1e-3)
            else:
                return numbers, solution, values, slopes  # no step pays: this is the least
            far = np.linalg.norm(slopes @ step) > _noise(slopes, left)
            pays = its_left @ its_left < QUICK * (left @ left)
            if not far or (pays and rtol >= COARSE):
                # Broyden: the derivatives that explain this step, otherwise as they were.
                part = step / np.where(numbers != 0, numbers, 1.0) ** 2
                change = left - its_left - slopes @ step
                slopes = slopes + np.outer(change, part) / (part @ step)
            else:
                slopes = None
            numbers, solution, values, left = numbers + step, tried, its_values, its_left
            if (np.abs(numbers) > FARTHEST * self.scale).any():
                raise DivergedError(
                    f"The fit runs away, to {self._text(numbers)}: nothing in the data holds it "
                    f"back; give more of them, begin nearer, or look for fewer numbers."
                )
            damping = damping / 10 if damping > 1e-6 else 0.0
        raise DivergedError(
            f"The fit has not settled after {MOST_STEPS} steps, at {self._text(numbers)}; begin "
            f"nearer, or look for fewer numbers."
        )

    def _text(self, numbers: Float[Array, " p"]) -> str:
        return ", ".join(f"{n} = {v:.4g}" for n, v in zip(self.names, numbers, strict=True))

    def estimated(
        self,
        numbers: Float[Array, " p"],
        solution: Solution,
        values: Float[Array, " n"],
        slopes: Float[Array, "n p"],
    ) -> Estimation:
        """What the residual and the derivatives say about the numbers."""
        from scipy.stats import t as student

        weights, measured = self.table.weights, self.table.values
        left = weights * (measured - values)
        errors = _standard_errors(slopes, left)
        half = float(student.ppf((1 + CONFIDENCE) / 2, len(left) - len(numbers))) * errors
        spread = np.linalg.pinv(slopes.T @ slopes)
        sizes = np.sqrt(np.diagonal(spread))
        known = solution.error_estimate[np.isfinite(solution.error_estimate)]
        miss = float(known.max()) * float(np.sqrt(np.mean(values**2))) if known.size else np.nan
        moved = miss * np.linalg.norm(np.linalg.pinv(slopes), axis=1) * np.linalg.norm(weights)
        by_name = lambda found: dict(zip(self.names, found, strict=True))
        return Estimation(
            by_name(numbers.tolist()),
            by_name(errors.tolist()),
            by_name(list(zip((numbers - half).tolist(), (numbers + half).tolist(), strict=True))),
            spread / np.outer(sizes, sizes),
            _noise(slopes, left) / float(np.mean(weights)),
            by_name(moved.tolist()),
            measured - values,
            measured,
            self.table.times,
            solution,
            self._undetermined(numbers, slopes, left),
            self.solves,
        )

    def _undetermined(self, numbers, slopes, left) -> str:
        """The direction, in parts of the numbers, that the data know least about."""
        relative = slopes * np.where(numbers != 0, numbers, 1.0)
        noise = _noise(slopes, left)
        _, shares, directions = np.linalg.svd(relative, full_matrices=False)
        if noise <= VAGUE * shares[-1]:
            return ""
        worst = directions[-1] / np.max(np.abs(directions[-1]))
        parts = [(n, w) for n, w in zip(self.names, worst, strict=True) if abs(w) > 0.1]
        if len(parts) == 1:
            return f"The data do not determine {parts[0][0]}: they hardly change with it."
        sign = np.sign(parts[0][1])
        changes = " and ".join(f"{name} by {10 * w * sign:+.0f} %" for name, w in parts)
        return (
            f"The data do not determine {', '.join(n for n, _ in parts)} one by one: changing "
            f"{changes} together hardly changes them."
        )


def _damped(slopes: Float[Array, "n p"], left: Float[Array, " n"], damping: float) -> Array:
    """The least-squares step, each number held back by √damping of its own slopes."""
    norms = np.linalg.norm(slopes, axis=0)
    units = np.where(norms > 0, norms, 1.0)
    rows = np.concatenate([slopes / units, np.sqrt(damping) * np.eye(len(units))])
    right = np.concatenate([left, np.zeros(len(units))])
    return np.linalg.lstsq(rows, right, rcond=None)[0] / units


def _standard_errors(slopes: Float[Array, "n p"], left: Float[Array, " n"]) -> Array:
    """s·√diag (JᵀJ)⁻¹ with s² = |r|²/(n − p); infinite where the data say nothing.

    With J = U·S·Vᵀ after its columns are made units, diag (JᵀJ)⁻¹ = Σ (V/S)², in units again.
    """
    norms = np.linalg.norm(slopes, axis=0)
    units = np.where(norms > 0, norms, 1.0)
    _, sizes, directions = np.linalg.svd(slopes / units, full_matrices=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.where(directions == 0, 0.0, directions / sizes[:, None])
    return _noise(slopes, left) * np.sqrt(np.sum(spread**2, axis=0)) / units


def _noise(slopes: Float[Array, "n p"], left: Float[Array, " n"]) -> float:
    """s, with s² = |r|²/(n − p)."""
    return float(np.linalg.norm(left) / np.sqrt(len(left) - slopes.shape[1]))
