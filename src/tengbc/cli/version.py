"""tengbc --version."""

from typing import Annotated

import typer


def _show(asked: bool) -> None:
    if asked:
        from importlib.metadata import PackageNotFoundError, version

        try:
            print(f"tengbc {version('tengbc')}")
        except PackageNotFoundError:
            print("tengbc, not installed: run from its sources")
        raise typer.Exit


def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_show, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Solve time-dependent PDEs by marching a neural network through time."""
