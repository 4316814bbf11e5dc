"""The balance of a solution: what is stored, what came in through each segment, what was made.

    d/dt ∫u = Σ_Γ ∮_Γ (n·A∇u − n·v u) + ∫ (what is made inside),

where A multiplies the second derivatives and v is the velocity of `Transport`. All that neither
conduction nor transport brings in is made inside: sources, reactions, other terms.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from numpy.polynomial.legendre import leggauss

from tengbc.equations import AbstractEquation, Transport
from tengbc.errors import UsageError
from tengbc.optional import pyplot
from tengbc.patches.laws import Laws
from tengbc.pointwise import as_times
from tengbc.programs import Vectorised
from tengbc.types import Time

if TYPE_CHECKING:
    from tengbc.solution.solution import Solution

Array = np.ndarray
ORDER = {0: 1, 1: 40, 2: 40, 3: 16}
"""Order of the quadrature in space."""
PER_STEP = 6
"""Gauss nodes in each step of time."""
MOST_STEPS = 60
"""Of a march with more steps, several are one."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


@dataclass(frozen=True)
class Balance:
    """Since t = 0, at each of `times`: one number, or for a system one per component.

    `stored` is the change of ∫u; `through` what came in by segment; `inside` what was made; `left`
    is what these leave over, zero but for errors.
    """

    times: Float[Array, " k"]
    stored: Float[Array, "k ..."]
    through: dict[str, Float[Array, "k ..."]]
    inside: Float[Array, "k ..."]

    @property
    def left(self) -> Float[Array, "k ..."]:
        """stored − through − inside."""
        return self.stored - self.inside - sum(self.through.values())

    @property
    def closes(self) -> float:
        """The largest of what is left over, relative to the largest of all parts."""
        parts = [self.stored, self.inside, *self.through.values()]
        largest = max(float(np.max(np.abs(part))) for part in parts)
        return float(np.max(np.abs(self.left))) / largest if largest else 0.0

    def columns(self) -> dict[str, Float[Array, "k ..."]]:
        """All parts by name, in the order of a table."""
        through = {f"through {name}": part for name, part in self.through.items()}
        return {"stored": self.stored, **through, "inside": self.inside, "left over": self.left}

    def __str__(self) -> str:
        found = {
            f"{name} {k + 1}" if part.ndim > 1 else name: rows
            for name, part in self.columns().items()
            for k, rows in enumerate(part.reshape(len(part), -1).T)
        }
        width = max(12, *map(len, found)) + 2
        lines = ["t".rjust(8) + "".join(name.rjust(width) for name in found)]
        for k, t in enumerate(self.times):
            cells = (f"{rows[k]:.5e}".rjust(width) for rows in found.values())
            lines.append(f"{t:.4g}".rjust(8) + "".join(cells))
        return "\n".join([*lines, f"the balance closes to {self.closes:.1e}"])

    def plot(self, ax: Any = None) -> Any:
        """All parts over time; Matplotlib's Axes come back."""
        ax = ax if ax is not None else pyplot().subplots(layout="constrained")[1]
        for index, (name, part) in enumerate(self.columns().items()):
            for k, rows in enumerate(part.reshape(len(part), -1).T):
                style = {
                    "color": COLOURS[index % len(COLOURS)],
                    "linestyle": ("-", "--", ":")[k % 3],
                }
                ax.plot(self.times, rows, label=name if k == 0 else None, **style)
        ax.set_xlabel("t")
        ax.set_title(f"the balance closes to {self.closes:.1e}", fontsize="medium")
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False)
        return ax


def balance(solution: Solution, times: Time | Sequence[float] | Array | None = None) -> Balance:
    """What `Balance` holds, at the times asked for, else at 21 from 0 to the end."""
    problem, end = solution.problem, float(solution.times[-1])
    if times is None:
        wanted = np.linspace(0.0, end, 21)
    else:
        wanted = np.array([solution._checked_time(t) for t in as_times(times)])
    laws = problem.kept("laws of the weak form", lambda: Laws(problem))
    if laws.unknown_flux:
        raise UsageError(
            "The diffusion of this equation depends on u, so what flows through the boundary is "
            "not known as a formula; integrate solution.gradient over it with the flux of yours."
        )
    rates = _Rates(solution, laws)
    ends = solution.times[:: solution.stages or 1]
    ends = np.unique(np.append(ends[:: max(1, len(ends) // MOST_STEPS)], [0.0, end]))
    nodes, weights = leggauss(PER_STEP)
    since = {name: [np.zeros(problem.shape)] for name in (*problem.domain.segments, "")}
    marks = np.unique(np.concatenate([ends, wanted]))
    for a, b in itertools.pairwise(marks):
        found = [rates(float((a + b) / 2 + (b - a) / 2 * node)) for node in nodes]
        for name, sums in since.items():
            part = sum(w * each[name] for w, each in zip(weights, found, strict=True))
            sums.append(sums[-1] + (b - a) / 2 * part)
    rows = np.searchsorted(marks, wanted)
    sums = {name: np.stack(parts)[rows] for name, parts in since.items()}
    inside = sums.pop("")
    whole = rates.stored(np.append(0.0, wanted))
    return Balance(wanted, whole[1:] - whole[0], sums, inside)


class _Rates:
    """What comes in through each segment and what is made inside per unit of time."""

    def __init__(self, solution: Solution, laws: Laws):
        self.solution, self.laws, problem = solution, laws, solution.problem
        self.domain = problem.domain
        order = ORDER.get(self.domain.dim, 6)
        self.inside = self.domain.interior(rule="gauss", order=order)
        side = ORDER.get(self.domain.dim - 1, 6)
        self.sides = [
            self.domain.boundary(name, rule="gauss", order=side) for name in self.domain.segments
        ]
        self.flows = flows(problem.equation)

    def stored(self, times: Float[Array, " k"]) -> Float[Array, "k ..."]:
        """∫u."""
        values = self.solution.at_times(self.inside.x, times)
        return np.einsum("kn...,n->k...", values, self.inside.w)

    def __call__(self, t: float) -> dict[str, Array]:
        """By segment; what is made inside under no name."""
        rates = {points.segment: self._through(points, t) for points in self.sides}
        x, state = self.inside.x, self._state(self.inside.x, t)
        made = self.laws.made_inside(x, t, state)
        for flow in self.flows:  # what it carries is counted where it enters
            made = made + np.einsum("nd,nmd->nm", flow.at(x, t), state[1])
            made = made + flow.divergence(x, t)[:, None] * state[0]
        return {**rates, "": self._shaped(np.einsum("nm,n->m", made, self.inside.w))}

    def _through(self, points: Any, t: float) -> Array:
        x, state = points.x, self._state(points.x, t)
        flux = self.laws.conducted(x, points.normal, t, state)
        for flow in self.flows:
            speed = np.sum(flow.at(x, t) * points.normal, axis=1)
            flux = flux - speed[:, None] * state[0]
        return self._shaped(np.einsum("nm,n->m", flux, points.w))

    def _state(self, x: Float[Array, "n d"], t: float) -> tuple[Array, Array]:
        m = self.laws.components
        values = self.solution.interpolated(x, t).reshape(len(x), m)
        slopes = self.solution.interpolated(x, t, slopes=True).reshape(len(x), m, x.shape[1])
        return values, slopes

    def _shaped(self, each: Float[Array, " m"]) -> Array:
        return each.reshape(self.solution.problem.shape)


class Flow:
    """The velocity of a `Transport` term and its divergence, at points."""

    def __init__(self, term: Transport):
        velocity = lambda x, t: jnp.reshape(term.velocity(x, t), x.shape)
        self.at = Vectorised(velocity, (0, None))
        self.divergence = Vectorised(lambda x, t: jnp.trace(jax.jacfwd(velocity)(x, t)), (0, None))


def flows(equation: AbstractEquation) -> list[Flow]:
    """The flows of all `Transport` terms."""
    return [Flow(term) for term in equation.terms if isinstance(term, Transport)]
