"""tengbc list."""

from tengbc.problems.catalog import CATALOG


def list_problems() -> None:
    """List the benchmark problems."""
    width = max(map(len, CATALOG))
    for name, entry in CATALOG.items():
        print(f"{name:<{width}}  {entry.description} (to t = {entry.t_end:g})")
