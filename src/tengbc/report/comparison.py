"""Several runs on one page, side by side."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tengbc.report.charts import charts
from tengbc.report.from_directory import read_run
from tengbc.report.numbers import duration, number
from tengbc.report.pages import render, spent
from tengbc.report.verdict import verdict
from tengbc.storage.atomic import write_atomically

Summary = dict[str, Any]


def write_comparison(directories: Sequence[str | Path], path: str | Path) -> Path:
    """Write one page that compares the runs in several directories."""
    path = Path(path)
    places = [Path(directory) for directory in directories]
    page = comparison_page([read_run(place) for place in places], labels(places))
    write_atomically(path, page.encode())
    return path


def labels(places: Sequence[Path]) -> list[str]:
    """The shortest ends of the paths that tell them apart."""
    resolved = [place.resolve().parts for place in places]
    for count in range(1, max(map(len, resolved)) + 1):
        short = ["/".join(parts[-count:]) for parts in resolved]
        if len(set(short)) == len(set(resolved)):
            return short
    return [str(place) for place in places]


def comparison_page(runs: Sequence[dict[str, Any]], names: Sequence[str]) -> str:
    """The page: a table, the solutions under one slider, the curves of all runs."""
    summaries = [run["summary"] for run in runs]
    shown = [run["pictures"] for run in runs if run["pictures"]]
    # One set of controls must serve all: the same components and the same slices.
    kinds = {(len(one["components"]), len(one["views"])) for one in shown}
    pictures = shown if len(kinds) == 1 else []
    curves = _joined([charts(run) for run in runs], names)
    order = iter(range(len(pictures)))
    return render(
        "comparison.html",
        {
            "charts": curves,
            "pictures": pictures,
            "alike": len({s.get("problem") for s in summaries}) == 1,
        },
        runs=[
            {
                "label": name,
                "spent": spent(run["summary"].get("seconds", {})),
                "pictures": next(order) if run["pictures"] and pictures else None,
            }
            for run, name in zip(runs, names, strict=True)
        ],
        rows=_rows(summaries),
        pictures=pictures,
        charts=curves,
        **_headline(summaries, names),
        footer=f"Compares {len(runs)} runs of tengbc.",
    )


def _headline(summaries: Sequence[Summary], names: Sequence[str]) -> dict[str, Any]:
    solved = [summary["outcome"] == "done" for summary in summaries]
    kind = "good" if all(solved) else ("doubtful" if any(solved) else "bad")
    headline = "All runs solved" if all(solved) else f"{sum(solved)} of {len(solved)} runs solved"
    sentences = []
    error, time = _best(summaries, _error), _best(summaries, _total)
    if error is not None:
        shown = number(_error(summaries[error]))
        sentences.append(f"Most accurate: {names[error]}, relative error {shown}.")
    if time is not None:
        sentences.append(f"Fastest: {names[time]}, {duration(_total(summaries[time]))}.")
    if len({summary.get("problem") for summary in summaries}) > 1:
        sentences.append("The runs solve different problems, so the numbers are not comparable.")
    return {"kind": kind, "headline": headline, "sentences": sentences}


def _error(summary: Summary) -> float | None:
    measured = summary.get("relative_l2_max")
    return measured if measured is not None else summary.get("error_estimate_max")


def _total(summary: Summary) -> float | None:
    return summary.get("seconds", {}).get("total")


def _best(summaries: Sequence[Summary], read: Callable[[Summary], Any]) -> int | None:
    """Index of the solved run with the smallest value, if it beats all others."""
    solved = [(k, s) for k, s in enumerate(summaries) if s["outcome"] == "done"]
    found = sorted((read(s), k) for k, s in solved if read(s) is not None)
    return found[0][1] if len(found) > 1 and found[0][0] != found[1][0] else None


def _rows(summaries: Sequence[Summary]) -> list[dict[str, Any]]:
    def row(label: str, read: Callable[[Summary], Any], show: Callable = str, best: bool = False):
        values = [read(summary) for summary in summaries]
        texts = ["–" if value is None else show(value) for value in values]
        return {"label": label, "values": texts, "best": _best(summaries, read) if best else None}

    return [
        row("problem", lambda s: s.get("problem") or None),
        row("outcome", lambda s: verdict(s).headline),
        row("largest relative error", lambda s: s.get("relative_l2_max"), number, best=True),
        row("relative error at the end", lambda s: s.get("relative_l2_final"), number, best=True),
        row("estimate of the error", lambda s: s.get("error_estimate_max"), number),
        row("asked for", lambda s: s.get("rtol"), number),
        row("time taken", _total, duration, best=True),
        row("strategy", lambda s: s.get("strategy") or s.get("preset")),
        row("scheme", lambda s: s.get("scheme")),
        row("solved to t", lambda s: s.get("t_end"), number),
        row("steps", lambda s: s.get("steps"), number),
        row("time step", lambda s: s.get("dt"), number),
        row("parameters", lambda s: s.get("parameters"), number),
        row("interior points", lambda s: s.get("interior_points"), number),
        row("boundary points", lambda s: s.get("boundary_points"), number),
        row("seed", lambda s: s.get("seed")),
        row("tengbc", lambda s: s.get("versions", {}).get("tengbc")),
    ]


def _joined(every: Sequence[list[dict[str, Any]]], names: Sequence[str]) -> list[dict[str, Any]]:
    """One chart of each kind with the first series of every run, in the colour of the run."""
    joined: dict[str, dict[str, Any]] = {}
    for index, (one_run, name) in enumerate(zip(every, names, strict=True)):
        for chart in one_run:
            if chart["id"] == "boundary":  # segments may differ: the largest stands for all
                columns = zip(*(one["y"] for one in chart["series"]), strict=True)
                worst = [max(filter(None, values), default=None) for values in columns]
                series = {"x": chart["series"][0]["x"], "y": worst}
                chart["caption"] = "Root mean square on the segment where it is largest."
            else:
                series = chart["series"][0]
            start = chart | {"series": [], "constant": None, "lines": []}
            joined.setdefault(chart["id"], start)["series"].append(
                series | {"name": name, "colour": index % 8}
            )
    return list(joined.values())
