"""One measurement of benchmarks/seconds.py, in a process of its own; says it as a line of JSON.

python -m benchmarks.seconds_child first NAME | second NAME RTOL | rival NAME ERROR | loop N | line
                                 | square
"""

import json
import sys
import time

BEGAN = time.perf_counter()

# What comes after BEGAN is what a user waits for.
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import tengbc as tb  # noqa: E402

TIMES = 10
"""Times after the start at which errors are taken."""
SIZES, ORDERS = (1.0, 0.6, 0.4, 0.3), (4, 6, 8, 10, 12)
STEPS = ((0.1, 2), (0.1, 3), (0.1, 5), (0.05, 5))
"""NGSolve's elements, orders, and steps with their stages."""
LATE = 4
"""NGSolve's runs that are dearer than one that was accurate enough, before its search ends."""


def say(**facts: object) -> None:
    """The line for the parent."""
    print(json.dumps(facts), flush=True)


def robin(kappa: float, a: float, b: float) -> tb.Problem:
    """Heat on a disk from values that agree with every Robin condition."""
    return tb.Problem(
        domain=tb.Disk(radius=1.0),
        equation=tb.Heat(kappa=kappa),
        conditions={"circle": tb.Robin(a=a, b=b, v=0.0)},
        initial=lambda x: (1 - jnp.sum(x**2)) ** 5,
        t_end=1.0,
    )


def worst_error(problem: tb.Problem, solution) -> float:
    """The largest relative L² error at TIMES times."""
    from tengbc.solution.measure import Truth

    truth, times = Truth(problem), _times(problem)
    values = solution.at_times(truth.points, times)
    exact = [truth.values(float(t)) for t in times]
    pairs = zip(values, exact, strict=True)
    return float(max(np.linalg.norm(u - v) / np.linalg.norm(v) for u, v in pairs))


def _times(problem: tb.Problem) -> np.ndarray:
    assert problem.t_end is not None
    return np.linspace(0, problem.t_end, TIMES + 1)[1:]


def first(name: str) -> None:
    """The first solve of a process, imports included."""
    imported = time.perf_counter() - BEGAN
    problem = tb.problems.get(name)
    solution = tb.solve(problem)
    seconds = time.perf_counter() - BEGAN
    say(**{"seconds": seconds, "import": imported, "error": worst_error(problem, solution)})


def second(name: str, rtol: str) -> None:
    """A solve after another one."""
    tb.solve(robin(0.1, 1.0, 0.4), rtol=1e-3, throw=False)
    problem = tb.problems.get(name)
    began = time.perf_counter()
    solution = tb.solve(problem, rtol=float(rtol))
    seconds = time.perf_counter() - began
    stated = float(np.max(solution.error_estimate))
    foretold = expected(problem, float(rtol))
    say(seconds=seconds, error=worst_error(problem, solution), stated=stated, foretold=foretold)


def expected(problem: tb.Problem, rtol: float | None = None) -> float:
    """The seconds that `tengbc check` foretells."""
    from tengbc.costs import speed
    from tengbc.options import options

    assert problem.t_end is not None
    chosen = tb.select_strategy(problem).strategy
    return chosen.cost(problem, options(rtol=rtol), problem.t_end, speed()).seconds


def rival(name: str, wanted: str) -> None:
    """NGSolve's cheapest run with at most that error; its best where none has it."""
    from tengbc.evidence.baselines.hpfem import HpSettings, solve_hpfem

    problem, runs, late = tb.problems.get(name), [], 0
    solve_hpfem(robin(0.1, 1.0, 0.4), None, HpSettings(0.5, 2, 0.5, 2), times=[1.0])
    for size, order, (step, stages) in sorted(ladder(), key=_cost):
        settings = HpSettings(size, order, step, stages)
        began = time.perf_counter()
        solution = solve_hpfem(problem, None, settings, times=_times(problem))
        seconds = time.perf_counter() - began
        error = worst_error(problem, solution)
        runs.append({"seconds": seconds, "error": error, "setting": f"{settings}"})
        enough = [run for run in runs if run["error"] <= float(wanted)]
        late += bool(enough) and seconds > min(run["seconds"] for run in enough)
        if late > LATE:
            break
    if enough:
        say(**min(enough, key=lambda run: run["seconds"]))
    else:
        say(**{**min(runs, key=lambda run: run["error"]), "seconds": None})


def ladder() -> list[tuple[float, int, tuple[float, int]]]:
    """Sizes, orders and steps of NGSolve's runs."""
    return [(size, order, steps) for size in SIZES for order in ORDERS for steps in STEPS]


def _cost(rung: tuple[float, int, tuple[float, int]]) -> float:
    """What a run costs, roughly: unknowns times stages."""
    size, order, (step, stages) = rung
    return (order / size) ** 2 * stages / step**0.5


def loop(number: str) -> None:
    """Solve for other κ and Robin coefficients again and again."""
    from tengbc.timing import compile_clock

    spread, compiled = np.linspace(0.0, 1.0, int(number)), 0
    began = time.perf_counter()
    for k, part in enumerate(spread):
        problem = robin(0.05 + 0.1 * part, 1.0 + 0.5 * part, 0.2 + 0.4 * part)
        tb.solve(problem, rtol=1e-6)
        compiled = compile_clock.programs if k == 0 else compiled
    seconds = (time.perf_counter() - began) / len(spread)
    say(seconds=seconds, compiled=compile_clock.programs - compiled)


def line() -> None:
    """The classic Burgers front on an interval, second in its process."""
    from tests.cole_hopf import error, problem

    tb.solve(robin(0.1, 1.0, 0.4), rtol=1e-3, throw=False)
    began = time.perf_counter()
    solution = tb.solve(problem(), 1.0, throw=False)
    seconds = time.perf_counter() - began
    worst = max(error(solution, t) for t in np.linspace(0.1, 1.0, TIMES))
    say(seconds=seconds, error=worst, stated=float(np.max(solution.error_estimate)))


def square() -> None:
    """The periodic Burgers problem to its own end at its own tolerance."""
    problem = tb.problems.get("burgers")
    began = time.perf_counter()
    solution = tb.solve(problem, throw=False)
    seconds = time.perf_counter() - began
    from tengbc.solution.summary import measure

    errors = measure(solution)
    assert errors is not None
    stated = float(np.nanmax(solution.error_estimate))
    say(seconds=seconds, error=errors.worst, stated=stated, foretold=expected(problem))


if __name__ == "__main__":
    what, *given = sys.argv[1:]
    calls = {"first": first, "second": second, "rival": rival, "loop": loop}
    {**calls, "line": line, "square": square}[what](*given)
