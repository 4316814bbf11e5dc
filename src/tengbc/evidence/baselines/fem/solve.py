"""solve_fem(): a problem in, a finite-element solution out."""

import math

import numpy as np
from jaxtyping import Float

from tengbc.errors import DivergedError, TengbcError
from tengbc.evidence.baselines.fem.meshes import build_mesh
from tengbc.evidence.baselines.fem.meshes.mesh import scikit_fem
from tengbc.evidence.baselines.fem.schemes import choose_scheme
from tengbc.evidence.baselines.fem.solution import FemSolution
from tengbc.evidence.baselines.fem.stepper import FemStepper
from tengbc.evidence.baselines.fem.system import System
from tengbc.evidence.baselines.fem.weak_form import physics
from tengbc.evidence.baselines.solution import Times, final_time, positive, stored_times
from tengbc.interpolation import neighbours
from tengbc.outcome import Outcome, Result
from tengbc.problem import Problem
from tengbc.timing import Stopwatch
from tengbc.types import Progress

Array = np.ndarray
TRIAL_STEPS = 4
"""Steps after which the time of the whole march is foreseen."""
NODES = 6
"""Steps that an output between them interpolates: its error O(Δt⁶) is below every scheme's."""


class BudgetError(TengbcError):
    """A solve that does not fit into its seconds; `phase` tells where that was found."""

    exit_code = 6
    phase: str = ""


def solve_fem(
    problem: Problem,
    t_end: int | float | None = None,
    *,
    resolution: int = 64,
    dt: int | float = 1e-3,
    times: Times | None = None,
    scheme: str | None = None,
    budget: int | float | None = None,
    progress: Progress = lambda phase, fraction, known: None,
) -> FemSolution:
    """Solve a problem in the plane with quadratic finite elements and second-order time steps.

    **Arguments:**

    - `problem`, and `t_end` unless the problem has a natural one.
    - `resolution`: cells across the domain. The paper's is 256.
    - `dt`: the largest time step; steps are equal and land on `t_end`. The paper's is 1e-4.
    - `times`: at which the solution is stored, by default 101 equispaced ones.
    - `scheme`: "tr-bdf2" (default, L-stable), "crank-nicolson" or "ark4" (order four); nonlinear
      problems take "ars222" (default) or "ark4", both of which treat self-advection and reactions
      explicitly, so that Δt must resolve them.
    - `budget`: seconds after which it gives up, as soon as that can be foreseen.
    - `progress`: a function of (phase, fraction, known); True stops the march there.
    """
    scikit_fem()
    end, dt = final_time(problem, t_end), positive("dt", dt)
    stored = stored_times(times, end)
    found = physics(problem)
    method = choose_scheme(scheme, found.nonlinear)
    spending = Spending(budget)

    progress("mesh", 0.0, {})
    mesh = build_mesh(problem.domain, resolution)
    spending.lap("mesh")

    progress("assemble", 0.0, {"unknowns": mesh.unknowns})
    steps = math.ceil(end / dt * (1 - 1e-12))
    step_times = np.linspace(0.0, end, steps + 1)
    step_size = end / steps
    stage_times = step_times[:-1, None] + method.nodes * step_size
    stage_times[:, -1] = step_times[1:]  # not a rounding away from where the next step begins
    system = System(problem, mesh, found, np.unique(stage_times))
    u = problem.initial(mesh.nodes).copy()
    system.prescribe(u, 0.0)
    spending.lap("assemble")

    progress("factorise", 0.0, {})
    stepper = FemStepper(system, method, step_size)
    spending.lap("factorise")

    outputs = Outputs(stored, mesh.unknowns)
    outputs.take(0.0, u)
    size = max(float(np.abs(u).max()), 1.0)
    result = Result(Outcome.DONE)
    for n in range(steps):
        u = stepper.step(u, stage_times[n])
        t = float(step_times[n + 1])
        if not np.abs(u).max() <= 1e6 * size:
            raise DivergedError(
                f"The finite-element march left every bound at t = {t:g}; take a smaller dt."
            )
        asked = progress("march", (n + 1) / steps, {"step": n + 1, "time": t}) and n + 1 < steps
        outputs.take(t, u, last=n == steps - 1 or bool(asked))
        if asked:
            result = Result(Outcome.INTERRUPTED, f"stopped on request at t = {t:.6g} of {end:g}.")
            break
        spending.check(n + 1, steps)
    spending.lap("march")
    stored, values = outputs.taken
    facts = {
        "solver": "fem",
        "preset": "fem",
        "resolution": resolution,
        "unknowns": mesh.unknowns,
        "parameters": mesh.unknowns,
        "scheme": method.name,
        "dt": step_size,
        "steps": steps,
        "t_end": end,
    }
    return FemSolution(
        problem=problem,
        mesh=mesh,
        times=stored,
        values=values,
        seconds=spending.seconds,
        facts=facts,
        result=result,
    )


class Spending:
    """Seconds by phase, compilation apart; raises BudgetError when the budget will not do."""

    def __init__(self, budget: int | float | None):
        self.seconds = {"compile": 0.0}
        self._budget, self._spent, self._watch = budget, 0.0, Stopwatch()

    def lap(self, phase: str) -> None:
        """End a phase."""
        self.seconds[phase], compiling = self._watch.lap()
        self.seconds["compile"] += compiling
        self._spent += self.seconds[phase]
        self._refuse(self._spent, phase)

    def check(self, done: int, steps: int) -> None:
        """Raise if the march, of whose `steps` some are `done`, will not fit into its budget."""
        if done < min(TRIAL_STEPS, steps):
            return
        march = self._watch.computing
        # Early on the forecast is rough: give it some room.
        room = 1.0 if done > steps / 2 else 1.25
        self._refuse(self._spent + march, "march")
        self._refuse((self._spent + march / done * steps) / room, "march")

    def _refuse(self, needed: float, phase: str) -> None:
        if self._budget is not None and needed > self._budget:
            error = BudgetError(
                f"The finite-element solve needs {needed:.2g} s or more, but its budget is "
                f"{self._budget:.2g} s; take a coarser resolution, a larger dt or a larger budget."
            )
            error.phase = phase
            raise error


class Outputs:
    """Collects states at given times, ascending, while a march goes by in equal steps.

    An output that falls on a step is that step's state. Any other is read off the polynomial
    through the six nearest steps, so that Δt is free and one factorisation serves all steps.
    """

    def __init__(self, times: Float[Array, " k"], unknowns: int):
        self.times = times
        self.values = np.zeros((len(times), unknowns))
        self._done = 0
        self._recent: list[tuple[float, Array]] = []

    def take(self, t: float, u: Float[Array, " n"], *, last: bool = False) -> None:
        """Note the state at the next step; `last` says that there will be no further one."""
        self._recent = [*self._recent[-(NODES - 1) :], (t, u)]
        if len(self._recent) < NODES and not last:
            return
        # Wait until the output lies in the middle of the known steps, where the polynomial is best.
        ready = t if last else self._recent[-NODES // 2][0]
        tolerance = 1e-12 * max(1.0, abs(t))
        while self._done < len(self.times) and self.times[self._done] <= ready + tolerance:
            known = np.array([time for time, _ in self._recent])
            chosen, weights = neighbours(known, self.times[self._done], NODES)
            self.values[self._done] = weights @ np.stack([self._recent[i][1] for i in chosen])
            self._done += 1

    @property
    def taken(self) -> tuple[Float[Array, " k"], Float[Array, "k n"]]:
        """The times that have been reached, and the states there."""
        return self.times[: self._done], self.values[: self._done]
