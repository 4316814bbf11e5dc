"""A run in a file: every option of `tengbc run` as TOML, checked before anything heavy is loaded.

Nothing in it is evaluated; `problem = "FILE.py:NAME"` names a Python file that `run` executes, and
`"FILE.py:NAME(kappa=0.1)"` a function in it with its numbers.
"""

import hashlib
import json
import math
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tengbc.errors import UsageError, file_errors
from tengbc.options import Options, nearest, options
from tengbc.runs.address import address

RUN_KEYS = ("problem", "out", "checkpoint_every")
LARGEST_FILE = 1_000_000
"""Bytes; a configuration has some hundred."""


@dataclass(frozen=True)
class Config:
    """What `tengbc run` was asked for: the problem, its options, where to, how often to save."""

    problem: str
    options: Options
    out: Path | None = None
    checkpoint_every: float = 30.0

    @property
    def hash(self) -> str:
        """The identity of the run: the options and the problem, with the text of its file.

        How long a session may take is no part of it, nor how many devices share the blocks.
        """
        content = self.options.model_dump(mode="json", exclude={"max_seconds", "devices"})
        content |= {"in_blocks": self.options.devices is not None}
        where = address(self.problem)
        content |= {"problem": where.call}
        if where.path is not None:
            with file_errors(f"{where.path} cannot be read", "put it back"):
                content |= {"file": _sha256(where.path.read_bytes())}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return _sha256(text.encode())


def config(given: dict[str, Any]) -> Config:
    """A checked configuration; the first thing wrong becomes one sentence."""
    for key in given:
        if key not in RUN_KEYS and key not in Options.model_fields:
            known = (*RUN_KEYS, *Options.model_fields)
            raise UsageError(f"There is no option {key!r}; {nearest(key, known)}.")
    if "problem" not in given:
        raise UsageError('problem is missing; add a line such as problem = "heat-robin".')
    for key in ("problem", "out"):
        if given.get(key) is not None and not isinstance(given[key], str | Path):
            raise UsageError(f"{key} is {_shown(given[key])}, but it should be text; change it.")
    every = 30.0 if given.get("checkpoint_every") is None else given["checkpoint_every"]
    if isinstance(every, bool) or not isinstance(every, int | float) or not 0 <= every < math.inf:
        raise UsageError(
            f"checkpoint_every is {_shown(every)}, but it should be a number of seconds, zero or "
            f"more; change it."
        )
    chosen = options(**{key: value for key, value in given.items() if key not in RUN_KEYS})
    out = given.get("out")
    return Config(str(given["problem"]), chosen, None if out is None else Path(out), float(every))


def read_config(path: Path) -> dict[str, Any]:
    """The entries of a TOML file; the path of a problem's file is relative to it."""
    with file_errors(f"{path} cannot be read", "check the path"), path.open("rb") as file:
        data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise UsageError(f"{path} is larger than a configuration can be; check the path.")
    try:
        given = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split()).rstrip(".")[:120]
        raise UsageError(f"{path} is not valid TOML ({reason}); correct it there.") from None
    problem = given.get("problem")
    if isinstance(problem, str) and ".py" in problem:
        given["problem"] = str(path.parent.absolute() / problem)
    return given


def to_toml(chosen: Config) -> str:
    """The complete file; options that are left to the strategy stand in it as comments."""
    where = address(chosen.problem)
    if where.path is not None:
        where = replace(where, path=where.path.absolute())
    lines = ["# A run of tengbc: tengbc run THIS_FILE.toml", f"problem = {_value(str(where))}"]
    if chosen.out is not None:
        lines.append(f"out = {_value(str(chosen.out))}")
    lines.append(f"checkpoint_every = {_value(chosen.checkpoint_every)}")
    for key, value in chosen.options.model_dump().items():
        line = f"# {key} is left to the strategy" if value is None else f"{key} = {_value(value)}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _value(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 60 else f"{text[:57]}…"
