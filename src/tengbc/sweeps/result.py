"""What came out of a sweep: a row for every run, as a table, a CSV file and an xarray Dataset."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tengbc.errors import UsageError
from tengbc.optional import extra
from tengbc.sweeps.quantities import time_keys
from tengbc.sweeps.rows import KEYS, UNFINISHED, Row, read_row
from tengbc.sweeps.study import Study, stored_study

if TYPE_CHECKING:
    from tengbc.solution import Solution

MEASURED = ("error", "error_estimate", "seconds")
"""Numbers of every run: the largest relative error, its estimate, and the time it took."""


def load_sweep(path: str | Path) -> Sweep:
    """The results in the directory of a sweep, finished or not."""
    study, _ = stored_study(Path(path))
    empty = dict.fromkeys(KEYS) | {"outcome": UNFINISHED, "message": "", "quantities": {}}
    return Sweep(study, [read_row(run.path) or empty for run in study.runs])


@dataclass(frozen=True, repr=False)
class Sweep:
    """The runs of a study and what came out of them.

    `rows` has, for each run, its outcome, error, estimate, seconds, and quantities by time;
    `parameters` what was varied.
    """

    study: Study
    results: list[Row]

    def __repr__(self) -> str:
        solved = sum(row["outcome"] == "done" for row in self.results)
        varied = ", ".join(self.study.parameters)
        return f"<Sweep over {varied}: {solved} of {len(self)} runs solved, in {self.path}>"

    def __len__(self) -> int:
        return len(self.results)

    @property
    def path(self) -> Path:
        """The directory of the sweep."""
        return self.study.out

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A flat row for each run: its number, parameters, outcome, numbers and quantities."""
        return [
            {
                "run": run.number,
                **run.parameters,
                **{key: row[key] for key in ("outcome", "message", *MEASURED)},
                **self._quantities(row),
            }
            for run, row in zip(self.study.runs, self.results, strict=True)
        ]

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The rows of the runs that were not solved, each with its outcome."""
        return [row for row in self.rows if row["outcome"] != "done"]

    def directory(self, run: int) -> Path:
        """The directory of a run, by its number from 1 on."""
        if not 1 <= run <= len(self):
            raise UsageError(f"There is no run {run}; they go from 1 to {len(self)}.")
        return self.study.runs[run - 1].path

    def solution(self, run: int) -> Solution:
        """The solution of a run, by its number from 1 on."""
        from tengbc.solution.file import load

        file = self.directory(run) / "solution.safetensors"
        if not file.is_file():
            outcome = self.results[run - 1]["outcome"]
            raise UsageError(f"Run {run} has no solution ({outcome}); choose another.")
        return load(file)

    def to_csv(self) -> str:
        """The table as text; what is not known is empty."""
        text, rows = io.StringIO(), self.rows
        names = dict.fromkeys(name for row in rows for name in row)
        writer = csv.DictWriter(text, list(names), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()

    def to_xarray(self) -> Any:
        """The table as a Dataset with the parameters as dimensions, quantities with time too.

        Parameters of a list or of random draws share one dimension, `entry` or `draw`, along which
        they are coordinates.
        """
        xarray = extra("xarray", "A sweep as xarray", "export")
        np = extra("numpy", "A sweep as xarray", "export")
        study, sizes, coords = self.study, {}, {}
        inner = 1
        for name, values in study.grid.items():
            sizes[name], coords[name] = len(values), [_coordinate(value) for value in values]
            inner *= len(values)
        if study.drawn:
            entries = study.runs[::inner]
            sizes = {study.dimension: len(entries), **sizes}
            for name in study.drawn:
                along = [_coordinate(run.parameters[name]) for run in entries]
                coords[name] = (study.dimension, along)
        dims, shape = tuple(sizes), tuple(sizes.values())
        content = {
            name: (dims, np.array([_float(row[name]) for row in self.results]).reshape(shape))
            for name in MEASURED
        }
        content["outcome"] = (dims, np.reshape([row["outcome"] for row in self.results], shape))
        content["run"] = (dims, np.reshape([run.number for run in study.runs], shape))
        timed = study.times is not None
        for name in study.quantities:
            values = np.array(self._aligned(name), dtype=float)  # runs, times, components
            systems = values.shape[2] > 1
            kept = values if systems else values[:, :, 0]
            kept = kept if timed else kept[:, 0]
            more = (*(("time",) if timed else ()), *(("component",) if systems else ()))
            content[name] = ((*dims, *more), kept.reshape(*shape, *kept.shape[1:]))
        if timed and study.quantities:
            coords["time"] = list(study.times or ())
        return xarray.Dataset(content, coords)

    def _aligned(self, name: str) -> list[list[list[float]]]:
        """A quantity of all runs: by time, then by component, NaN where it is not known."""
        by_run = [
            [row["quantities"].get(name, {}).get(key) for key in time_keys(self.study.times)]
            for row in self.results
        ]
        lists = [value for values in by_run for value in values if isinstance(value, list)]
        width = max(map(len, lists), default=1)
        unknown = [float("nan")] * width

        def spread(value: Any) -> list[float]:
            if value is None:
                return unknown
            return [_float(one) for one in (value if isinstance(value, list) else [value])]

        return [[spread(value) for value in values] for values in by_run]

    def _quantities(self, row: Row) -> dict[str, float | None]:
        """`integral@0.5`, and for a system `integral[0]@0.5`."""
        found: dict[str, float | None] = {}
        for name in self.study.quantities:
            for key in time_keys(self.study.times):
                value = row["quantities"].get(name, {}).get(key)
                if isinstance(value, list):
                    found |= {f"{name}[{k}]@{key}": one for k, one in enumerate(value)}
                else:
                    found[f"{name}@{key}"] = value
        return found


def _float(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def _coordinate(value: Any) -> Any:
    """Numbers and text as they are, such as lists of widths as text."""
    return value if isinstance(value, int | float | str) else ",".join(map(str, value))
