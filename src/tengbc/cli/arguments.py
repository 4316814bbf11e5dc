"""What a command line names: a problem, a finished run, several numbers, the options of a run."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import BaseModel

from tengbc.errors import UsageError
from tengbc.problems.catalog import CATALOG
from tengbc.runs.address import address, check, load

if TYPE_CHECKING:
    from tengbc.problem import Problem


def check_problem(argument: str) -> None:
    """Refuse what cannot be a problem, without importing anything heavy."""
    check(address(argument))


def complete_problem(begun: str) -> list[tuple[str, str]]:
    """What a shell offers for the beginning of a problem's name."""
    return [(name, entry.description) for name, entry in CATALOG.items() if name.startswith(begun)]


ProblemName = Annotated[
    str, typer.Argument(help="A name or FILE.py:NAME.", autocompletion=complete_problem)
]


def load_problem(argument: str) -> Problem:
    """A benchmark, or an object of a user's file, which is run as Python code."""
    return load(address(argument))


SolutionPath = Annotated[Path, typer.Argument(help="Directory of a run, or a .safetensors file.")]


def solution_file(place: Path) -> Path:
    """The file of a run's directory, or the file itself; checked before anything is imported."""
    file = place / "solution.safetensors" if place.is_dir() else place
    if not file.is_file():
        raise UsageError(
            f"There is no {file}; name a directory that `tengbc run … --out DIR` has finished."
        )
    return file


def numbers(text: str, name: str, kind: type = float) -> list[Any]:
    """Comma-separated numbers; their values are checked elsewhere."""
    what, example = ("numbers", "0,0.5,1") if kind is float else ("whole numbers", "40,40,40")
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(
            f"{name} is {text!r}, but it should be {what} with commas between them; write it like "
            f"{example}."
        ) from None


def with_options(model: type[BaseModel]) -> Callable[[Callable], Callable]:
    """Give a command with the parameter `**options` one option --a-name for each field of a model.

    Only the kind of a value, a number or text, is checked here, the value by the model.
    """

    def decorate(command: Callable) -> Callable:
        first, *rest, _ = inspect.signature(command, eval_str=True).parameters.values()
        fields = model.model_json_schema()["properties"].items()
        generated = [_parameter(name, field) for name, field in fields]
        vars(command)["__signature__"] = inspect.Signature([first, *generated, *rest])
        return command

    return decorate


def _parameter(name: str, field: dict[str, Any]) -> inspect.Parameter:
    """An option with the field's description and choices; None where it is not given."""
    value = field.get("anyOf", [field])[0]  # a field that may be None has two schemas
    default = field.get("default")

    def sequence(text: str | None) -> tuple[int, ...] | None:
        return None if text is None else tuple(numbers(text, name, int))

    option = typer.Option(
        help=field["description"] + ("" if default is None else f" Default {default}."),
        metavar="|".join(value.get("enum", ())) or None,
        callback=sequence if value["type"] == "array" else None,
    )
    kind = {"integer": int, "number": float}.get(value["type"], str)
    usual = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Parameter(name, usual, default=None, annotation=Annotated[kind | None, option])
