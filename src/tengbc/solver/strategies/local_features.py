"""Local features: patches cut by the domain, coupled in the energy metric, refined by errors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np
from jaxtyping import Bool, Float

from tengbc import costs
from tengbc.costs import Cost
from tengbc.equations.local import needed_derivatives
from tengbc.errors import UsageError
from tengbc.geometry.domain import Domain
from tengbc.interpolation import within_steps
from tengbc.networks import Network, Parameters, polynomials
from tengbc.options import Options
from tengbc.patches import refinement
from tengbc.patches.cells import Cell
from tengbc.patches.cutting import CutCells
from tengbc.patches.form import Coefficients
from tengbc.patches.laws import Laws
from tengbc.patches.library import can_be_covered, cells_of, form_over
from tengbc.problem import Problem
from tengbc.schemes.radau import RadauIIA
from tengbc.solver.compatibility import at_interfaces
from tengbc.solver.march import Plan, Trajectory
from tengbc.solver.sampling import initial_values
from tengbc.solver.steps import AdaptedSteps, RepeatedSteps
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
from tengbc.spaces.reduced import POLE, in_modes, reduced
from tengbc.spaces.weak import AbstractWeakSpace

Array = np.ndarray
STEP_SHARES = {3: 0.15, 5: 0.5}
"""The error that a step may have in units of the tolerance, by its stages: as estimated, which is
ten times too much or more, and more with more stages."""
GROWTH = 4
"""By which steps become longer where each length needs factorisations, which cost some 20 steps."""
SHORTER = 0.1
"""Step errors after steps were to blame."""
FEWER = 2
"""Degrees by which a companion is coarser than its answer. One less would change nothing for a
field that is even, or odd, about a patch's middle."""
COMPANION = "companion"
SLOWEST_GAIN = 0.25
"""At most this part of a change is left after the next halving of steps, though data have kinks."""
HIGH_ORDER, HIGH_ORDER_COSTLY = 3e-6, 3e-3
"""For smaller tolerances steps have five stages instead of three. More stages pay sooner where
steps are costly, and where u is carried along, as errors in time do not die out then."""
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
INITIAL_POINTS = 1024
"""Points at which initial values are looked at before the first march."""
LEAST_WORK, WORK_OF_A_PAIR = 2e9, 1e5
"""Floating-point operations in whose time a problem on one patch is solved: at least, and for each
pair of its unknowns (matrices, their modes, and all that is not floating-point)."""
FAINTEST = 1e-150
"""Of a field that has fallen below this no digit is known: its squares are no numbers."""
DIGITS = "the number of digits that rtol asks for"
MOST_WORK = 1e13
"""A resolution whose factors take more multiplications, some ten minutes, is not tried."""


@dataclass(frozen=True)
class PatchResolution:
    """How finely: leaves with their degrees, and the error that a step may have."""

    leaves: tuple[tuple[Cell, int], ...]
    step_tolerance: float
    fewer: int = 0
    """Degrees less than the leaves say."""
    steps: RepeatedSteps | None = None
    """Those of another march; else steps are as long as their errors allow."""

    @property
    def answer(self) -> PatchResolution:
        """That of the answer whose companion this is."""
        return PatchResolution(self.leaves, self.step_tolerance)


@final
class LocalFeatures(AbstractStrategy):
    """Polynomials on patches of a tree, in the weak form; steps as long as their errors allow."""

    name = "local-features"
    what = "polynomials on patches that the domain cuts, coupled in the energy metric"
    honours = frozenset({"rtol"})
    policy = RefinementPolicy(attempts=12, gain=0.9, patience=3)
    threads = 1
    knows_regions = True

    def applies(self, problem: Problem) -> Applies:
        if problem.domain.periodic or problem.domain.dim > 3:
            return Applies(False, "patches cover domains with a boundary in up to three dimensions")
        if problem.domain.dim == 3 and not can_be_covered(problem.domain):
            return Applies(False, "its curved faces cannot be cut into patches")
        try:
            for equation in problem.equations:
                needed_derivatives(equation, problem.domain.dim, problem.shape)
        except UsageError:
            return Applies(False, "the equation has derivatives of third order or more")
        refusal = _laws(problem).refusal
        return Applies(not refusal, refusal or "a second-order equation with a boundary")

    def first(self, task: Task) -> PatchResolution:
        work, tolerance = _workshop(task), task.tolerance
        leaves = work.first_leaves(task)
        share = STEP_SHARES[self.stages(task)]
        found = PatchResolution(tuple(sorted(leaves.items())), share * tolerance)
        costs.check_memory(_memory(task.problem, found), DIGITS)
        return found

    def companions(self, answer: Solved) -> dict[str, PatchResolution]:
        """The same steps with two degrees less on each patch, and longer steps in that space.

        It has some of the answer's features, so that the answer's matrices serve there too.
        """
        times = np.array([record.time for record in answer.trajectory.history])
        steps = RepeatedSteps.of(answer.trajectory.t, times)
        doubled = steps.doubled()
        coarser = replace(answer.resolution, fewer=FEWER, steps=steps)
        return {
            COMPANION: coarser,
            "double steps": replace(coarser, steps=doubled),
            "fourfold steps": replace(coarser, steps=doubled.doubled()),
        }

    def layer(self, task: Task) -> float:
        """Also where initial values are not smooth, or zero: no error is relative to them."""
        rough = _workshop(task).rough
        return self.policy.initial_layer * task.t_end if rough else super().layer(task)

    def stages(self, task: Task) -> int:
        work = _workshop(task)
        costly = work.carried(task) or not work.few_directions
        return 5 if task.tolerance < (HIGH_ORDER_COSTLY if costly else HIGH_ORDER) else 3

    def discretise(self, task: Task, resolution: PatchResolution) -> Plan:
        work = _workshop(task)
        space = work.space(resolution)
        if not space.linear:  # an earlier march may have used it: a resumed one has not
            space.begin()
        start = State(work.start(task, resolution))
        layer, end, stages = self.layer(task), task.t_end, self.stages(task)
        first = layer / LAYER_STEPS if layer else end / FIRST_STEPS
        marched = work.marched(resolution, start.theta, end, layer or first)
        steps = resolution.steps
        if steps is None:
            growth = 2 if marched.by_modes else GROWTH
            steps = AdaptedSteps(end, first, resolution.step_tolerance, stages + 1, growth, layer)
        accuracy = STAGE_SHARE * resolution.step_tolerance
        scheme = RadauIIA(stages, resolution.steps is None, accuracy, keeps_stages=True)
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
        self,
        task: Task,
        answer: Solved,
        companions: Mapping[str, Solved],
        distance: Distance,
        layer: float,
    ) -> Float[Array, " k"]:
        """The distance to the companion, times how much less the answer leaves out; and in time."""
        return _workshop(task).compared(answer, companions, layer, self.stages(task))

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
        return finer if _affordable(task.problem, finer) else None

    def work_ratio(self, task: Task, solved: Solved, resolution: PatchResolution) -> float:
        """Sparse factors go with n, n³ᐟ² and n² in one to three dimensions; steps with errors."""
        dim, order = task.problem.domain.dim, self.stages(task) + 1
        unknowns = [_unknowns(dim, one) for one in (resolution, solved.resolution)]
        errors = solved.resolution.step_tolerance / resolution.step_tolerance
        return (unknowns[0] / unknowns[1]) ** ((dim + 1) / 2) * errors ** (1 / order)

    @property
    def advice(self) -> str:
        return "accept it with a larger rtol, or give smoother data"

    def cost(self, problem: Problem, options: Options, t_end: float, speed: float) -> Cost:
        """That of the first resolution; where there are several patches, errors will say more."""
        first = self.first(Task.of(problem, options, t_end))
        unknowns = _unknowns(problem.domain.dim, first) * (problem.components or 1)
        work = LEAST_WORK + WORK_OF_A_PAIR * unknowns**2
        return Cost(work / speed, 4e8, DIGITS, foreseeable=len(first.leaves) == 1)


class _Workshop:
    """What the marches of one task share: laws, cut cells, spaces, and errors patch by patch."""

    def __init__(self, problem: Problem):
        self.laws = _laws(problem)
        self.cuts = cells_of(problem.domain)
        self._spaces: dict[tuple, EnergySpace] = {}
        self._starts: dict[tuple, Array] = {}
        self._marched: dict[tuple, AbstractWeakSpace] = {}
        self._errors: dict[PatchResolution, tuple[Array, Array]] = {}
        self._in_time: dict[PatchResolution, bool] = {}
        """Whether most of each answer's error comes from its steps."""
        self.rough = self.faded = False

    def space(self, resolution: PatchResolution) -> EnergySpace:
        """The space of a resolution; those of the last answer and its companions are kept."""
        key = resolution.leaves, resolution.fewer
        if key not in self._spaces:
            if resolution.fewer:
                found = self.space(resolution.answer).coarser(resolution.fewer)
            else:
                self._spaces, self._marched, self._starts = {}, {}, {}
                form = form_over(self.cuts, resolution.leaves, self.laws.components)
                found = EnergySpace(self.laws, form)
            self._spaces[key] = found
        return self._spaces[key]

    def start(self, task: Task, resolution: PatchResolution) -> Float[Array, " p"]:
        """θ of the initial values; a companion begins at what is nearest to its answer.

        Both are found at once, while both are linearised around the initial values.
        """
        key = resolution.leaves, resolution.fewer
        if key not in self._starts:
            answer = resolution.answer
            whole, coarse = self.space(answer), self.space(replace(answer, fewer=FEWER))
            fitted = whole.fitted(task.problem.initial, task.tolerance)
            nearest = coarse.nearest(whole.head(fitted), POLE * task.t_end)
            self._starts[resolution.leaves, 0] = fitted
            self._starts[resolution.leaves, FEWER] = coarse.theta(nearest)
        return self._starts[key]

    def marched(
        self, resolution: PatchResolution, theta: Float[Array, " p"], end: float, early: float
    ) -> AbstractWeakSpace:
        """The space to march in: the few directions that u moves in, if there are few."""
        key, space = (resolution.leaves, resolution.fewer), self.space(resolution)
        if key not in self._marched and space.linear and space.by_modes:
            self._marched[key] = in_modes(space)
        if key not in self._marched:
            missed = REDUCED_SHARE * resolution.step_tolerance
            few = reduced(space, space.head(theta), end, early, missed)
            self._marched[key] = few or space
        return self._marched[key]

    def first_leaves(self, task: Task) -> dict[Cell, int]:
        """Leaves that geometry and data ask for; looked for once, as the cost is asked before."""
        key = "first patches", task.tolerance, task.t_end
        leaves, self.rough = task.problem.kept(key, lambda: self._first_leaves(task))
        return dict(leaves)

    def _first_leaves(self, task: Task) -> tuple[dict[Cell, int], bool]:
        """And whether initial values are zero, or not resolved by them."""
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
        apart |= at_interfaces(self.laws, task.t_end, share)
        layers = frozenset(s for s, by in apart.items() if by > task.tolerance)
        corners = [] if _smooth(task) else refinement.singular_points(problem)
        leaves, missed = {}, 0.0
        for cut in self.cuts:
            found = refinement.at_first(
                cut, corners, fields, layers, task.tolerance, self.smoothed(task, cut)
            )
            missed = max(missed, refinement.missed(cut, found, problem.initial))
            leaves |= found
        jumps = any(apart[name] > task.tolerance for name in problem.interfaces)
        return leaves, bool(not np.any(values) or missed > task.tolerance or jumps)

    @cached_property
    def coefficients(self) -> Coefficients:
        """The equation's coefficients at some points, around the initial values."""
        return self._coefficients(self.laws.problem.domain)

    def _coefficients(self, domain: Domain) -> Coefficients:
        problem, x = self.laws.problem, domain.interior(64).x
        state = None
        if not self.laws.equation_structure.affine:
            values = problem.initial(x).reshape(len(x), -1)
            state = values, np.zeros((*values.shape, x.shape[1]))
        return self.laws.coefficients(x, 0.0, state)

    def smoothed(self, task: Task, cut: CutCells) -> float:
        """The length that diffusion smooths by the time an initial layer has settled."""
        kappa = float(np.abs(self._coefficients(cut.domain).diffusion).max())
        return math.sqrt(kappa * LocalFeatures.policy.initial_layer * task.t_end)

    def carried(self, task: Task) -> bool:
        """Whether drift carries u farther than diffusion spreads it."""
        speed = float(np.abs(self.coefficients.drift).max())
        kappa = float(np.abs(self.coefficients.diffusion).max())
        return speed * task.t_end > math.sqrt(kappa * task.t_end)

    @property
    def few_directions(self) -> bool:
        """Whether u may move in few directions, so that steps cost next to nothing."""
        equation, conditions = self.laws.equation_structure, self.laws.condition_structures
        linear = all(s.affine and s.constant_matrix for s in (equation, *conditions.values()))
        return linear and equation.constant_offset

    def compared(
        self, answer: Solved, companions: Mapping[str, Solved], layer: float, stages: int
    ) -> Float[Array, " k"]:
        """The error of an answer at its times; remembers errors and decays of all patches.

        The answer's own features, those of its two highest degrees, hold what its companion leaves
        out; what the answer leaves out follows from how fast they fall, patch by patch. Both miss
        more than they leave out, by the same factor.
        """
        times, mine = answer.solution.times, self.space(answer.resolution)
        a, b, c, d = (self._heads(one, times) for one in (answer, *companions.values()))
        companion = companions[COMPANION]
        largest = np.max(np.abs(a), axis=1)
        lost = (largest > 0) & (largest < FAINTEST)
        settled = times >= layer
        self.faded = bool(np.any(lost & settled))
        size = np.linalg.norm(a, axis=1)
        size = np.where(size > 0, size, 1.0)
        shared, own = _squares(mine, self.space(companion.resolution), a, b)
        tails, decays = _tails_and_decays(mine, a, np.argmax(own * settled[:, None], axis=0))
        apart = np.sqrt(shared.sum(axis=1) + own.sum(axis=1)) / size
        patches = apart[:, None] * _still_missed(own, tails, mine.patches.half.min(axis=1))
        in_space = np.linalg.norm(patches, axis=1)
        halved, before = (np.linalg.norm(v, axis=1) / size for v in (b - c, c - d))
        told = settled & _doubled_twice(companions, times)
        worst_of = lambda changes: float(np.max(changes[told], initial=0.0))
        in_time = halved * _left_by_halving(worst_of(halved), worst_of(before), stages)
        self._errors[answer.resolution] = (patches * settled[:, None]).max(axis=0), decays
        found = np.where(lost, 1.0, np.hypot(in_space, in_time))
        worst = np.argmax(np.where(settled, found, 0.0))
        self._in_time[answer.resolution] = bool(in_time[worst] > in_space[worst])
        return found

    def _heads(self, solved: Solved, times: Array) -> Array:
        """Unknowns of a solution at any times, (k, n)."""
        solution, space = solved.solution, self.space(solved.resolution)
        heads = solution.thetas[:, space.order]
        if np.array_equal(times, solution.times):
            return heads
        nodes, weights = within_steps(solution.times, times, solution.stages)
        return np.einsum("ks,ksn->kn", weights, heads[nodes])

    def steps_to_blame(self, resolution: PatchResolution) -> bool:
        """Whether most of an error comes from the steps."""
        return self._in_time.get(resolution, False)

    def refined(self, task: Task, resolution: PatchResolution) -> dict[Cell, int]:
        """Finer leaves where errors are; after a march that was lost, all of them."""
        leaves = dict(resolution.leaves)
        if resolution not in self._errors:
            finer = {child: d for cell, d in leaves.items() for child in cell.children}
            return self._each(finer, refinement.balanced)
        worst, decays = self._errors[resolution]
        patch_of = self.space(resolution).patches.patch_of
        errors = {cell: float(worst[k]) for cell, k in patch_of.items()}
        rates = {cell: float(decays[k]) for cell, k in patch_of.items()}
        if len(leaves) == 1:
            rates |= self._measured_decay(resolution)
        tolerance = task.tolerance / math.sqrt(len(self.cuts))
        by_errors = lambda cut, few: refinement.by_errors(cut, few, errors, rates, tolerance)
        return self._each(leaves, by_errors)

    def _each(self, leaves: Mapping[Cell, int], change: Callable) -> dict[Cell, int]:
        """Leaves, changed region by region."""
        found: dict[Cell, int] = {}
        for k, cut in enumerate(self.cuts):
            found |= change(cut, {cell: d for cell, d in leaves.items() if cell.region == k})
        return found

    def _measured_decay(self, resolution: PatchResolution) -> dict[Cell, float]:
        """The factor by which the error of a single patch fell with the degree, if it was tried."""
        ((cell, degree),) = resolution.leaves
        known = {
            one.leaves[0][1]: float(worst.sum())
            for one, (worst, _) in self._errors.items()
            if len(one.leaves) == 1
        }
        before = max((d for d in known if d < degree), default=None)
        if before is None or not 0 < known[degree] < known[before]:
            return {}
        return {cell: (known[degree] / known[before]) ** (1 / (degree - before))}


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


def _sizes(problem: Problem, resolution: PatchResolution) -> tuple[int, int, int]:
    """Dimension, patches, and features of each: as many as make the same squares together."""
    dim = problem.domain.dim
    squares = [polynomials.count(dim, degree) ** 2 for _, degree in resolution.leaves]
    return dim, len(squares), round(math.sqrt(sum(squares) / len(squares)))


def _memory(problem: Problem, resolution: PatchResolution) -> float:
    """Bytes that a resolution takes."""
    return costs.patch_memory(*_sizes(problem, resolution), problem.components or 1)


def _affordable(problem: Problem, resolution: PatchResolution) -> bool:
    """Whether a resolution fits into this machine, and does not take all day."""
    dim, patches, features = _sizes(problem, resolution)
    work = costs.factor_work(dim, patches, features * (problem.components or 1))
    return work <= MOST_WORK and _memory(problem, resolution) <= costs.machine_memory()


def _laws(problem: Problem) -> Laws:
    return problem.kept("laws of the weak form", lambda: Laws(problem))


def _workshop(task: Task) -> _Workshop:
    if "workshop" not in task.kept:
        task.kept["workshop"] = _Workshop(task.problem)
    return task.kept["workshop"]


def _squares(
    fine: EnergySpace, coarse: EnergySpace, a: Array, b: Array
) -> tuple[Float[Array, "k p"], Float[Array, "k p"]]:
    """Squared distances at each time on each patch: in features of both, in those of the first."""
    shared, own = (np.zeros((len(a), len(fine.patches))) for _ in range(2))
    for k, (large, small) in enumerate(zip(_parts(fine, a), _parts(coarse, b), strict=True)):
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


def _still_missed(
    own: Float[Array, "k p"], tails: Float[Array, " p"], sizes: Float[Array, " p"]
) -> Float[Array, "k p"]:
    """The part of a companion's error that is left in its answer, divided among the patches.

    Patches count by what the companion leaves out there, or by its slope, whichever leaves more:
    what a small patch at a corner leaves out is little itself, but spoils u everywhere.
    """
    found = []
    for weights in (own, own / sizes**2):
        total = weights.sum(axis=1, keepdims=True)
        found.append(np.sqrt(weights / np.where(total > 0, total, 1.0)) * tails)
    larger = np.linalg.norm(found[1], axis=1) > np.linalg.norm(found[0], axis=1)
    return np.where(larger[:, None], found[1], found[0])


def _doubled_twice(
    companions: Mapping[str, Solved], times: Float[Array, " k"]
) -> Bool[Array, " k"]:
    """Where steps could be doubled and doubled again, so that both changes are to be compared."""
    once, twice, four_times = (one.resolution.steps.lengths(times) for one in companions.values())
    return (twice == 2 * once) & (four_times == 4 * once)


def _left_by_halving(halved: float, before: float, stages: int) -> float:
    """What steps miss per change of u when they were halved last; before, u changed by so much.

    Changes fall by 2ˢ⁺¹ with s stages, between the stages too, and by less where data have kinks.
    If they have not fallen at all, the longest steps were too few to tell: then 2ˢ is assumed.
    """
    gain = halved / before if before > halved else 0.5**stages
    gain = min(max(gain, 0.5 ** (stages + 1)), SLOWEST_GAIN)
    return gain / (1 - gain)


def _tails_and_decays(
    space: EnergySpace, heads: Float[Array, "k n"], when: Array
) -> tuple[Float[Array, " p"], Float[Array, " p"]]:
    """What each patch leaves out, and how fast its shares fall with the degree, at given times."""
    tails, decays = [], []
    for k, part in enumerate(_parts(space, heads)):
        degree = int(space.patches.degrees[k])
        total = polynomials.exponents(len(space.patches.table.lower), degree).sum(axis=1)
        squares = np.sum(part[when[k]] ** 2, axis=0)
        shares = np.sqrt(np.bincount(total, weights=squares, minlength=degree + 1))
        tails.append(refinement.tail(shares))
        decays.append(refinement.decay(shares))
    return np.array(tails), np.array(decays)
