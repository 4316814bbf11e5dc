"""The one verified loop: answer, companion, what is to blame, refine.

An answer is computed, and companions of other resolutions. Their distance tells the error of the
answer: by itself where the companion is finer, together with how fast it falls where it is coarser
(the strategy knows). Where it exceeds the tolerance, the next resolution is finer in what is to
blame, time or space; strategies with half steps ask a further solution for that, with the answer's
features and half its steps. A strategy without companions of its own is compared with the
resolution before; one without a tolerance marches once.

With `max_seconds` there is a deadline: marches look at it after every leg, and no resolution is
begun that would not be finished by then. The best answer that was finished is what comes out.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from tengbc.geometry.points import Points
from tengbc.journal import Journal
from tengbc.options import Options
from tengbc.outcome import Outcome, Result
from tengbc.problem import Problem
from tengbc.solution import Solution
from tengbc.solver.march import Callback, ProgressWatch, march, trajectory_of
from tengbc.solver.strategies.base import AbstractStrategy, Blame, Solved, Task, first_of
from tengbc.timing import NO_DEADLINE, Deadline, Stopwatch
from tengbc.types import Progress

Array = np.ndarray
OVER = "max_seconds were over before more was finished"
FAINT = 0.1
"""A field that starts from zero counts once it has this part of its largest size."""
FAINT_POINTS = 64
"""Points at which its size is looked at."""


def solve_verified(
    strategy: AbstractStrategy,
    problem: Problem,
    options: Options,
    t_end: float,
    progress: Progress,
    callbacks: Sequence[Callback],
    journal: Journal,
    deadline: Deadline = NO_DEADLINE,
) -> Solution:
    """Solve to the tolerance by a strategy until the deadline, and state the error."""
    task = Task.of(problem, options, t_end, progress, journal, deadline)
    if not strategy.measures_error:
        return Runner(strategy, task, callbacks)(strategy.first(task), "march").solution
    task = replace(task, options=options.model_copy(update={"rtol": task.tolerance}))
    return _refined(strategy, Runner(strategy, task, callbacks))


class Runner:
    """Marches resolutions of one strategy for one task, and adds up the seconds."""

    def __init__(self, strategy: AbstractStrategy, task: Task, callbacks: Sequence[Callback] = ()):
        self.strategy, self.task, self.callbacks = strategy, task, callbacks
        self.seconds: dict[str, float] = {}

    def __call__(self, resolution, name: str, purpose: str = "") -> Solved:
        """The solution of a resolution, recalled if an earlier session has finished its stage.

        Callbacks are called for answers only, which have no `purpose`.
        """
        task, stage, watch = self.task, self.task.stage(name), Stopwatch()
        before = stage.recall()
        if before is not None and before.finished:
            trajectory = trajectory_of(before)
            for record in trajectory.history:
                stage.note(record)
            facts, seconds = dict(before.facts["facts"]), {"march": stage.seconds_before}
        else:
            if purpose:
                task = replace(task, progress=_renamed(task.progress, purpose))
            plan = self.strategy.discretise(task, resolution)
            fitting, compiling = watch.lap()
            trajectory = march(
                plan,
                task.options.seed,
                () if purpose else self.callbacks,
                stage,
                ProgressWatch(task.problem, plan, task.progress),
                task.deadline,
            )
            marching, compiling_more = watch.lap()
            facts = {**self._facts(), **plan.facts, "march": name}
            facts.setdefault("steps", trajectory.steps)
            facts.setdefault("dt", task.t_end / max(trajectory.steps, 1))
            seconds = {
                "march": marching + stage.seconds_before,
                "initial_fit": fitting + task.stage("initial fit").seconds_before,
                "compile": compiling + compiling_more,
            }
            if trajectory.result:
                stage.finish(trajectory.snapshot(plan.space, {"facts": facts}, finished=True))
        self.seconds = {n: self.seconds.get(n, 0) + seconds.get(n, 0) for n in seconds}
        parameters, thetas = self.strategy.parameters(task, resolution, trajectory)
        solution = Solution(
            task.problem,
            parameters,
            np.array(trajectory.times),
            thetas,
            trajectory.result,
            trajectory.history,
            np.full(len(trajectory.times), np.nan),
            dict(self.seconds),
            facts,
            self.strategy.stages(task),
        )
        compiled = seconds.get("compile", 0.0)
        return Solved(resolution, trajectory, solution, sum(seconds.values()) - compiled, compiled)

    def expected(self, like: Solved, resolution, name: str) -> float:
        """Seconds that a resolution takes, by those of one that was solved; less what is done."""
        return self.left(like, self.strategy.work_ratio(self.task, like, resolution), name)

    def left(self, like: Solved, ratio: float, name: str) -> float:
        """Seconds that are left of a stage with so many times the work of one that was solved."""
        stage = self.task.stage(name)
        before = stage.recall()
        if before is not None and before.finished:
            return 0.0
        return max(like.computing * ratio + like.compiling - stage.seconds_before, 0.0)

    def _facts(self) -> dict[str, object]:
        return {
            "strategy": self.strategy.name,
            "strategy_in_words": self.strategy.what,
            "preset": self.task.options.preset,
            "rtol": self.task.options.rtol,
            "t_end": self.task.t_end,
            "seed": self.task.options.seed,
        }


def _refined(strategy: AbstractStrategy, run: Runner) -> Solution:
    """Resolutions one after the other until the tolerance holds, or nothing more is gained."""
    policy, task, tolerance = strategy.policy, run.task, run.task.tolerance
    resolution, fixed = strategy.first(task), strategy.fixed(task.options)
    layer = strategy.layer(task)
    best: Solution | None = None
    before: Solved | None = None
    least, idle, late, comparing = math.inf, 0, "", 0.0
    for attempt in range(1, policy.attempts + 1):
        answer = run(resolution, f"answer {attempt}")
        if _out_of_time(answer) and before is not None:
            best, late = best or before.solution, OVER
            break
        if not answer.solution.result:
            lost = answer.solution.result.outcome is Outcome.DIVERGED
            if lost and best is not None:
                break  # an earlier resolution knows its error, which is worth more
            finer = strategy.refine(task, resolution, answer.trajectory, None) if lost else None
            if finer is None or fixed or attempt >= policy.lost_attempts:
                return replace(answer.solution, seconds=run.seconds)
            resolution = finer
            continue
        unseen = strategy.unseen(task.problem, resolution)
        distance = lambda one, other, unseen=unseen: difference(one, other, unseen)
        companions = _companions(strategy, run, answer, attempt)
        if companions is None:
            best, late = best or answer.solution, OVER
            break
        failed = next((one for one in companions.values() if not one.solution.result), None)
        if failed is not None:
            # A companion that was lost says that this resolution is not to be trusted, no more.
            ended = replace(answer.solution, result=failed.solution.result)
            finer = _after_loss(strategy, run, failed, answer, attempt)
            if finer is None and (best is None or not _lost(failed)):
                return replace(ended, seconds=run.seconds)
            if finer is None:
                break
            resolution = finer
            continue
        if not companions and before is not None:
            companions = {"the resolution before": before}
        before = answer
        if companions:
            watch = Stopwatch()
            layer = max(layer, _faint_until(answer.solution))
            errors = strategy.estimate(task, answer, companions, distance, layer)
            solution = replace(answer.solution, error_estimate=errors)
            worst = _worst(errors, solution, layer)
            comparing = sum(watch.lap())
            # An answer without one right digit does not predict the next, unless u has faded.
            gains = worst <= policy.gain * least or not (
                least < 1 or _faded(solution, policy.faded)
            )
            idle = 0 if gains else idle + 1
            if best is None or worst < least:  # a finer resolution need not be a better one
                best, least = solution, worst
            if worst <= tolerance or fixed or idle >= policy.patience:
                break
        if attempt == policy.attempts:
            break
        blame = None
        halved = strategy.half_steps(resolution)
        if halved is not None and companions:
            # What they tell is of use only if there is time for as much as this resolution took.
            name = f"half steps {attempt}"
            again = _level_time(run, answer, companions, resolution, attempt + 1) + comparing
            if late := _too_late(task, run.expected(answer, halved, name) + 2 * comparing + again):
                break
            half = run(halved, name, "half steps")
            if _out_of_time(half):
                late = OVER
                break
            if not half.solution.result:
                assert best is not None
                finer = _after_loss(strategy, run, half, answer, attempt)
                if finer is None and not _lost(half):
                    return replace(best, result=half.solution.result, seconds=run.seconds)
                if finer is None:
                    break
                resolution = finer
                continue
            blame = _blame(answer, first_of(companions), half, distance, layer, tolerance)
        finer = strategy.refine(task, resolution, answer.trajectory, blame)
        if finer is None:
            break
        needed = _level_time(run, answer, companions, finer, attempt + 1) + comparing
        if late := _too_late(task, needed):
            best = best or answer.solution
            break
        resolution = finer
    assert best is not None
    answer = replace(best, seconds=run.seconds)
    if least <= tolerance:
        return replace(answer, result=Result(Outcome.DONE, _layer_text(task, layer, answer)))
    near = _near_text(answer, least, layer) if least < math.inf else "not known"
    text = f"the error is {near} where {tolerance:.1e} was asked for; "
    if late:
        text += f"{late}: give more, or ask for a larger rtol."
        return replace(answer, result=Result(Outcome.OUT_OF_TIME, text))
    text += f"{_faded_text(answer, policy.faded) or strategy.advice}."
    return replace(answer, result=Result(Outcome.TOLERANCE_NOT_REACHED, text))


def _out_of_time(solved: Solved) -> bool:
    return solved.solution.result.outcome is Outcome.OUT_OF_TIME


def _too_late(task: Task, seconds: float) -> str:
    """Why what takes so many seconds is not begun; empty if there is time for it."""
    left = task.deadline.left
    if seconds < left:
        return ""
    if not left:
        return OVER
    takes, rest = (f"{s:.2g}" if s < 10 else f"{s:.0f}" for s in (seconds, left))
    return f"a finer resolution takes some {takes} s, and of max_seconds {rest} are left"


def _companions(
    strategy: AbstractStrategy, run: Runner, answer: Solved, attempt: int
) -> dict[str, Solved] | None:
    """An answer's companions up to the first that fails; None if there was no time for them."""
    found = {}
    for name, wanted in strategy.companions(answer).items():
        if run.task.deadline.over:
            return None
        found[name] = run(wanted, f"{name} {attempt}", name)
        if _out_of_time(found[name]):
            return None
        if not found[name].solution.result:
            break
    return found


def _level_time(
    run: Runner, answer: Solved, companions: Mapping[str, Solved], finer, attempt: int
) -> float:
    """Seconds that an answer and its companions take at a finer resolution."""
    seconds = run.expected(answer, finer, f"answer {attempt}")
    ratio = run.strategy.work_ratio(run.task, answer, finer)
    for name in run.strategy.companions(answer):
        if name in companions:
            seconds += run.left(companions[name], ratio, f"{name} {attempt}")
    return seconds


def _lost(solved: Solved) -> bool:
    return solved.solution.result.outcome is Outcome.DIVERGED


def _after_loss(
    strategy: AbstractStrategy, run: Runner, lost: Solved, answer: Solved, attempt: int
):
    """The resolution to try where a companion was lost; None if there is nothing to try."""
    last = strategy.fixed(run.task.options) or attempt == strategy.policy.attempts
    if last or not _lost(lost):
        return None
    return strategy.refine(run.task, answer.resolution, answer.trajectory, None)


def _blame(
    answer: Solved, companion: Solved, half: Solved, distance, layer: float, tolerance: float
) -> Blame:
    """What halving the steps changes is the error in time; what it leaves is that in space."""
    apart = distance(half.solution, companion.solution)
    in_space = _worst(apart, half.solution, layer) / tolerance
    # An error of one says that there is no digit.
    in_time = np.minimum(distance(answer.solution, half.solution), 1.0) / tolerance
    in_time[answer.solution.times < layer] = 0.0
    return Blame(answer.solution.times, in_time, in_space)


def _worst(errors: Float[Array, " k"], solution: Solution, layer: float) -> float:
    """The largest error at the solution's times, an initial layer left out."""
    return float(np.max(errors[solution.times >= layer]))


def difference(answer: Solution, companion: Solution, points: Points) -> Float[Array, " k"]:
    """Relative L² distance of two solutions at the answer's times, at points of neither.

    Where the companion has stored times between those of the answer, the answer is interpolated
    there, and the distance counts for the stored times on both sides.
    """
    times = companion.times if len(companion.times) >= len(answer.times) else answer.times
    shape = (len(times), len(points), -1)
    ours, theirs = (s.at_times(points.x, times).reshape(shape) for s in (answer, companion))
    weight, largest = np.sqrt(points.w)[:, None], np.max(np.abs(theirs), axis=(1, 2), keepdims=True)
    unit = np.where(largest > 0, largest, 1.0)  # the squares of a faded solution would be zero
    with np.errstate(over="ignore"):
        fields = theirs / unit, (ours - theirs) / unit
        size, found = (np.linalg.norm(weight * field, axis=(1, 2)) for field in fields)
    found = found / np.where(size > 0, size, 1.0)
    first = np.searchsorted(times, np.append(0.0, answer.times[:-1]), side="right") - 1
    after = np.searchsorted(times, np.append(answer.times[1:], answer.times[-1]))
    return np.array([found[i : j + 1].max() for i, j in zip(first, after, strict=True)])


def _faint_until(solution: Solution) -> float:
    """Of a field that starts from zero the time until it has grown to a part of its largest size.

    Before, an error relative to it would say little. 0 for one that starts from anything else.
    """
    points = solution.problem.domain.interior(FAINT_POINTS).x
    if np.any(solution.problem.initial(points)):
        return 0.0
    sizes = np.linalg.norm(
        solution.at_times(points, solution.times).reshape(len(solution.times), -1), axis=1
    )
    return float(solution.times[np.argmax(sizes >= FAINT * sizes.max())])


def _layer_text(task: Task, layer: float, answer: Solution) -> str:
    """Why the tolerance holds only from some time on."""
    early = np.max(answer.error_estimate[answer.times <= layer], initial=0.0)
    if early <= task.tolerance:
        return ""  # it holds at all times
    both = {name: max(task.mismatch[name], task.drift[name]) for name in task.mismatch}
    segment = max(both, key=lambda name: both[name], default="")
    if segment and both[segment] > task.tolerance:
        what = "disagree" if task.mismatch[segment] >= task.drift[segment] else "move apart"
        why = (
            f"initial values and the condition on {segment} {what} by {both[segment]:.1e} at t = 0"
        )
    elif _faint_until(answer):
        why = "the solution starts from zero"
    else:
        why = "the initial values are not smooth"
    return (
        f"{why}, so the tolerance holds from t = {layer:.4g} on; before, the error is up to "
        f"{early:.1e}."
    )


def _near_text(answer: Solution, least: float, layer: float) -> str:
    """The error after an initial layer, and before where it is larger: all that was measured."""
    largest = float(np.max(answer.error_estimate))
    if largest <= least:
        return f"near {least:.1e}"
    return f"near {least:.1e} from t = {layer:.4g} on, and up to {largest:.1e} before,"


def _faded(answer: Solution, part: float) -> tuple[float, float] | None:
    """(time, ratio) where |u| first falls below `part` of its largest so far; None if never."""
    points = answer.problem.domain.interior(256).x
    sizes = np.abs(answer.at_times(points, answer.times)).reshape(len(answer.times), -1).max(axis=1)
    before = np.maximum.accumulate(sizes)
    faded = np.flatnonzero((sizes <= part * before) & (before > 0))
    if not faded.size:
        return None
    first = faded[0]
    return float(answer.times[first]), float(sizes[first] / before[first])


def _faded_text(answer: Solution, part: float) -> str:
    faded = _faded(answer, part)
    if faded is None:
        return ""
    return (
        f"by t = {faded[0]:.3g} the solution has fallen to {faded[1]:.0e} of what it was, "
        f"where an error relative to it says little: end earlier"
    )


def _renamed(progress: Progress, purpose: str) -> Progress:
    """Progress of a solution that is not the answer, under a name that says what it is for."""
    return lambda phase, fraction, known: progress(f"{phase} ({purpose})", fraction, known)
