"""The commands, and how errors leave the process: one sentence and an exit code."""

import io
import sys

import typer

from tengbc.cli.listing import list_problems
from tengbc.cli.resume import resume
from tengbc.cli.run import run
from tengbc.errors import TengbcError

app = typer.Typer(
    name="tengbc",
    help="Solve time-dependent PDEs by marching a neural network through time.",
    add_completion=True,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("run")(run)
app.command("resume")(resume)
app.command("list")(list_problems)


def main() -> None:
    """Entry point of the `tengbc` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without ² or ▂ shows ?, not an error
    try:
        app()
    except TengbcError as error:
        print(f"tengbc: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("tengbc: interrupted.", file=sys.stderr)
        sys.exit(130)
