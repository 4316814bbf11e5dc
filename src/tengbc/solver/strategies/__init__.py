"""The strategies, and which one a problem gets.

| strategy | what it is | taken by itself |
| --- | --- | --- |
| deformed-waves | waves that follow fronts on a periodic box, explicit in time | nonlinear equations of at most second order on periodic boxes of up to three dimensions |
| local-features | polynomials on patches that the domain cuts, coupled in the energy metric | equations of at most second order on domains of up to three dimensions with a boundary, flat faces or a ball |
| moving-features | waves and points that follow a front along an interval | other nonlinear equations on an interval |
| frozen-features | one basis of waves chosen by the initial values, implicit in time | everything else |
| paper | the published method: a deep network, all of whose parameters march | never: `strategy="paper"`, or `preset="paper"` |

The first that applies is taken: the order of the table is that of `STRATEGIES`. An option that the
strategy at hand does not take is refused; it never changes the strategy.
"""  # noqa: E501

from dataclasses import dataclass

from tengbc.errors import UsageError
from tengbc.options import Options, nearest, options
from tengbc.problem import Problem
from tengbc.solver.strategies.base import AbstractStrategy as AbstractStrategy
from tengbc.solver.strategies.base import Applies
from tengbc.solver.strategies.deformed_waves import DeformedWavesStrategy
from tengbc.solver.strategies.frozen_features import FrozenFeatures
from tengbc.solver.strategies.local_features import LocalFeatures
from tengbc.solver.strategies.moving_features import MovingFeatures
from tengbc.solver.strategies.paper import Paper

STRATEGIES: list[AbstractStrategy] = [
    DeformedWavesStrategy(),
    LocalFeatures(),
    MovingFeatures(),
    FrozenFeatures(),
]
"""In the order in which they are asked."""
ON_REQUEST: list[AbstractStrategy] = [Paper()]
"""Taken only by name."""


@dataclass(frozen=True)
class Selection:
    """The strategy that a problem gets, and why."""

    strategy: AbstractStrategy
    reason: str

    def __str__(self) -> str:
        return f"{self.strategy.name}: {self.strategy.what} ({self.reason})"


def add_strategy(strategy: AbstractStrategy, first: bool = True) -> AbstractStrategy:
    """Make a strategy of your own known, to be asked before all others or only by name."""
    if strategy.name in (known.name for known in (*STRATEGIES, *ON_REQUEST)):
        raise UsageError(f"There is a strategy {strategy.name!r} already; choose another name.")
    if first:
        STRATEGIES.insert(0, strategy)
    else:
        ON_REQUEST.append(strategy)
    return strategy


def checked_strategy(problem: Problem, chosen: Options) -> AbstractStrategy:
    """The strategy that a problem gets, which takes all options given; else they are refused."""
    strategy = select_strategy(problem, chosen).strategy
    for option in strategy.not_taken(chosen):
        others = (*STRATEGIES, *ON_REQUEST)
        takers = [s.name for s in others if option in s.honours and _applies(s, problem)]
        instead = f", or choose strategy={takers[0]!r}, which does" if takers else ""
        raise UsageError(
            f"The strategy {strategy.name} ({strategy.what}) does not take the option {option}; "
            f"leave it out{instead}. Its own options: {', '.join(sorted(strategy.honours))}."
        )
    strategy.check(problem, chosen)
    return strategy


def _applies(strategy: AbstractStrategy, problem: Problem) -> Applies:
    if problem.domain.region_names and not strategy.knows_regions:
        return Applies(False, "it knows no regions, which local-features does")
    return strategy.applies(problem)


def select_strategy(problem: Problem, chosen: Options | None = None) -> Selection:
    """The strategy that `solve` takes for a problem, and the reason as a half-sentence."""
    chosen = options() if chosen is None else chosen
    name = chosen.strategy or ("paper" if chosen.preset == "paper" else None)
    if name is None:
        for strategy in STRATEGIES:
            found = _applies(strategy, problem)
            if found:
                return Selection(strategy, found.reason)
        if problem.domain.region_names:
            reason = LocalFeatures().applies(problem).reason
            raise UsageError(
                f"Regions are solved by the strategy local-features, which does not apply: "
                f"{reason}; state one equation without regions, its coefficients functions of x."
            )
        raise UsageError("No strategy applies to this problem; name one with strategy=….")
    known = {strategy.name: strategy for strategy in (*STRATEGIES, *ON_REQUEST)}
    if name not in known:
        raise UsageError(f"There is no strategy {name!r}; {nearest(name, tuple(known))}.")
    found = _applies(known[name], problem)
    if not found:
        raise UsageError(
            f"The strategy {name} does not apply: {found.reason}; choose another, or leave the "
            f"choice to select_strategy."
        )
    return Selection(known[name], "asked for by name")
