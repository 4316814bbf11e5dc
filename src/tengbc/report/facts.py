"""The figures of a run, as far as its summary knows them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tengbc.report.numbers import duration, number

Row = tuple[str, str]


def facts(summary: dict[str, Any], done: int) -> list[Row]:
    """What stands below the verdict: errors, time, size."""
    measured, planned = summary.get("relative_l2_max"), summary.get("steps")
    finished = summary["outcome"] in ("done", "tolerance not reached")
    end = summary.get("t_end") if finished else None
    return _known(
        ("largest relative error", _shown(measured, number)),
        (
            "estimated error" if measured is None else "estimate of it",
            _shown(summary.get("error_estimate_max"), number),
        ),
        ("asked for", _shown(summary.get("rtol"), number)),
        ("time taken", _shown(summary.get("seconds", {}).get("total"), duration)),
        ("solved to", _shown(end, lambda t: f"t = {number(t, 4)}")),
        ("steps", _shown(planned, lambda n: f"{n:,}" if finished else f"{done:,} of {n:,}")),
        ("parameters", _shown(summary.get("parameters"), number)),
    )


def settings(summary: dict[str, Any]) -> list[Row]:
    """What it takes to do it again, besides the command."""
    inside, rim, seed = (
        summary.get(name) for name in ("interior_points", "boundary_points", "seed")
    )
    versions = ", ".join(f"{name} {value}" for name, value in summary.get("versions", {}).items())
    return _known(
        ("preset", summary.get("preset")),
        ("time scheme", summary.get("scheme")),
        ("time step", _shown(summary.get("dt"), lambda dt: number(dt, 3))),
        ("points inside", _shown(inside, number)),
        ("points on the boundary", _shown(rim, number)),
        ("seed", _shown(seed, str)),
        ("outcome", summary["outcome"]),
        ("versions", versions or None),
    )


def _shown(value: Any, show: Callable[[Any], str]) -> str | None:
    return None if value is None else show(value)


def _known(*rows: tuple[str, str | None]) -> list[Row]:
    return [(label, text) for label, text in rows if text is not None]
