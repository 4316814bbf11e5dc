"""What a space is: functions u_θ, the equation and the conditions on them, and the way back to θ.

Schemes ask for no more than stands here. Explicit ones need `AbstractSpace`. Implicit ones need
`AbstractLinearisedSpace`, in which around a time and a state

    L(u) = L̄c + e   inside,    g(u) = B̄c − d   on the boundary,

with matrices L̄, B̄ that are factorised, a remainder e, d that is evaluated, and unknowns c. Whether
the rows of a stage, (M − τL̄)c = right, B̄c = d, are solved as least squares over points or as the
sparse equations of a weak form is the space's own affair.
"""

import abc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Inexact

from tengbc.projection import Fit

Array = np.ndarray
Arrays = Mapping[str, Array]


@dataclass(frozen=True)
class State:
    """θ now, and for multistep schemes what they remember: arrays, newest first.

    `stages` are times and states within the step that led here, for what lies between steps.
    """

    theta: Float[Array, " p"]
    history: tuple[Float[Array, "..."], ...] = ()
    stages: tuple[tuple[float, Float[Array, " p"]], ...] = ()


class AbstractSpace(abc.ABC):
    """Functions u_θ that can be stepped: values and rates that add up, and the way back to θ."""

    @abc.abstractmethod
    def values(self, theta: Float[Array, " p"]) -> Float[Array, "n m"]:
        """What a scheme adds rates to: u_θ at the points, or coefficients that all move."""

    @abc.abstractmethod
    def rates(self, theta: Float[Array, " p"], t: float) -> Float[Array, "n m"]:
        """d/dt of `values` by the equation at time t."""

    @abc.abstractmethod
    def project(
        self,
        theta: Float[Array, " p"],
        target: Float[Array, "n m"],
        t: float,
        key: tuple[int, ...] = (),
        first: bool = False,
    ) -> Fit:
        """The θ whose values are the target and which meets the conditions of time t.

        `key` names the random choices; `first` marks the first stage of several.
        """

    @abc.abstractmethod
    def size(self, theta: Float[Array, " p"]) -> float:
        """Root mean square of u_θ, by which growth is judged."""

    @abc.abstractmethod
    def measured(
        self, theta: Float[Array, " p"], t: float, fits: Sequence[Fit]
    ) -> dict[str, float]:
        """What is worth recording after a step, by name; raises where the solution is lost."""

    # What moves during a march.

    def adapt(self, theta: Float[Array, " p"], t: float) -> Float[Array, " p"]:
        """θ of the same function, on other features if those at hand no longer suit it."""
        return theta

    def memory(self) -> Arrays:
        """Arrays from which `remember` restores the space as it is now."""
        return {}

    def remember(self, memory: Arrays) -> None:  # noqa: B027 (what has no memory restores none)
        """Restore the space from what `memory` gave."""

    def longest_step(self, theta: Float[Array, " p"], t: float) -> float:
        """The longest step that an explicit scheme is stable with, as far as is known."""
        return np.inf


class AbstractLinearisedSpace(AbstractSpace):
    """A space whose functions are linear in unknowns c, the head of θ."""

    @property
    @abc.abstractmethod
    def linear(self) -> bool:
        """Whether the remainder does not depend on u, so that nothing has to be iterated."""

    @abc.abstractmethod
    def head(self, theta: Float[Array, " p"]) -> Float[Array, " n"]:
        """The unknowns c of θ."""

    @abc.abstractmethod
    def theta(self, c: Float[Array, " n"]) -> Float[Array, " p"]:
        """θ with the unknowns c."""

    @abc.abstractmethod
    def rows(self, c: Float[Array, "... n"]) -> Float[Array, "... i"]:
        """What u contributes to the interior rows of a stage; its norm is that of u."""

    def rows_norm(self, c: Float[Array, "... n"]) -> float:
        """The norm of `rows`, over all of them wherever they are."""
        return float(np.linalg.norm(self.rows(c)))

    @abc.abstractmethod
    def linearise(self, t: float, c: Float[Array, " n"]) -> None:
        """Take the matrices L̄ and B̄ around time t and state c."""

    @abc.abstractmethod
    def remainder(
        self, c: Float[Array, " n"], t: float
    ) -> tuple[Float[Array, " i"], Float[Array, " b"]]:
        """(e, d) at time t: sources and data, and for laws that are not linear what L̄, B̄ miss."""

    @abc.abstractmethod
    def remainders(
        self, heads: Float[Array, "s n"], times: Float[Array, " s"]
    ) -> tuple[Float[Array, "s i"], Float[Array, "s b"]]:
        """(e, d) of several states, each at its time."""

    @abc.abstractmethod
    def solve(
        self, tau: complex, right: Inexact[Array, " i"], data: Inexact[Array, " b"]
    ) -> Inexact[Array, " n"]:
        """c with (M − τL̄)c = right inside and B̄c = data on the boundary."""

    @abc.abstractmethod
    def propagator(
        self,
        taus: Inexact[Array, " j"],
        shares: Inexact[Array, " j"],
        mixing: Inexact[Array, "j s"],
        weights: Inexact[Array, " j"],
    ) -> Callable[[Float[Array, " n"], Float[Array, " s"]], Float[Array, " n"]]:
        """(c, stage times) ↦ c⁺ for stages (M − τⱼL̄)Wⱼ = αⱼu + τⱼ Σᵢ βⱼᵢeᵢ, B̄Wⱼ = Σᵢ βⱼᵢdᵢ.

        α are the `shares`, β the `mixing`, and u⁺ = Re Σⱼ weightⱼ Wⱼ. For linear spaces only.
        """

    @abc.abstractmethod
    def boundary_fit(self, c: Float[Array, " n"], t: float) -> Fit:
        """The report of an implicit step: what the new state leaves of its conditions at time t."""

    @abc.abstractmethod
    def noise(self, c: Float[Array, "..."]) -> float:
        """What round-off may change of ‖rows(c)‖ from one solve to the next."""
