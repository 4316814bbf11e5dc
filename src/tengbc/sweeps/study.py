"""A study: the runs of a sweep, from a TOML file or from Python, checked before anything starts.

The runs are all combinations of the values in `grid`, taken for every entry of `list` or every draw
of `random`. A name in them is an option of `tengbc run`, or else a number that the problem's
function takes.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from tengbc.costs import check_options
from tengbc.errors import UsageError
from tengbc.options import Options, nearest
from tengbc.problems.catalog import CATALOG
from tengbc.runs.address import Address, address, check
from tengbc.runs.config import Config, config, read_config
from tengbc.sweeps.quantities import check_name

FORM = "tengbc study 1"
"""Name and version of study.json."""
FILE = "study.json"
MARK = "TENGBC_SWEEP_WORKER"
"""The variable that tells a `tb.sweep` in a problem's file that a worker is reading the file."""
VARIED = ("grid", "list", "random")
OF_THE_STUDY = (*VARIED, "out", "quantities", "times", "slurm")
KEYS = ("problem", "checkpoint_every", *OF_THE_STUDY)
MOST_RUNS = 100_000
Values = dict[str, Any]


@dataclass(frozen=True)
class StudyRun:
    """One run of a study: what is varied, and what it is asked for."""

    number: int
    parameters: Values
    given: Values
    path: Path

    @cached_property
    def config(self) -> Config:
        """As `tengbc run` would have it."""
        return config(self.given)


@dataclass(frozen=True)
class Study:
    """The runs in the directory `out`, and what their table shows.

    `grid` has the values of the names that are combined; `drawn` are the names of the list or of
    the draws, along the dimension `entry` or `draw`.
    """

    out: Path
    grid: dict[str, list[Any]]
    drawn: tuple[str, ...]
    dimension: str
    runs: tuple[StudyRun, ...]
    quantities: tuple[str, ...] = ()
    times: tuple[float, ...] | None = None
    slurm: Values | None = None

    @property
    def parameters(self) -> tuple[str, ...]:
        """All names that are varied, the list's or the draws' first."""
        return (*self.drawn, *self.grid)

    @cached_property
    def hash(self) -> str:
        """The identity of the study: its runs, with the text of the problem's file."""
        content = [[run.parameters, run.config.hash] for run in self.runs]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def to_json(self) -> str:
        """study.json, from which workers and `load_sweep` have the study."""
        content = {
            "form": FORM,
            "hash": self.hash,
            "grid": self.grid,
            "drawn": self.drawn,
            "dimension": self.dimension,
            "quantities": self.quantities,
            "times": self.times,
            "runs": [{"parameters": run.parameters, "given": run.given} for run in self.runs],
        }
        return json.dumps(content, indent=1, allow_nan=False) + "\n"


def read_study(path: Path, **changes: Any) -> Study:
    """The study of a TOML file, with some entries changed; its problem's path is relative to it."""
    given = read_config(path)
    return study(given | changes, path.parent)


def stored_study(out: Path) -> tuple[Study, str]:
    """The study that a directory holds, and its hash when it was written."""
    path = out / FILE
    try:
        content = json.loads(path.read_text("utf-8"))
        if content["form"] != FORM:
            raise ValueError
        runs = _numbered(out, [(run["parameters"], run["given"]) for run in content["runs"]])
        times = content["times"]
        found = Study(
            out,
            dict(content["grid"]),
            tuple(content["drawn"]),
            str(content["dimension"]),
            runs,
            tuple(content["quantities"]),
            None if times is None else tuple(times),
        )
        return found, str(content["hash"])
    except OSError:
        raise UsageError(
            f"{out} holds no sweep, for it has no {FILE}; name the directory of one."
        ) from None
    except (ValueError, KeyError, TypeError):
        raise UsageError(
            f"{path} is not what this version of tengbc wrote; make the sweep again elsewhere."
        ) from None


def study(given: Mapping[str, Any], base: Path = Path()) -> Study:
    """A checked study; the first thing wrong becomes one sentence."""
    for key in given:
        if key not in KEYS and key not in Options.model_fields:
            known = (*KEYS, *Options.model_fields)
            raise UsageError(f"A study has no entry {key!r}; {nearest(key, known)}.")
    given = {key: value for key, value in given.items() if value is not None}
    if "out" not in given:
        raise UsageError('out is missing; add a line such as out = "runs/study", or pass --out.')
    grid = _grid(_table(given, "grid"))
    drawn, dimension = _drawn(given)
    names = tuple(dict.fromkeys(name for entry in drawn for name in entry))
    common = {key: value for key, value in given.items() if key not in OF_THE_STUDY}
    for name in (*names, *grid):
        if name in common:
            raise UsageError(f"{name} is varied and given for all runs too; leave one of them out.")
        if name in names and name in grid:
            raise UsageError(f"{name} is varied twice; leave it in one of {', '.join(VARIED)}.")
    count = len(drawn) * math.prod(map(len, grid.values()))
    if not (names or grid) or not count:
        raise UsageError(
            "The study has no runs, for nothing is varied; add a table such as [grid] with a line "
            "seed = [0, 1, 2]."
        )
    if count > MOST_RUNS:
        raise UsageError(f"The study has {count:,} runs; take fewer values, {MOST_RUNS:,} at most.")
    combined = [
        dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())
    ]
    found = [(e | c, _asked(common, e | c, base)) for e in drawn for c in combined]
    out = Path(given["out"]) if isinstance(given["out"], str | Path) else None
    if out is None:
        raise UsageError(f"out is {given['out']!r}, but it should be text; change it.")
    runs = _numbered(out, found)
    for run in runs:
        _check(run)
    quantities, times = _shown(given)
    slurm = _table(given, "slurm") if "slurm" in given else None
    return Study(out, grid, names, dimension, runs, quantities, times, slurm)


def _check(run: StudyRun) -> None:
    """The options of one run, and its problem as far as it can be checked without JAX."""
    check(address(run.config.problem))
    check_options(run.config.options, dim=2 if run.config.problem in CATALOG else 1)


def _numbered(out: Path, found: Iterable[tuple[Values, Values]]) -> tuple[StudyRun, ...]:
    found = list(found)
    width = len(str(len(found)))
    return tuple(
        StudyRun(number, dict(parameters), dict(asked), out / "runs" / f"{number:0{width}}")
        for number, (parameters, asked) in enumerate(found, start=1)
    )


def _asked(common: Values, parameters: Values, base: Path) -> Values:
    """What one run is asked for: numbers of its problem go into the problem's address."""
    asked = common | parameters
    text = asked.get("problem")
    if not isinstance(text, str):
        raise UsageError('problem is missing; add a line such as problem = "plate.py:plate".')
    where = address(text)
    if where.path is not None:
        where = replace(where, path=(base / where.path).absolute())
    numbers: dict[str, int | float] = {}
    for name in parameters:
        if name != "problem" and name not in Options.model_fields:
            numbers[name] = _number(name, asked.pop(name), where)
    asked["problem"] = str(replace(where, numbers={**where.numbers, **numbers}))
    return asked


def _number(name: str, value: Any, where: Address) -> int | float:
    """A value for an argument of the problem's function."""
    if not name.isidentifier():
        raise UsageError(f"{name!r} is no name of an argument; {_instead(name)}.")
    if where.path is None:
        raise UsageError(
            f"There is no option {name!r}, and the problem {where.name} takes no numbers; "
            f"{_instead(name)}."
        )
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UsageError(
            f"{name} is {value!r}, but {where.name} is called with numbers; write one."
        )
    if name in where.numbers:
        raise UsageError(f"{name} is varied and stands in {where.call} too; leave it out there.")
    return value


def _instead(name: str) -> str:
    return nearest(name, tuple(Options.model_fields))


def _table(given: Mapping[str, Any], key: str) -> Values:
    table = given.get(key, {})
    if not isinstance(table, Mapping):
        raise UsageError(f"{key} is {table!r}, but it should be a table; write [{key}] above it.")
    return {name: _listed(value) for name, value in table.items()}


def _listed(value: Any) -> Any:
    """Arrays and scalars of NumPy as lists and numbers."""
    return value.tolist() if hasattr(value, "tolist") else value


def _grid(table: Values) -> dict[str, list[Any]]:
    return {name: _values(name, value) for name, value in table.items()}


def _values(name: str, value: Any) -> list[Any]:
    """A list as it stands, or numbers at equal distances: {from = 1, to = 9, count = 5}."""
    if isinstance(value, Mapping):
        low, high, log = _ends(name, value, "count")
        count = value.get("count")
        if not isinstance(count, int) or not 2 <= count <= MOST_RUNS:
            raise UsageError(f"{name} has count {count!r}; write how many values, two or more.")
        whole = isinstance(low, int) and isinstance(high, int) and not log
        if whole and (high - low) % (count - 1) == 0:
            return [*range(low, high + 1, (high - low) // (count - 1))]
        shares = [k / (count - 1) for k in range(count)]
        return [low if s == 0 else high if s == 1 else _between(low, high, s, log) for s in shares]
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise UsageError(f"{name} is {value!r}, but a list of values is wanted; write [ … ].")
    values = [_listed(one) for one in value]
    if not values or len({json.dumps(one) for one in values}) < len(values):
        what = "no value" if not values else "a value twice"
        raise UsageError(f"{name} has {what} in its list; write each value once.")
    return values


def _drawn(given: Mapping[str, Any]) -> tuple[list[Values], str]:
    """The entries of the list or the draws; one empty entry where there are none."""
    if "list" in given and "random" in given:
        raise UsageError("A study has a list or random draws, not both; leave one of them out.")
    if "list" in given:
        entries = given["list"]
        if isinstance(entries, str | Mapping) or not isinstance(entries, Sequence):
            raise UsageError("list is no list of tables; write [[list]] above each entry.")
        for entry in entries:
            if not isinstance(entry, Mapping) or set(entry) != set(entries[0]):
                raise UsageError("Entries of the list differ in their names; give all the same.")
        return [{name: _listed(value) for name, value in e.items()} for e in entries], "entry"
    if "random" in given:
        return _draws(_table(given, "random")), "draw"
    return [{}], "entry"


def _draws(table: Values) -> list[Values]:
    """Random values of each name, in a sequence of its own: more draws begin with the same ones."""
    count, seed = table.pop("draws", None), table.pop("draw_seed", 0)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_RUNS:
        raise UsageError(f"draws is {count!r} in [random]; write how many, such as draws = 20.")
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise UsageError(f"draw_seed is {seed!r} in [random]; write a whole number.")
    drawn: list[Values] = [{} for _ in range(count)]
    for name, value in table.items():
        source = random.Random(f"{seed} {name}")
        for draw in drawn:
            draw[name] = _draw(name, value, source.random())
    return drawn


def _draw(name: str, value: Any, share: float) -> Any:
    """One of a list, or a number between two: {from = 0.1, to = 10, log = true}."""
    if not isinstance(value, Mapping):
        values = _values(name, value)
        return values[int(share * len(values))]
    low, high, log = _ends(name, value)
    if isinstance(low, int) and isinstance(high, int) and not log:
        return low + int(share * (high - low + 1))  # whole numbers, both ends among them
    return _between(low, high, share, log)


def _ends(name: str, value: Mapping[str, Any], *more: str) -> tuple[Any, Any, bool]:
    known = ("from", "to", "log", *more)
    for key in value:
        if key not in known:
            raise UsageError(f"{name} has no entry {key!r}; {nearest(key, known)}.")
    low, high, log = value.get("from"), value.get("to"), value.get("log", False)
    numbers = [v for v in (low, high) if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(numbers) < 2 or not -math.inf < numbers[0] < numbers[1] < math.inf:
        raise UsageError(f"{name} runs from {low!r} to {high!r}; write two numbers, from < to.")
    if log is True and numbers[0] <= 0:
        raise UsageError(f"{name} begins at {low!r}, which has no logarithm; write a from above 0.")
    return low, high, log is True


def _between(low: float, high: float, share: float, log: bool) -> float:
    if log:
        return math.exp((1 - share) * math.log(low) + share * math.log(high))
    return (1 - share) * low + share * high


def _shown(given: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[float, ...] | None]:
    """The quantities and times that the table has."""
    names, times = given.get("quantities", ()), _listed(given.get("times"))
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise UsageError('quantities is no list; write it like ["integral", "flux:left"].')
    if times is None:
        return tuple(map(check_name, names)), None
    times = times if isinstance(times, Sequence) and not isinstance(times, str) else [times]
    for t in times:
        if isinstance(t, bool) or not isinstance(t, int | float) or not 0 <= t < math.inf:
            raise UsageError(f"times has {t!r}, but times are numbers from 0 on; change it.")
    if not times or not names:
        raise UsageError(
            "times and quantities belong together, and one of them is empty; give both, or leave "
            "times out for the end of each run."
        )
    return tuple(map(check_name, names)), tuple(sorted({float(t) for t in times}))
