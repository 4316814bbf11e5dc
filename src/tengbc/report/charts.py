"""The curves of a report: which series stand in which chart."""

from typing import Any

from tengbc.history import Quantity, quantity
from tengbc.report.numbers import number

Chart = dict[str, Any]


def charts(data: dict[str, Any]) -> list[Chart]:
    """The error, then every quantity that was measured, against time; all segments in one."""
    made, together = [_error_chart(data)], {}
    for name, values in data["history"]["measured"].items():
        kind = "boundary" if name.startswith("boundary_") else name
        together.setdefault(kind, []).append((name.removeprefix("boundary_"), values))
    for kind, curves in together.items():
        times, numbered = data["history"]["time"], enumerate(curves)
        series = [_series(name, times, values, index) for index, (name, values) in numbered]
        made.append(_chart(kind, quantity(kind), kind.replace("_", " "), series))
    if balance := data.get("balance"):
        made.append(_balance_chart(balance))
    shown = [chart for chart in made if chart["series"]]
    end = max((one["x"][-1] for chart in shown for one in chart["series"]), default=1.0)
    time = (data["problem"] or {}).get("time", "t")
    for chart in shown:
        chart["x"] = {"label": f"time {time}", "limits": [0.0, end]}
    return shown


def _error_chart(data: dict[str, Any]) -> Chart:
    by_time = data["summary"].get("relative_l2_by_time") or []
    estimate, asked = data["estimate"], data["summary"].get("rtol")
    series = []
    if by_time:
        times, values = zip(*by_time, strict=True)
        series.append(_series("measured error", times, values, 0))
    if estimate:
        dashed = {"style": "dash1"}  # where both agree, both are seen
        series.append(_series("estimated error", estimate["time"], estimate["value"], 1) | dashed)
    caption = "Relative L² distance"
    caption += " to the exact solution" if by_time else ""
    caption += " and" if by_time and estimate else ""
    caption += " to a finer solution (the estimate)" if estimate else ""
    shown = Quantity("Error", f"{caption}, at each time.")
    chart = _chart("error", shown, "relative L² error", series)
    if asked is not None:
        chart["lines"] = [{"y": asked, "name": f"asked for: {number(asked)}"}]
    return chart


def _balance_chart(balance: dict[str, Any]) -> Chart:
    what = Quantity("Balance", "Since t = 0: stored, through each segment, made inside.", log=False)
    parts = ((name, part) for name, part in balance["parts"].items() if "left over" not in name)
    series = [_series(name, balance["time"], part, k % 8) for k, (name, part) in enumerate(parts)]
    return _chart("balance", what, "amount", series)


def _series(name: str, x: Any, y: Any, colour: int) -> dict[str, Any]:
    return {"name": name, "x": list(x), "y": list(y), "colour": colour}


def _chart(name: str, what: Quantity, label: str, series: list[dict[str, Any]]) -> Chart:
    shown = [one for one in series if any(value is not None for value in one["y"])]
    known = {value for one in shown for value in one["y"] if value is not None}
    constant = len(shown) == 1 and len(known) == 1 and len(shown[0]["y"]) > 1
    return {
        "id": name,
        "title": what.title,
        "caption": what.caption,
        "y": {"label": label, "log": what.log},
        "series": shown,
        "constant": number(known.pop(), 3) if constant else None,
    }
