"""A deformed march as a snapshot, and a snapshot as a march: the same bits go on."""

from __future__ import annotations

import numpy as np

from tengbc.deformation.march import Marched, State, Stored
from tengbc.journal import Snapshot

NUMBERS = ("t", "steps", "points", "tail", "compression")
"""What is kept of a stored time beside its tables."""


def snapshot_of(marched: Marched, facts: dict | None = None, finished: bool = False) -> Snapshot:
    """The state, and the tables of all stored times one after the other."""
    state = marched.state
    assert state is not None
    arrays = {
        "modes": np.asarray(state.modes).view(np.float64),
        "potential": np.asarray(state.potential).view(np.float64),
        "seen": np.array([[float(getattr(s, name)) for name in NUMBERS] for s in marched.stored]),
    }
    for name in ("head", "potential"):
        tables = [getattr(s, name) for s in marched.stored]
        arrays[f"{name}_tables"] = np.concatenate([t.ravel() for t in tables])
    known = {
        "shapes": [list(s.head.shape) for s in marched.stored],
        "grown": [list(pair) for pair in marched.grown],
        "t": state.t,
        "points": state.points,
        "steps": state.steps,
        "scale": state.scale,
        "rate": state.rate,
    }
    return Snapshot(arrays, {**known, **(facts or {})}, finished)


def marched_of(snapshot: Snapshot) -> Marched:
    """The march as it was."""
    arrays, facts = snapshot.arrays, snapshot.facts
    state = State(
        facts["t"],
        facts["points"],
        facts["steps"],
        facts["scale"],
        facts["rate"],
        np.array(arrays["modes"]).view(np.complex128),
        np.array(arrays["potential"]).view(np.complex128),
    )
    stored, head_place, potential_place = [], 0, 0
    for seen, shape in zip(arrays["seen"], facts["shapes"], strict=True):
        size = int(np.prod(shape))
        head = arrays["head_tables"][head_place : head_place + size].reshape(shape)
        head_place, one = head_place + size, size // shape[0]
        table = arrays["potential_tables"][potential_place : potential_place + one]
        potential_place += one
        t, steps, points, tail, compression = seen.tolist()
        potential = table.reshape(shape[1:])
        stored.append(Stored(t, int(steps), int(points), tail, compression, head, potential))
    grown = [(float(t), int(n)) for t, n in facts["grown"]]
    return Marched(stored, grown, state)
