"""tengbc reproduce: the paper's tables and figures, remade."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from tengbc.errors import UsageError
from tengbc.evidence.reproduction.catalog import cases, groups
from tengbc.options import nearest


def reproduce(
    what: Annotated[str, typer.Argument(help="heat, transport, burgers or all.")],
    preset: Annotated[str, typer.Option(help="fast (minutes) or paper (days).")] = "fast",
    out: Annotated[Path, typer.Option(help="Where results/<preset>/ is made.")] = Path("results"),
    tables_only: Annotated[
        bool, typer.Option("--tables-only", help="Run nothing; use the results that exist.")
    ] = False,
    only: Annotated[
        str, typer.Option(metavar="NAME,…", help="The runs to make, such as heat-flux-rk4.")
    ] = "",
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Remake tables and figures of the paper, ours beside its own; finished runs are skipped."""
    names = groups(what)
    if preset not in ("fast", "paper"):
        raise UsageError(f"preset is {preset!r}, but it is either fast or paper; choose one.")
    chosen = tuple(name for name in only.split(",") if name)
    known = {case.name for name in names for case in cases(name, preset)}
    for name in chosen:
        if name not in known:
            raise UsageError(
                f"{what} has no run called {name!r}; {nearest(name, tuple(sorted(known)))}."
            )
    from tengbc.evidence.reproduction.reproduce import reproduce as remake
    from tengbc.plotting import matplotlib_figure
    from tengbc.progress import Bar

    matplotlib_figure()
    with Bar(quiet) as bar:

        def say(text: str) -> None:
            if not quiet:
                print(text, file=sys.stderr)  # rich puts it above a bar

        for name in names:
            if not remake(name, preset, out / preset, bar, say, tables_only, chosen):
                sys.exit(130)
    if not quiet:
        print(f"written to {out / preset}")
