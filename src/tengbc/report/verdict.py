"""What a run came to, in plain words and in figures, as far as its summary knows them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tengbc.outcome import outcome_named
from tengbc.report.numbers import duration, number

Row = tuple[str, str]


@dataclass(frozen=True)
class Verdict:
    """`kind` is good, doubtful or bad; a headline, then sentences."""

    kind: str
    headline: str
    sentences: list[str]


def verdict(summary: dict[str, Any]) -> Verdict:
    """Solved or not, the error reached against the error asked for, and the time it took."""
    outcome = summary["outcome"]
    known = outcome_named(outcome)
    kind, headline = "doubtful", f"Ended: {outcome}"
    if known is not None:
        kind, headline = known.verdict, known.headline
    measured, estimated = summary.get("relative_l2_max"), summary.get("error_estimate_max")
    asked, message = summary.get("rtol"), summary.get("message") or ""
    missed = measured is not None and asked is not None and measured > asked
    if outcome == "done" and missed and not message:
        kind, headline = "doubtful", "Less accurate than asked, and than the estimate promised"
    elif outcome == "done" and asked is not None and max(measured or 0, estimated or 0) > asked:
        kind, headline = "doubtful", "As accurate as asked after an initial layer only"
    sentences = []
    if kind != "bad":
        sentences.append(_error_sentence(measured, estimated, asked, _when(summary)))
    if outcome != "done" and _finished(summary):
        # The sentence above has the numbers; what is left of the message is what to do.
        message = message.partition("; ")[2] or message
    if message:
        text = message[0].upper() + message[1:]
        sentences.append(text if text.endswith((".", "!", "?")) else f"{text}.")
    total = summary.get("seconds", {}).get("total")
    if total is not None:
        sentences.append(f"It took {duration(total)}.")
    return Verdict(kind, headline, sentences)


def facts(summary: dict[str, Any], done: int) -> list[Row]:
    """What stands below the verdict: errors, time, size."""
    measured, planned = summary.get("relative_l2_max"), summary.get("steps")
    finished = _finished(summary)
    end = summary.get("t_end") if finished else None
    estimate = "estimated error" if measured is None else "estimate of it"
    return _known(
        ("largest relative error", measured, number),
        (estimate, summary.get("error_estimate_max"), number),
        ("asked for", summary.get("rtol"), number),
        ("time taken", summary.get("seconds", {}).get("total"), duration),
        ("solved to", end, lambda t: f"t = {number(t, 4)}"),
        ("steps", planned, lambda n: f"{n:,}" if finished else f"{done:,} of {n:,}"),
        ("patches", summary.get("patches"), number),
        ("parameters", summary.get("parameters"), number),
    )


def balance_sentence(balance: dict[str, Any] | None) -> list[str]:
    """How well what is stored agrees with what came in and was made; nothing if unknown."""
    if balance is None or balance["closes"] is None:
        return []
    return [
        f"The balance closes to {number(balance['closes'])}: so much of what is stored neither "
        f"came in through the boundary nor was made inside."
    ]


def settings(summary: dict[str, Any], features: str = "") -> list[Row]:
    """What it takes to do it again, besides the command; `features` in words."""
    strategy, words = summary.get("strategy"), summary.get("strategy_in_words")
    strategy = f"{strategy}: {words}" if strategy and words else strategy
    versions = ", ".join(f"{name} {value}" for name, value in summary.get("versions", {}).items())
    return _known(
        ("strategy", strategy, str),
        ("features", features or None, str),
        ("preset", summary.get("preset"), str),
        ("time scheme", summary.get("scheme"), str),
        ("time step", summary.get("dt"), lambda dt: number(dt, 3)),
        ("points inside", summary.get("interior_points"), number),
        ("points on the boundary", summary.get("boundary_points"), number),
        ("seed", summary.get("seed"), str),
        ("outcome", summary["outcome"], str),
        ("versions", versions or None, str),
    )


def _finished(summary: dict[str, Any]) -> bool:
    """Whether there is a solution up to the final time; one that is out of time may be shorter."""
    outcome, reached, end = (summary.get(name) for name in ("outcome", "t_reached", "t_end"))
    whole = reached is not None and end is not None and reached >= end
    return outcome in ("done", "tolerance not reached") or (outcome == "out of time" and whole)


def _when(summary: dict[str, Any]) -> str:
    """The times for which an error was measured."""
    times = [t for t, _ in summary.get("relative_l2_by_time") or []]
    reached = summary.get("t_reached")
    if len(times) > 50 or not times or reached is None:
        return "at all times"
    many = f"the {len(times)} times" if len(times) > 1 else "the one time"
    return f"at {many} for which values are known, the last being t = {times[-1]:g}"


def _error_sentence(
    measured: float | None, estimated: float | None, asked: float | None, when: str
) -> str:
    wanted = f", where {number(asked)} was asked for" if asked is not None else ""
    if measured is not None and asked is not None and measured > asked:
        return f"The relative error reaches {number(measured)}{wanted}."
    if measured is not None:
        return f"The relative error stays within {number(measured)} {when}{wanted}."
    if estimated is not None:
        return (
            f"The relative error is estimated to stay within {number(estimated)}{wanted}; no exact "
            f"solution is known to check it against."
        )
    return "The error is not known: there is neither an exact solution nor an estimate."


def _known(*rows: tuple[str, Any, Callable[[Any], str]]) -> list[Row]:
    return [(label, show(value)) for label, value, show in rows if value is not None]
