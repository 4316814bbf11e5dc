"""The commands, and how errors leave the process: one sentence and an exit code."""

import io
import re
import sys
from typing import Annotated

import typer

from tengbc.cli.baseline import baseline
from tengbc.cli.check import check
from tengbc.cli.compare import compare
from tengbc.cli.doctor import doctor
from tengbc.cli.new import new
from tengbc.cli.processes import leave
from tengbc.cli.reproduce import reproduce
from tengbc.cli.results import export, plot, report
from tengbc.cli.resume import resume
from tengbc.cli.run import run
from tengbc.cli.sweep import sweep
from tengbc.errors import TengbcError
from tengbc.problems.catalog import CATALOG


def _show_version(asked: bool) -> bool:
    if asked:
        from importlib.metadata import PackageNotFoundError, version

        try:
            print(f"tengbc {version('tengbc')}")
        except PackageNotFoundError:
            print("tengbc, not installed: run from its sources")
        raise typer.Exit
    return asked


def common(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Solve time-dependent PDEs by marching a neural network through time."""


def list_problems() -> None:
    """List the benchmark problems."""
    width = max(map(len, CATALOG))
    for name, entry in CATALOG.items():
        print(f"{name:<{width}}  {entry.description} (to t = {entry.t_end:g})")


app = typer.Typer(
    name="tengbc",
    callback=common,
    add_completion=True,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for command in (new, run, resume, sweep, check):
    app.command()(command)
app.command("list")(list_problems)
for command in (plot, export, report, baseline, compare, reproduce, doctor):
    app.command()(command)


def main() -> None:
    """Run the command line and end the process."""
    leave(_exit_code())


def _exit_code() -> int:
    """Run the command line; what goes wrong becomes a sentence and a code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without ² or ▂ shows ?, not an error
    try:
        code = app(standalone_mode=False)
    except TengbcError as error:
        print(f"tengbc: {error}", file=sys.stderr)
        return error.exit_code
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(bool(end.code))
    except (KeyboardInterrupt, typer.Abort):
        print("tengbc: interrupted.", file=sys.stderr)
        return 130
    except Exception as error:
        # Complaints of the parser know how to show themselves; anything else is a mistake of ours.
        complaint, show = getattr(error, "format_message", None), getattr(error, "show", None)
        if complaint is None or show is None:
            raise
        if len(sys.argv) < 2:  # help, not a complaint
            show()
        else:
            print(f"tengbc: {usage_sentence(complaint())}", file=sys.stderr)
        return 2
    return code if isinstance(code, int) else 0


def usage_sentence(message: str) -> str:
    """What the parser complains about, in one sentence with something to do."""
    text = " ".join(message.split()).rstrip(".")
    text = text.replace("Invalid value for ", "The value of ").replace(": Input should", " should")
    possible = re.search(r" \(Possible options: (.*)\)", text)
    if possible:
        return f"{text[: possible.start()]}; did you mean {possible[1]}?"
    return text if text.endswith("?") else f"{text}; see tengbc --help."
