"""Tiny runs to be disturbed: the preset `paper`, frozen features, and what is taken by itself."""

from __future__ import annotations

import functools
import hashlib
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import tengbc as tb
from tengbc.runs.config import Config, config
from tengbc.runs.directory import RunDirectory
from tengbc.runs.session import Ended, run_in_directory

FILE = Path(__file__).absolute()
PAPER = {
    "preset": "paper",
    "scheme": "rk4",
    "widths": (6, 6),
    "interior_points": 30,
    "boundary_points": 2,
    "fit_iterations": 12,
    "subset": 40,
    "dt": 0.001,
    "t_end": 0.012,
}
FROZEN = {
    "preset": "fast",
    "strategy": "frozen-features",
    "features": 16,
    "dt": 0.002,
    "t_end": 0.02,
    "rtol": 1e-2,
}
DEFAULT = {"preset": "fast", "t_end": 0.4, "rtol": 1e-4}
"""What is taken by itself: local features."""


def heat() -> tb.Problem:
    """∂ₜu = ∂ₓₓu on (0, 1), u = sin πx at the start, 0 at both ends."""

    def exact(x, t):
        return jnp.exp(-(jnp.pi**2) * t) * jnp.sin(jnp.pi * x[0])

    return tb.Problem(
        tb.Interval(0.0, 1.0),
        tb.Heat(1.0),
        {"left": tb.Dirichlet(0.0), "right": tb.Dirichlet(0.0)},
        lambda x: exact(x, 0.0),
        exact=exact,
        name="heat",
    )


def plain() -> tb.Problem:
    """The same, nothing known about its solution."""
    known = heat()
    return tb.Problem(known.domain, known.equation, known.conditions, known.initial_function)


def logistic() -> tb.Problem:
    """A nonlinear problem: its space linearises anew as the march goes on."""
    return tb.Problem(
        tb.Interval(0.0, 1.0),
        tb.ReactionDiffusion(0.1, lambda u: 20.0 * u * (1 - u)),
        {"left": tb.Neumann(0.0), "right": tb.Neumann(0.0)},
        lambda x: 0.2 + 0.1 * jnp.cos(jnp.pi * x[0]),
        name="logistic",
    )


def front() -> tb.Problem:
    """Burgers' equation between walls: its features are placed anew as a front forms."""
    return tb.Problem(
        tb.Interval(-1.0, 1.0),
        tb.Burgers(0.05),
        {"left": tb.Dirichlet(0.0), "right": tb.Dirichlet(0.0)},
        lambda x: -jnp.sin(jnp.pi * x[0]),
        name="front",
    )


def narrow() -> tb.Problem:
    """A peak that random features do not resolve: waves crowd, and the first steps are short."""
    return tb.Problem(
        tb.Interval(-1.0, 1.0),
        tb.Heat(0.05),
        {"left": tb.Dirichlet(0.0), "right": tb.Dirichlet(0.0)},
        lambda x: jnp.exp(-4000 * (x[0] - 0.2) ** 2),
        name="narrow",
    )


def calm() -> tb.Problem:
    """Fast at first, then slow: to t = 30 a second level has to be graded in time."""
    return tb.Problem(
        tb.Interval(0.0, 1.0),
        tb.Heat(0.01),
        {"left": tb.Neumann(0.0), "right": tb.Neumann(0.0)},
        lambda x: 2.0 + jnp.cos(jnp.pi * x[0]) + jnp.cos(3 * jnp.pi * x[0]),
        name="calm",
    )


def steepening() -> tb.Problem:
    """Burgers' equation on a periodic interval: the waves follow the solution."""
    return tb.Problem(
        tb.PeriodicBox([0.0], [1.0]),
        tb.Burgers(0.01),
        {},
        lambda x: jnp.sin(2 * jnp.pi * x[0]),
        name="steepening",
    )


def square() -> tb.Problem:
    """Heat in the plane: what finite elements and space–time networks take."""

    def exact(x, t):
        return jnp.exp(-0.2 * t) * jnp.sin(x[0]) * jnp.sin(x[1])

    domain = tb.Rectangle((0.0, 0.0), (np.pi, np.pi))
    laws = dict.fromkeys(domain.segments, tb.Dirichlet(0.0))
    return tb.Problem(
        domain, tb.Heat(0.1), laws, lambda x: exact(x, 0.0), exact, name="square", t_end=1.0
    )


def slow() -> tb.Problem:
    """The same as `heat`, but each evaluation of its source takes ten seconds."""

    def wait(x):
        time.sleep(10.0)
        return np.zeros((), np.float64)

    def source(u, x, t):
        shape = jax.ShapeDtypeStruct((), jnp.float64)
        return jax.pure_callback(wait, shape, x[0], vmap_method="sequential")

    return tb.Problem(
        tb.Interval(0.0, 1.0),
        source,
        {"left": tb.Dirichlet(0.0), "right": tb.Dirichlet(0.0)},
        lambda x: jnp.sin(jnp.pi * x[0]),
    )


PROBLEMS = functools.cache(lambda name: globals()[name]())


def chosen(kind: dict, problem: str = "heat", every: float = 0.0, **changes) -> Config:
    """The configuration of a tiny run; a checkpoint after every step unless told otherwise."""
    given = {"problem": f"{FILE}:{problem}", "checkpoint_every": every, **kind, **changes}
    return config(given)


def session(path: Path, run: Config, warn=lambda text: None) -> Ended:
    """A session in this process: a new run, or the rest of one that is there."""
    name = run.problem.rpartition(":")[2]
    if (path / "options.toml").exists():
        directory, run = RunDirectory.open(path)
    else:
        directory = RunDirectory.create(path, run)
    try:
        checkpoint = directory.newest_checkpoint(run, warn)
        problem = PROBLEMS(name)  # one object, so that what it compiles is kept
        return run_in_directory(problem, run, directory, checkpoint, lambda *known: None, 0.0)
    finally:
        directory.close()


def fingerprint(solution: tb.Solution) -> str:
    """One hash of everything a run computed."""
    digest = hashlib.sha256()
    digest.update(np.ascontiguousarray(solution.times).tobytes())
    digest.update(np.ascontiguousarray(solution.thetas).tobytes())
    digest.update(np.ascontiguousarray(solution.error_estimate).tobytes())
    digest.update(repr(list(solution.history)).encode())
    return digest.hexdigest()
