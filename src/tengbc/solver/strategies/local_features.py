"""Local features: patches cut by the domain, coupled in the energy metric, refined by errors."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from jaxtyping import Float

from tengbc.costs import Cost
from tengbc.equations.local import needed_derivatives
from tengbc.errors import UsageError
from tengbc.interpolation import within_step
from tengbc.networks import Network, Parameters, polynomials
from tengbc.options import Options
from tengbc.patches import refinement
from tengbc.patches.cells import Cell, Grid
from tengbc.patches.cutting import CutCells
from tengbc.patches.form import Coefficients
from tengbc.patches.laws import Laws
from tengbc.patches.patches import Patches
from tengbc.problem import Problem
from tengbc.schemes.radau import RadauIIA
from tengbc.solver.march import Plan, Trajectory
from tengbc.solver.sampling import initial_values
from tengbc.solver.steps import AdaptedSteps
from tengbc.solver.strategies.base import (
    AbstractStrategy,
    Applies,
    Blame,
    Distance,
    RefinementPolicy,
    Solved,
    Task,
)
from tengbc.spaces import State
from tengbc.spaces.energy import EnergySpace
from tengbc.spaces.reduced import reduced

Array = np.ndarray
STEP_SHARES = {3: 0.15, 5: 0.5}
"""The error that a step may have in units of the tolerance, by its stages: as estimated, which is
ten times too much or more, and more with more stages."""
GROWTH = 4
"""By which steps become longer where each length needs factorisations, which cost some 20 steps."""
TIME_TAIL = 0.25
"""If the companion's own features hold less than this part of its distance, steps are to blame."""
SHORTER = 0.1
"""Step errors after steps were to blame."""
COMPANION_STEPS = 0.1
"""Step errors of a companion, as part of those of its answer."""
HIGH_ORDER, HIGH_ORDER_CARRIED = 3e-6, 3e-3
"""For smaller tolerances steps have five stages instead of three; where u is carried along, errors
in time do not die out, and more stages pay sooner."""
STAGE_SHARE = 0.01
"""To which part of a step's error its stages are iterated on."""
REDUCED_SHARE = 0.1
"""What a few directions may miss, as part of a step's error."""
LAYER_STEPS = 6
"""Steps through an initial layer."""
FIRST_STEPS = 16
"""The first step is this part of the time, unless it is refused."""
AGREEMENT = 0.01
"""How far initial values and conditions of a smooth problem may disagree, as part of rtol."""
SOURCE_TIMES = 5
"""Times at which sources are looked at before the first march."""
INITIAL_SHARE, SOURCE_SHARE = 0.3, 3.0
"""What may be missed of initial values and sources, in units of the tolerance: u is smoother than
its source."""
INITIAL_POINTS = 4096
"""Points at which initial values are looked at before the first march."""
ASSUMED_WORK = 3e10
"""Floating-point operations of an ordinary problem at engineering accuracy."""
FAINTEST = 1e-150
"""Of a field that has fallen below this no digit is known: its squares are no numbers."""
MOST_UNKNOWNS = 40_000
"""With more unknowns than this a resolution is not tried."""


@dataclass(frozen=True)
class PatchResolution:
    """How finely: leaves with their degrees, and the error that a step may have."""

    leaves: tuple[tuple[Cell, int], ...]
    step_tolerance: float


@final
class LocalFeatures(AbstractStrategy):
    """Polynomials on patches of a tree, in the weak form; steps as long as their errors allow."""

    name = "local-features"
    what = "polynomials on patches that the domain cuts, coupled in the energy metric"
    honours = frozenset({"rtol"})
    policy = RefinementPolicy(attempts=12, gain=0.9, patience=3)

    def applies(self, problem: Problem) -> Applies:
        if problem.domain.periodic or problem.domain.dim > 2:
            return Applies(False, "patches cover domains with a boundary in one or two dimensions")
        try:
            needed_derivatives(problem.equation, problem.domain.dim, problem.shape)
        except UsageError:
            return Applies(False, "the equation has derivatives of third order or more")
        refusal = _laws(problem).refusal
        return Applies(not refusal, refusal or "a second-order equation in one or two dimensions")

    def first(self, task: Task) -> PatchResolution:
        work, tolerance = _workshop(task), task.tolerance
        leaves = work.first_leaves(task)
        share = STEP_SHARES[self.stages(task)]
        return PatchResolution(tuple(sorted(leaves.items())), share * tolerance)

    def companion(self, resolution: PatchResolution) -> PatchResolution:
        """The same patches with two degrees more, and steps of a tenth of the error.

        One degree more would add nothing to a field that is even, or odd, about a patch's middle.
        """
        richer = tuple((cell, degree + 2) for cell, degree in resolution.leaves)
        return PatchResolution(richer, COMPANION_STEPS * resolution.step_tolerance)

    def layer(self, task: Task) -> float:
        """Also where initial values are not smooth, or zero: no error is relative to them."""
        rough = _workshop(task).rough
        return self.policy.initial_layer * task.t_end if rough else super().layer(task)

    def stages(self, task: Task) -> int:
        carried = _workshop(task).carried(task)
        return 5 if task.tolerance < (HIGH_ORDER_CARRIED if carried else HIGH_ORDER) else 3

    def discretise(self, task: Task, resolution: PatchResolution) -> Plan:
        work = _workshop(task)
        space = work.space(resolution)
        if not space.linear:  # an earlier march may have used it: a resumed one has not
            space.begin()
        start = State(space.fitted(task.problem.initial, task.tolerance))
        layer, end, stages = self.layer(task), task.t_end, self.stages(task)
        first = layer / LAYER_STEPS if layer else end / FIRST_STEPS
        marched = space
        if not space.by_modes:
            missed = REDUCED_SHARE * resolution.step_tolerance
            few = reduced(space, space.head(start.theta), end, layer or first, missed)
            marched = few or space
        growth = 2 if marched.by_modes else GROWTH
        steps = AdaptedSteps(end, first, resolution.step_tolerance, stages + 1, growth, layer)
        scheme = RadauIIA(stages, True, STAGE_SHARE * resolution.step_tolerance)
        facts = {
            "scheme": scheme.name,
            "patches": len(space.patches),
            "features": space.form.size,
            "parameters": len(space.parameters),
            "interior_points": len(space.form.within),
            "boundary_points": len(space.form.boundary),
        }
        return Plan(marched, scheme, steps, start, space.parameters.network, facts)

    def parameters(
        self, task: Task, resolution: PatchResolution, trajectory: Trajectory
    ) -> tuple[Parameters[Network], Float[Array, "k p"]]:
        space = _workshop(task).space(resolution)
        return space.parameters, np.stack(trajectory.thetas)

    def estimate(
        self, task: Task, answer: Solved, companion: Solved, distance: Distance, layer: float
    ) -> Float[Array, " k"]:
        """‖u − ũ‖/‖ũ‖, exactly: the features of an answer are among those of its companion."""
        return _workshop(task).compared(answer, companion, layer)

    def refine(
        self,
        task: Task,
        resolution: PatchResolution,
        trajectory: Trajectory,
        blame: Blame | None,
    ) -> PatchResolution | None:
        work = _workshop(task)
        if work.faded:
            return None
        if work.steps_to_blame(resolution):
            return PatchResolution(resolution.leaves, SHORTER * resolution.step_tolerance)
        leaves = work.refined(task, resolution)
        share = 1.0 if leaves != dict(resolution.leaves) else SHORTER
        finer = PatchResolution(tuple(sorted(leaves.items())), share * resolution.step_tolerance)
        size = _unknowns(task.problem.domain.dim, finer) * (task.problem.components or 1)
        return finer if size <= MOST_UNKNOWNS else None

    def work_ratio(self, task: Task, solved: Solved, resolution: PatchResolution) -> float:
        """Sparse factors go with n in one dimension and n³ᐟ² in two; steps with their errors."""
        dim, order = task.problem.domain.dim, self.stages(task) + 1
        unknowns = [_unknowns(dim, one) for one in (resolution, solved.resolution)]
        errors = solved.resolution.step_tolerance / resolution.step_tolerance
        return (unknowns[0] / unknowns[1]) ** ((dim + 1) / 2) * errors ** (1 / order)

    @property
    def advice(self) -> str:
        return "accept it with a larger rtol, or give smoother data"

    def cost(self, problem: Problem, options: Options, t_end: float, speed: float) -> Cost:
        """Not known beforehand, as patches follow the errors: that of an ordinary problem."""
        return Cost(ASSUMED_WORK / speed, 4e8, "the number of digits that rtol asks for")


class _Workshop:
    """What the marches of one task share: laws, cut cells, spaces, and errors patch by patch."""

    def __init__(self, problem: Problem):
        self.laws = _laws(problem)
        self.cut = CutCells(problem.domain, Grid.over(*map(np.asarray, problem.domain.bounds)))
        self._spaces: dict[PatchResolution, EnergySpace] = {}
        self._errors: dict[PatchResolution, tuple[Array, Array]] = {}
        self._tails: dict[PatchResolution, float] = {}
        """The part of each answer's error that its companion's own features hold."""
        self._shortened: set[tuple] = set()
        """Leaves for which steps were to blame before."""
        self.rough = self.faded = False

    def space(self, resolution: PatchResolution) -> EnergySpace:
        """The space of a resolution; the last two are kept."""
        if resolution not in self._spaces:
            while len(self._spaces) >= 2:
                del self._spaces[next(iter(self._spaces))]
            patches = Patches(self.cut, dict(resolution.leaves))
            self._spaces[resolution] = EnergySpace(self.laws, patches)
        return self._spaces[resolution]

    def first_leaves(self, task: Task) -> dict[Cell, int]:
        problem, laws = task.problem, self.laws
        values = initial_values(problem, problem.domain.interior(INITIAL_POINTS))
        fields = [(problem.initial, INITIAL_SHARE)]
        if laws.equation_structure.affine:
            times = np.linspace(0.0, task.t_end, SOURCE_TIMES)
            if laws.equation_structure.constant_offset:
                times = times[:1]
            fields += [(lambda x, t=float(t): laws.density(x, t), SOURCE_SHARE) for t in times]
        # Data that move apart have done so by some part when the layer has settled.
        share = LocalFeatures.policy.initial_layer
        apart = {s: max(task.mismatch[s], share * task.drift[s]) for s in task.mismatch}
        layers = frozenset(s for s, by in apart.items() if by > task.tolerance)
        corners = [] if _smooth(task) else refinement.singular_points(problem)
        leaves = refinement.at_first(
            self.cut, corners, fields, layers, task.tolerance, self.smoothed(task)
        )
        missed = refinement.missed(self.cut, leaves, problem.initial)
        self.rough = not np.any(values) or missed > task.tolerance
        return leaves

    @cached_property
    def coefficients(self) -> Coefficients:
        """The equation's coefficients at some points, around the initial values."""
        problem = self.laws.problem
        x = problem.domain.interior(64).x
        state = None
        if not self.laws.equation_structure.affine:
            values = problem.initial(x).reshape(len(x), -1)
            state = values, np.zeros((*values.shape, x.shape[1]))
        return self.laws.coefficients(x, 0.0, state)

    def smoothed(self, task: Task) -> float:
        """The length that diffusion smooths by the time an initial layer has settled."""
        kappa = float(np.abs(self.coefficients.diffusion).max())
        return math.sqrt(kappa * LocalFeatures.policy.initial_layer * task.t_end)

    def carried(self, task: Task) -> bool:
        """Whether drift carries u farther than diffusion spreads it."""
        speed = float(np.abs(self.coefficients.drift).max())
        kappa = float(np.abs(self.coefficients.diffusion).max())
        return speed * task.t_end > math.sqrt(kappa * task.t_end)

    def compared(self, answer: Solved, companion: Solved, layer: float) -> Float[Array, " k"]:
        """The error of an answer at its times; remembers errors and decays of all patches."""
        ours, theirs = answer.solution, companion.solution
        times = np.union1d(ours.times, theirs.times)
        a, b = (self._heads(s, times) for s in (answer, companion))
        largest = np.max(np.abs(b), axis=1)
        lost = (largest > 0) & (largest < FAINTEST)
        self.faded = bool(np.any(lost & (times >= layer)))
        mine, other = (self.space(s.resolution) for s in (answer, companion))
        size = np.linalg.norm(b, axis=1)
        shared, own = _squares(mine, other, a, b)
        relative = np.sqrt(shared + own) / np.where(size > 0, size, 1.0)[:, None]
        late = np.where((times >= layer)[:, None], relative, 0.0)
        decays = _decays(other, b, np.argmax(late, axis=0))
        self._errors[answer.resolution] = late.max(axis=0), decays
        found = np.where(lost, 1.0, np.linalg.norm(relative, axis=1))
        worst = np.argmax(np.where(times >= layer, found, 0.0))
        whole = np.sum(shared[worst] + own[worst])
        # An answer without one right digit says nothing about what is to blame.
        if 0 < whole < (0.1 * size[worst]) ** 2:
            self._tails[answer.resolution] = math.sqrt(own[worst].sum() / whole)
        first = np.searchsorted(times, np.append(0.0, ours.times[:-1]), side="right") - 1
        after = np.searchsorted(times, np.append(ours.times[1:], ours.times[-1]))
        return np.array([found[i : j + 1].max() for i, j in zip(first, after, strict=True)])

    def _heads(self, solved: Solved, times: Array) -> Array:
        """Unknowns of a solution at any times, (k, n)."""
        solution, space = solved.solution, self.space(solved.resolution)
        heads = solution.thetas[:, space.order]
        rows = [within_step(solution.times, float(t), solution.stages) for t in times]
        return np.stack([weights @ heads[nodes] for nodes, weights in rows])

    def steps_to_blame(self, resolution: PatchResolution) -> bool:
        """Whether an error is in features that answer and companion share; for leaves once."""
        to_blame = self._tails.get(resolution, 1.0) < TIME_TAIL
        if not to_blame or resolution.leaves in self._shortened:
            return False
        self._shortened.add(resolution.leaves)
        return True

    def refined(self, task: Task, resolution: PatchResolution) -> dict[Cell, int]:
        """Finer leaves where errors are; after a march that was lost, all of them."""
        leaves = dict(resolution.leaves)
        if resolution not in self._errors:
            return refinement.balanced(
                self.cut, {child: d for cell, d in leaves.items() for child in cell.children}
            )
        worst, decays = self._errors[resolution]
        patch_of = self.space(resolution).patches.patch_of
        errors = {cell: float(worst[k]) for cell, k in patch_of.items()}
        rates = {cell: float(decays[k]) for cell, k in patch_of.items()}
        return refinement.by_errors(self.cut, leaves, errors, rates, task.tolerance)


def _smooth(task: Task) -> bool:
    """Whether initial values that are not just constant agree with all conditions and their rates.

    Where u is singular at a corner they hardly ever do.
    """
    apart = max([*task.mismatch.values(), *task.drift.values()], default=0.0)
    agree = apart <= AGREEMENT * task.tolerance
    return agree and not refinement.constant(task.problem.domain, task.problem.initial)


def _unknowns(dim: int, resolution: PatchResolution) -> int:
    """Unknowns of one component."""
    return sum(polynomials.count(dim, degree) for _, degree in resolution.leaves)


def _laws(problem: Problem) -> Laws:
    return problem.kept("laws of the weak form", lambda: Laws(problem))


def _workshop(task: Task) -> _Workshop:
    if "workshop" not in task.kept:
        task.kept["workshop"] = _Workshop(task.problem)
    return task.kept["workshop"]


def _squares(
    mine: EnergySpace, other: EnergySpace, a: Array, b: Array
) -> tuple[Float[Array, "k p"], Float[Array, "k p"]]:
    """Squared distances at each time on each patch: in features of both fields, of the second."""
    shared, own = (np.zeros((len(a), len(mine.patches))) for _ in range(2))
    for k, (small, large) in enumerate(zip(_parts(mine, a), _parts(other, b), strict=True)):
        n = small.shape[-1]
        shared[:, k] = np.sum((large[..., :n] - small) ** 2, axis=(1, 2))
        own[:, k] = np.sum(large[..., n:] ** 2, axis=(1, 2))
    return shared, own


def _parts(space: EnergySpace, heads: Float[Array, "k n"]) -> list[Float[Array, "k m _w"]]:
    """The unknowns of each patch."""
    m, ends = space.components, space.patches.table.starts * space.components
    return [
        heads[:, first:last].reshape(len(heads), m, -1) for first, last in itertools.pairwise(ends)
    ]


def _decays(space: EnergySpace, heads: Float[Array, "k n"], when: Array) -> Float[Array, " p"]:
    """How fast shares fall with the degree on each patch, each at its own time."""
    found = []
    for k, part in enumerate(_parts(space, heads)):
        degree = int(space.patches.degrees[k])
        total = polynomials.exponents(len(space.patches.table.lower), degree).sum(axis=1)
        squares = np.sum(part[when[k]] ** 2, axis=0)
        shares = np.bincount(total, weights=squares, minlength=degree + 1)
        found.append(refinement.decay(np.sqrt(shares)))
    return np.array(found)
