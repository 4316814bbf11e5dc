"""What a strategy is: a way to solve, and all that the one verified loop asks of it."""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from tengbc.costs import Cost
from tengbc.defaults import DEFAULT_TOLERANCE
from tengbc.errors import UsageError
from tengbc.geometry.points import Points
from tengbc.journal import NO_JOURNAL, Journal, Stage
from tengbc.lstsq.blocks import RowBlocks
from tengbc.networks import Network, Parameters
from tengbc.options import Options
from tengbc.problem import Problem
from tengbc.solution import Solution
from tengbc.solver.compatibility import initial_mismatch
from tengbc.solver.march import Plan, Trajectory
from tengbc.solver.sampling import boundary_points
from tengbc.timing import NO_DEADLINE, Deadline
from tengbc.types import Progress

Array = np.ndarray
COMMON = frozenset({"preset", "strategy", "t_end", "seed", "max_seconds"})
"""Options that every strategy honours."""


BLOCKS = 8
"""Blocks of rows, unless the user says otherwise."""


def row_blocks(options: Options) -> RowBlocks | None:
    """The blocks of rows that devices share; None: all rows on one host.

    This decides who does the linear algebra. On one host it is LAPACK and the BLAS of NumPy, four
    times as fast on a CPU as XLA's own products. In blocks everything that has rows is a program of
    XLA, which stays on its device whatever that is (on CPUs its QR is LAPACK's again).
    """
    if options.devices is None:
        return None
    return RowBlocks(options.blocks or BLOCKS, options.devices)


def check_blocks(options: Options) -> None:
    """Refuse what cannot be shared out, before anything is made."""
    if options.blocks is not None and options.devices is None:
        raise UsageError("blocks are what devices share out; give devices too, or leave it out.")


@dataclass(frozen=True)
class RefinementPolicy:
    """When a solution is good enough, what to refine, and when to give up."""

    attempts: int = 5
    """How many resolutions are tried before the tolerance is given up."""
    lost_attempts: int = 3
    """How many answers may diverge in a row before the problem is given up."""
    gain: float = 0.4
    """A refinement gains if it leaves less of the error than this."""
    patience: int = 1
    """After so many refinements in a row that gain nothing the tolerance is given up."""
    share: float = 0.25
    """The part of the tolerance that a step is chosen for."""
    steepest: int = 5
    """The highest order in Δt that is counted on: boundary data that move in time and interpolation
    between steps let a scheme of higher order gain little more."""
    spill: float = 1e-3
    """An error in space below this part of the error in time is not blamed on space: the same error
    in time differs by about that much from one set of features to another."""
    most_steps: int = 20_000
    """The largest number of steps, unless the user gives a dt."""
    faded: float = 1e-10
    """A solution that has fallen to this part of its largest size counts as round-off."""
    initial_layer: float = 0.05
    """The part of the time that an initial layer of incompatible data is given to spread."""
    unseen_points: int = 1024
    """Points at which an answer and its companion are compared."""


@dataclass(frozen=True)
class Applies:
    """Whether a strategy applies to a problem, and the reason as a half-sentence."""

    applies: bool
    reason: str

    def __bool__(self) -> bool:
        return self.applies


@dataclass(frozen=True)
class Task:
    """What is to be solved, by when: the problem, its options and its final time; who is told.

    `mismatch` and `drift` say how far initial and boundary data disagree and move apart at t = 0.
    `kept` is room for what a strategy keeps from march to march; it goes with the task.
    """

    problem: Problem
    options: Options
    t_end: float
    mismatch: dict[str, float]
    drift: dict[str, float]
    progress: Progress
    journal: Journal
    deadline: Deadline = NO_DEADLINE
    kept: dict[str, Any] = field(default_factory=dict, compare=False)

    @classmethod
    def of(
        cls,
        problem: Problem,
        options: Options,
        t_end: float,
        progress: Progress = lambda phase, fraction, known: None,
        journal: Journal = NO_JOURNAL,
        deadline: Deadline = NO_DEADLINE,
    ) -> Task:
        """A task, and how far its initial and boundary data disagree."""
        apart = initial_mismatch(problem, boundary_points(problem.domain, 64), t_end)
        return cls(problem, options, t_end, *apart, progress, journal, deadline)

    def stage(self, name: str) -> Stage:
        """The stage of that name, asked to end when the task's time is over."""
        return self.journal.stage(name, lambda: self.deadline.over)

    @property
    def tolerance(self) -> float:
        """The relative error to reach."""
        return self.options.rtol or self.problem.rtol or DEFAULT_TOLERANCE


@dataclass(frozen=True)
class Blame:
    """What time and space leave at the stored times, in units of the tolerance."""

    times: Float[Array, " k"]
    in_time: Float[Array, " k"]
    in_space: float


@dataclass(frozen=True)
class Solved:
    """A resolution, the march on it, the solution that came of it, and its seconds."""

    resolution: Any
    trajectory: Trajectory
    solution: Solution
    computing: float
    compiling: float


class AbstractStrategy(abc.ABC):
    """One way to solve a problem; a resolution says how finely.

    A new strategy is one file with one such class, and one line in the table of strategies.
    """

    name: ClassVar[str]
    """By which `solve(strategy=…)` and `--strategy` choose it."""
    what: ClassVar[str]
    """In a few words, for a table."""
    honours: ClassVar[frozenset[str]]
    """Options that it takes beside the common ones; any other is refused."""
    policy: ClassVar[RefinementPolicy] = RefinementPolicy()
    threads: ClassVar[int | None] = None
    """Threads of the BLAS that help its matrices; None: as many as there are."""
    measures_error: ClassVar[bool] = True
    """Whether answers are compared with companions; otherwise a strategy marches once."""
    knows_regions: ClassVar[bool] = False
    """Whether the domain may have regions with laws of their own."""

    @abc.abstractmethod
    def applies(self, problem: Problem) -> Applies:
        """Whether it can solve a problem, and why or why not."""

    def check(self, problem: Problem, options: Options) -> None:  # noqa: B027 (most take all)
        """Refuse, in a sentence, values of its own options that it cannot honour."""

    def not_taken(self, options: Options) -> list[str]:
        """The options given that are none of its own."""
        fields = Options.model_fields.items()
        given = {name for name, field in fields if getattr(options, name) != field.default}
        return sorted(given - COMMON - self.honours)

    @abc.abstractmethod
    def first(self, task: Task) -> Any:
        """The resolution to begin with."""

    @abc.abstractmethod
    def companions(self, answer: Solved) -> Mapping[str, Any]:
        """Resolutions that an answer is compared with, by name; none: the resolution before it."""

    def layer(self, task: Task) -> float:
        """The time that an initial layer of incompatible data is given to spread; 0 without one."""
        apart = max([*task.mismatch.values(), *task.drift.values()], default=0.0)
        return 0.0 if apart <= task.tolerance else self.policy.initial_layer * task.t_end

    def stages(self, task: Task) -> int:
        """Stored times per step, if what lies between steps is the polynomial of its stages."""
        return 0

    def half_steps(self, resolution: Any) -> Any | None:
        """The same with every step halved, to tell errors in time from errors in space.

        None: the strategy refines both together.
        """
        return None

    @abc.abstractmethod
    def refine(
        self, task: Task, resolution: Any, trajectory: Trajectory, blame: Blame | None
    ) -> Any | None:
        """A finer resolution; None if there is none. Without blame, all is made finer."""

    def fixed(self, options: Options) -> bool:
        """Whether the user has set the resolution, so that it is not refined."""
        return False

    def work_ratio(self, task: Task, solved: Solved, resolution: Any) -> float:
        """Work of a resolution per unit of that of one that was solved, compiling apart.

        By it the verified loop tells whether a resolution can be finished in time. The default, as
        much work again, is the least that a finer one takes.
        """
        return 1.0

    @abc.abstractmethod
    def discretise(self, task: Task, resolution: Any) -> Plan:
        """Space, scheme, steps and the fitted initial condition of a resolution."""

    @abc.abstractmethod
    def parameters(
        self, task: Task, resolution: Any, trajectory: Trajectory
    ) -> tuple[Parameters[Network], Float[Array, "k p"]]:
        """The networks of the kept states: one architecture, and θ at each time."""

    def unseen(self, problem: Problem, resolution: Any) -> Points:
        """Points of no fit, at which solutions are compared."""
        return problem.domain.interior(self.policy.unseen_points, seed=987_654_321)

    def estimate(
        self,
        task: Task,
        answer: Solved,
        companions: Mapping[str, Solved],
        distance: Distance,
        layer: float,
    ) -> Float[Array, " k"]:
        """The answer's error at its times, from its distance to the first of its companions.

        Before the time `layer` it is not what counts.
        """
        return distance(answer.solution, first_of(companions).solution)

    @property
    def advice(self) -> str:
        """What to do about a tolerance that was missed."""
        return "accept it with a larger rtol, or give a smaller dt or smoother data"

    @abc.abstractmethod
    def cost(self, problem: Problem, options: Options, t_end: float, speed: float) -> Cost:
        """Seconds, at `speed` floating-point operations a second, and bytes at the peak."""


def first_of(companions: Mapping[str, Solved]) -> Solved:
    """The companion that stands first."""
    return next(iter(companions.values()))


Distance = Callable[[Solution, Solution], Float[Array, " k"]]
"""Relative L² distance of two solutions at the times of the first."""
