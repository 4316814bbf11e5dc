"""The balance of a solution: what is stored, what came in through each segment, what was made.

    d/dt ∫u = Σ_Γ ∮_Γ (n·A∇u − n·v u) + ∫ (what is made inside),

where A multiplies the second derivatives and v is the velocity of `Transport`. All that neither
conduction nor transport brings in is made inside: sources, reactions, other terms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
MOST_NUMBERS = 4_000_000
"""Slopes that are held at once."""
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
    names: tuple[str, ...] = ("u",)

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
            f"{name}, {self.names[k]}" if part.ndim > 1 else name: rows
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
            "The diffusion of this equation depends on ∇u, so what flows through the boundary is "
            "not known as a formula; integrate solution.gradient over it with the flux of yours."
        )
    rates = _Rates(solution, laws)
    ends = solution.times[:: solution.stages or 1]
    ends = np.unique(np.append(ends[:: max(1, len(ends) // MOST_STEPS)], [0.0, end]))
    nodes, weights = leggauss(PER_STEP)
    marks = np.unique(np.concatenate([ends, wanted]))
    middle, half = (marks[1:] + marks[:-1]) / 2, np.diff(marks) / 2
    found = rates((middle[:, None] + half[:, None] * nodes).ravel())
    rows = np.searchsorted(marks, wanted)
    sums = {}
    for name, each in found.items():
        steps = np.einsum(
            "s,sn...,n->s...", half, each.reshape(-1, PER_STEP, *each.shape[1:]), weights
        )
        sums[name] = np.concatenate([np.zeros_like(steps[:1]), np.cumsum(steps, axis=0)])[rows]
    inside = sums.pop("")
    whole = rates.stored(np.append(0.0, wanted))
    return Balance(wanted, whole[1:] - whole[0], sums, inside, problem.naming.symbols)


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

    def __call__(self, times: Float[Array, " k"]) -> dict[str, Float[Array, "k ..."]]:
        """By segment; what is made inside under no name."""
        found = {
            points.segment: self._summed(self._through, points, times) for points in self.sides
        }
        return {**found, "": self._summed(self._made, self.inside, times)}

    def _summed(
        self, density: Callable, points: Any, times: Float[Array, " k"]
    ) -> Float[Array, "k ..."]:
        """∫ density(points, t, (u, ∇u)) at each time; features are evaluated for many at once."""
        n, d = points.x.shape
        m, many = self.laws.components, max(1, MOST_NUMBERS // (n * d * self.laws.components))
        rows = []
        for first in range(0, len(times), many):
            some = times[first : first + many].tolist()
            values = self.solution.at_checked(points.x, some).reshape(-1, n, m)
            slopes = self.solution.at_checked(points.x, some, slopes=True).reshape(-1, n, m, d)
            for t, *state in zip(some, values, slopes, strict=True):
                rows.append(points.w @ density(points, t, tuple(state)))
        return np.stack(rows).reshape(len(times), *self.solution.problem.shape)

    def _made(self, points: Any, t: float, state: tuple[Array, Array]) -> Float[Array, "n m"]:
        x = points.x
        made = self.laws.made_inside(x, t, state)
        for flow in self.flows:  # what it carries is counted where it enters
            made = made + np.einsum("nd,nmd->nm", flow.at(x, t), state[1])
            made = made + flow.divergence(x, t)[:, None] * state[0]
        return made

    def _through(self, points: Any, t: float, state: tuple[Array, Array]) -> Float[Array, "n m"]:
        flux = self.laws.conducted(points.x, points.normal, t, state)
        for flow in self.flows:
            speed = np.sum(flow.at(points.x, t) * points.normal, axis=1)
            flux = flux - speed[:, None] * state[0]
        return flux


class Flow:
    """The velocity of a `Transport` term and its divergence, at points."""

    def __init__(self, term: Transport):
        velocity = lambda x, t: jnp.reshape(term.velocity(x, t), x.shape)
        self.at = Vectorised(velocity, (0, None))
        self.divergence = Vectorised(lambda x, t: jnp.trace(jax.jacfwd(velocity)(x, t)), (0, None))


def flows(equation: AbstractEquation) -> list[Flow]:
    """The flows of all `Transport` terms; what differs by region counts as made inside."""
    return [Flow(term) for term in equation.terms if isinstance(term, Transport)]
