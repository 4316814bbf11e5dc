"""Made-up solutions: a few features whose heads decay, so that no test waits for a solve."""

import base64

import jax.numpy as jnp
import numpy as np

import tengbc as tb
from tengbc.history import Record
from tengbc.networks import Parameters
from tengbc.report.numbers import LARGEST, MISSING

TIMES = np.linspace(0.0, 1.0, 21)
MISS = 1e-3
"""The made-up error: u − u* = MISS·t·x₁ in every component."""


def made_up(domain, components=0, exact=True, outcome=tb.Outcome.DONE, message="", name="made-up"):
    """u = exp(−t)·Σ sin(wᵀx + b), in all components but the first doubled."""
    parameters = Parameters(tb.random_features(domain, 6, components))
    size = max(components, 1)
    head = np.concatenate([np.tile(1.0 + np.arange(size)[:, None], (1, 6)).ravel(), np.zeros(size)])
    body = parameters.start[: parameters.head.start]
    thetas = np.stack([np.concatenate([body, np.exp(-t) * head]) for t in TIMES])
    network = parameters.network(parameters.start)

    def truth(x, t):
        waves = jnp.sum(network.body(x)) * jnp.exp(-t)
        values = waves * (1.0 + jnp.arange(size)) - MISS * t * x[0]
        return values if components else values[0]

    law = tb.Condition(lambda u, x, normal, t: jnp.sum(u(x)))
    problem = tb.Problem(
        domain,
        tb.Heat(0.1),
        {segment: law for segment in domain.segments},
        lambda x: truth(x, 0.0),
        truth if exact else None,
        name=name,
        t_end=1.0,
    )
    history = [
        Record(
            step,
            t,
            {"fit_residual": 1e-9 * (1 + t), "rank": 7 - step % 2, "condition": 1e5}
            | {f"boundary_{segment}": 1e-8 + t for segment in domain.segments},
        )
        for step, t in enumerate(TIMES[1:], start=1)
    ]
    facts = {
        "strategy": "frozen-features",
        "preset": "fast",
        "scheme": "radau9",
        "rtol": 1e-2,
        "dt": 0.05,
        "t_end": 1.0,
    }
    sizes = {"steps": 20, "seed": 0, "interior_points": 64, "boundary_points": 16}
    return tb.Solution(
        problem,
        parameters,
        TIMES,
        thetas,
        tb.Result(outcome, message),
        history,
        np.full(len(TIMES), 2e-3),
        {"march": 1.0, "compile": 2.0, "initial_fit": 0.5},
        facts | sizes | {"parameters": len(parameters)},
    )


SECTOR = tb.AnnularSector(0.5, 1.0, 0.0, np.pi / 2)


def decoded(packed):
    """The values of a picture again, NaN where they are missing: what the page's script does."""
    scales = np.array(packed["scales"])
    whole = np.frombuffer(base64.b64decode(packed["numbers"]), "<i2").reshape(len(scales), -1)
    return np.where(whole == MISSING, np.nan, whole * (scales[:, None] / LARGEST))
