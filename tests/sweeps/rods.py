"""Problems of the sweep tests, read by worker processes."""

import os
import signal
import time

import jax.numpy as jnp
import numpy as np

import tengbc as tb


def exact(kappa, x, t):
    return jnp.exp(-kappa * (jnp.pi / 2) ** 2 * t) * jnp.cos(jnp.pi / 2 * x[0])


def rod(kappa=1.0, size=1.0):
    """u = size·exp(−κπ²t/4)·cos(πx/2): insulated at the left, cold at the right."""
    return tb.Problem(
        tb.Interval(0.0, 1.0),
        tb.Heat(kappa),
        {"left": tb.Neumann(0.0), "right": tb.Dirichlet(0.0)},
        lambda x: size * exact(kappa, x, 0.0),
        exact=lambda x, t: size * exact(kappa, x, t),
        t_end=0.1,
    )


def trouble(kind):
    """0: a rod; 1: refused; 2: NaN in the data; 3: a mistake; 4: the process is killed, once."""
    if kind == 1:
        raise tb.ProblemError("a kind of 1 cannot be; take another.")
    if kind == 3:
        return rod(np.zeros(2)[2])
    if kind == 4 and not os.path.exists("killed"):
        with open("killed", "w"):
            os.kill(os.getpid(), signal.SIGKILL)
    problem = rod()
    if kind == 2:
        nan = lambda x: jnp.log(x[0] - 0.5)
        return tb.Problem(problem.domain, problem.equation, problem.conditions, nan, t_end=0.1)
    return problem


def slow(kappa=1.0):
    """A rod whose function takes its time, so that a signal finds it at work."""
    print("made with", kappa)
    time.sleep(0.05)
    return rod(kappa)


def two(kappa=1.0):
    """Two rods in one problem, the second twice as warm."""
    return tb.Problem(
        tb.Interval(0.0, 1.0),
        tb.Heat(kappa),
        {"left": tb.Neumann(jnp.zeros(2)), "right": tb.Dirichlet(jnp.zeros(2))},
        lambda x: jnp.array([1.0, 2.0]) * exact(kappa, x, 0.0),
        t_end=0.1,
    )


def seeded(kappa=1.0, seed=0):
    """An argument with the name of an option."""
    return rod(kappa + seed)


made = rod()
