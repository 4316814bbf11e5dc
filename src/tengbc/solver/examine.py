"""Check before compute: is the problem well stated, and what will the run cost?"""

from collections.abc import Iterator

import numpy as np

from tengbc import costs
from tengbc.defaults import DEFAULT_TOLERANCE
from tengbc.equations import Reaction, Source, Transport
from tengbc.errors import ProblemError, TengbcError
from tengbc.finding import Finding
from tengbc.geometry.points import BoundaryPoints, point_text
from tengbc.options import Options
from tengbc.patches.laws import Laws
from tengbc.pointwise import Evaluator
from tengbc.problem import Problem
from tengbc.solver.compatibility import initial_mismatch, initial_size, mismatches
from tengbc.solver.sampling import boundary_points, initial_values
from tengbc.solver.strategies import checked_strategy, select_strategy

POINTS = 64
"""Points on the boundary at which data are compared; the preset `fast` looks at the same ones."""
JUMP = 1e-9
"""Initial and boundary data that differ by more, relative to u₀, are told apart from rounding."""
DRIFT = 1e-6
"""The same for how fast they move apart."""


def examine(problem: Problem, options: Options, thorough: bool = True) -> list[Finding]:
    """Everything that can be said before the first step; not `thorough`: in a blink."""
    t_end = options.t_end or problem.t_end or 1.0
    rtol = options.rtol or problem.rtol or DEFAULT_TOLERANCE
    found: list[Finding] = []
    for look in (_boundary, _free, _table, _values, _corners, _outflow):
        try:
            found += look(problem, t_end, rtol, thorough)
        except TengbcError as error:
            found.append(Finding("error", str(error), error))
    if thorough:
        found += _cost(problem, options, t_end)
    return found


def _boundary(problem: Problem, t_end: float, rtol: float, thorough: bool) -> Iterator[Finding]:
    domain = problem.domain
    step = 1e-6 * domain.scale
    for points in boundary_points(domain, POINTS):
        unit = np.abs(np.linalg.norm(points.normal, axis=1) - 1).max() < 1e-9
        outside = domain.contains(points.x + step * points.normal)
        inside = domain.contains(points.x - step * points.normal)
        if not unit or outside.any() or not inside.all():
            wrong = np.flatnonzero(outside | ~inside)
            where = point_text(points.x[wrong[0] if len(wrong) else 0])
            yield Finding(
                "error",
                f"The normal of {points.segment} at {where} is not the outward unit normal; "
                f"correct the domain.",
            )
    count = len(domain.segments)
    text = "no boundary: the domain is periodic" if not count else f"{count} segments covered"
    yield Finding("fine", f"boundary: {text}, normals outward")


def _free(problem: Problem, t_end: float, rtol: float, thorough: bool) -> Iterator[Finding]:
    """Where nothing is imposed on a component, neither diffusion nor a flow may bring it in."""
    check_free(problem)
    free = [name for name, law in problem.conditions.items() if law.silent]
    if free:
        yield Finding("fine", f"nothing is imposed on {', '.join(free)}, where the flow leaves")


def check_free(problem: Problem) -> None:
    """Stop at a segment where something should be imposed and is not, which would be ill-posed."""
    loose = [name for name, law in problem.conditions.items() if law.silent or law.parted]
    if not loose:
        return
    laws = problem.kept("laws of the weak form", lambda: Laws(problem))
    for points in boundary_points(problem.domain, POINTS):
        if points.segment not in loose:
            continue
        x, normal, m = points.x, points.normal, laws.components
        state = problem.initial(x).reshape(len(x), m), np.zeros((len(x), m, x.shape[1]))
        found = laws.coefficients(x, 0.0, state)
        a, b = laws.condition(points.segment, x, normal, 0.0, (state[0], np.zeros((len(x), m))))
        nothing = (a == 0) & (b == 0)
        diffuses = np.einsum("nd,nmde,ne->nm", normal, found.diffusion, normal) > 1e-12
        enters = np.einsum("nmmd,nd->nm", found.drift, normal) > 1e-9 * np.abs(found.drift).max()
        for wrong, why in (
            (diffuses, "the equation diffuses there, so a condition is needed"),
            (enters, "the flow comes in there, so it has to be said what it brings"),
        ):
            rows, components = np.nonzero(nothing & wrong)
            if len(rows):
                of = f" on {problem.naming.symbols[components[0]]}" if m > 1 else ""
                raise ProblemError(
                    f"Nothing is imposed{of} on {points.segment}, but {why} (at "
                    f"{point_text(x[rows[0]])}): the problem is ill-posed; give a condition such "
                    f"as tb.Dirichlet(v)."
                )


def _table(problem: Problem, t_end: float, rtol: float, thorough: bool) -> Iterator[Finding]:
    """How well a table of initial values says what lies between them."""
    table = problem.initial_table
    if table is None:
        return
    if table.error > rtol:
        yield Finding(
            "warning",
            f"initial is a table of {table.described} of their size, where {rtol:.0e} is asked "
            f"for: the solution is that of the interpolated values; give more of them, or a "
            f"larger rtol.",
        )
    else:
        yield Finding("note", f"initial is a table of {table.described} of their size.")


def _values(problem: Problem, t_end: float, rtol: float, thorough: bool) -> Iterator[Finding]:
    """Finite initial values, and conditions that they meet."""
    initial_values(problem, problem.domain.interior(256))
    for name in problem.untraced:
        if name == "initial" and problem.initial_table is not None:
            continue  # that it is a table has been said
        yield Finding(
            "note",
            f"{name} is not written with jax.numpy, so it is called with numbers: that is slower, "
            f"and its derivatives, where they are needed, are differences.",
        )
    boundary = boundary_points(problem.domain, POINTS)
    jumps, drifts = initial_mismatch(problem, boundary, t_end)
    of_size = _of_size(problem)
    for segment, jump in jumps.items():
        if jump > JUMP:
            layer = "the solution has a layer there that is not resolved at first"
            small = "less than the tolerance"
            yield Finding(
                "warning" if jump > rtol else "note",
                f"initial values miss the condition on {segment} by {jump:.1e}{of_size} at "
                f"t = 0; {layer if jump > rtol else small}.",
            )
        elif drifts[segment] > DRIFT:
            yield Finding(
                "note",
                f"initial values meet the condition on {segment}, but move away from it at "
                f"{drifts[segment]:.1e}{of_size} per run: a weak layer at t = 0.",
            )
        else:
            yield Finding("fine", f"initial values meet the condition on {segment}")


def _of_size(problem: Problem) -> str:
    """What misses are measured in; those of values that are zero are plain numbers."""
    zero = not np.any(problem.initial(problem.domain.interior(256).x))
    return "" if zero else " of their size"


def _corners(problem: Problem, t_end: float, rtol: float, thorough: bool) -> Iterator[Finding]:
    """Where two segments meet: u₀ against each, and prescribed values against one another."""
    ends = [points for segment in problem.domain.segments if (points := _ends(problem, segment))]
    if thorough:
        size = initial_size(problem)
        for points, (values, _) in zip(ends, mismatches(problem, ends), strict=True):
            worst = int(np.argmax(np.abs(values).max(axis=1)))
            jump = float(np.abs(values[worst]).max()) / size
            if jump > JUMP:
                yield Finding(
                    "warning" if jump > rtol else "note",
                    f"initial values miss the condition on {points.segment} by {jump:.1e}"
                    f"{_of_size(problem)} at its end {point_text(points.x[worst])}.",
                )
    prescribed = [(p, values) for p in ends if (values := _prescribed(problem, p.segment))]
    for k, (first, values) in enumerate(prescribed):
        for second, others in prescribed[k + 1 :]:
            yield from _clashes(problem, first, second, (values, others), t_end)


def _clashes(
    problem: Problem,
    first: BoundaryPoints,
    second: BoundaryPoints,
    values: tuple[Evaluator, Evaluator],
    t_end: float,
) -> Iterator[Finding]:
    near = 1e-9 * problem.domain.scale
    for x in first.x:
        if np.linalg.norm(second.x - x, axis=1).min() > near:
            continue
        for t in (0.0, t_end / 2, t_end):
            one, two = (value(x, t) for value in values)
            gap = float(np.abs(one - two).max())
            if gap > JUMP * max(1.0, float(np.abs(one).max())):
                yield Finding(
                    "warning",
                    f"{first.segment} and {second.segment} ask for values that differ by "
                    f"{gap:.1e} where they meet, at {point_text(x)} and t = {t:g}.",
                )
                break


def _outflow(problem: Problem, t_end: float, rtol: float, thorough: bool) -> Iterator[Finding]:
    """Where a flow leaves the domain, values cannot be prescribed: they follow."""
    terms = problem.equation.terms
    flows = [term for term in terms if isinstance(term, Transport)]
    if not flows or not all(isinstance(term, Transport | Source | Reaction) for term in terms):
        return
    velocities = [problem.evaluator(flow.velocity) for flow in flows]
    boundary = boundary_points(problem.domain, POINTS)
    jumps, drifts = initial_mismatch(problem, boundary, t_end)
    for points in boundary:
        if problem.conditions[points.segment].silent:
            continue
        x, normal = points.x[::8], points.normal[::8]
        # On an interval a velocity may be a number.
        flow = sum(velocity(x, 0.0).reshape(x.shape) for velocity in velocities)
        if np.sum(flow * normal, axis=1).max() <= 1e-12:
            continue
        wrong = max(jumps[points.segment], drifts[points.segment]) > DRIFT
        yield Finding(
            "warning" if wrong else "note",
            f"the flow leaves through {points.segment}, so its data is redundant"
            + (" and contradicts the initial values." if wrong else " (and agrees at t = 0)."),
        )


def _cost(problem: Problem, options: Options, t_end: float) -> Iterator[Finding]:
    """Which strategy, and what it will need."""
    try:
        selection = select_strategy(problem, options)
        checked_strategy(problem, options)
    except TengbcError as error:
        yield Finding("error", str(error), error)
        return
    yield Finding("fine", f"strategy: {selection}")
    try:
        cost = selection.strategy.cost(problem, options, t_end, costs.speed())
    except TengbcError:  # of data that were complained about before
        return
    there = costs.machine_memory()
    yield Finding(
        "fine" if cost.memory <= there else "error",
        f"memory: at most about {cost.memory / costs.GIGABYTE:.1f} GB of "
        f"{there / costs.GIGABYTE:.0f} GB",
    )
    if cost.foreseeable:
        shown = f"{cost.seconds:.0f} s" if cost.seconds < 120 else f"{cost.seconds / 60:.0f} min"
        text = f"roughly {shown}" if cost.seconds > 1 else "less than a second or two"
        yield Finding("fine", f"time: {text}")
    else:
        yield Finding(
            "fine",
            "time: seconds where data are smooth, minutes where corners, layers or fronts have to "
            "be resolved, which cannot be told beforehand; max_seconds ends a run with the best "
            "answer by then",
        )


def _ends(problem: Problem, segment: str) -> BoundaryPoints | None:
    """The ends of the pieces of a segment of a plane domain, with their normals."""
    if problem.domain.dim != 2:
        return None
    placed = [face.place(np.array([[0.0], [1.0]])) for face in problem.domain._faces(segment)]
    x, normal = (np.concatenate(parts) for parts in zip(*placed, strict=True))
    if np.allclose(x[0], x[-1], atol=1e-12 * problem.domain.scale) and len(placed) == 1:
        return None  # a closed curve has no ends
    return BoundaryPoints(x, np.ones(len(x)), normal, segment)


def _prescribed(problem: Problem, segment: str) -> Evaluator | None:
    """The values that a condition prescribes, if it does."""
    law = problem.conditions[segment]
    if law.coefficients is None or not law.prescribes_value or not law.coefficients[0].equals(1):
        return None
    return problem.evaluator(law.coefficients[2])
