"""What there is to reproduce: problems by group, and the runs each needs; no heavy imports."""

import json
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

from tengbc.errors import UsageError

GROUPS = {
    "heat": ("heat-dirichlet", "heat-neumann", "heat-flux", "heat-robin", "heat-mixed"),
    "transport": ("transport",),
    "burgers": ("burgers",),
}
SCHEMES = ("euler", "heun", "rk4")
DEFAULT_SCHEMES = {"fast": "radau9", "paper": "heun"}
"""Of each preset: its run is in the directory of the problem's own name."""
DT = 5e-4
"""The paper's time step."""
CELL_TOLERANCE = 1e-7
"""What the features of a cell with a given scheme must resolve; the rest is the scheme's error."""
PAPER_CHOICES: dict[str, dict[str, Any]] = {
    "heat": {"interior_points": 2000},
    "transport": {"interior_points": 2000},
    "burgers": {"per_axis": 64, "cutoff": 1e-9},
}
"""What the preset `paper` chooses for the paper's cells, where the paper leaves it open.

Points evenly spread in the disk: a grid leaves a ragged rim and needs 3,228 for the same error. A
lower cut-off on Burgers, where each fit's remainder adds up (docs/paper-preset.md)."""
RESOLUTIONS = (16, 32, 64, 128, 256)
"""Of the finite-element runs that Burgers is compared with, as far as a preset goes."""


@dataclass(frozen=True)
class Case:
    """One run: the directory it leaves, the problem, the solver and its choices."""

    name: str
    problem: str
    solver: str
    choices: dict[str, Any] = field(default_factory=dict)


def groups(name: str) -> tuple[str, ...]:
    """The groups behind a name; "all" is all of them."""
    if name == "all":
        return tuple(GROUPS)
    if name not in GROUPS:
        raise UsageError(
            f"There is nothing called {name!r} to reproduce; choose {', '.join(GROUPS)} or all."
        )
    return (name,)


def cases(group: str, preset: str) -> list[Case]:
    """All runs of a group, the preset's own first."""
    found = []
    if preset == "paper":
        own = PAPER_CHOICES[group]
    else:  # time schemes are compared on one basis of waves, which takes any
        own = {"strategy": "frozen-features"} if group != "burgers" else {}
    for problem in GROUPS[group]:
        found.append(Case(problem, problem, preset, own if preset == "paper" else {}))
        for scheme in SCHEMES:
            if scheme != DEFAULT_SCHEMES[preset] and not (group == "burgers" and preset == "fast"):
                choices = {"scheme": scheme, "dt": DT} | own
                found.append(Case(f"{problem}-{scheme}", problem, preset, choices))
        found += _baselines(problem, preset)
    return found


def _baselines(problem: str, preset: str) -> list[Case]:
    """Competitors: the paper's settings, or what takes some seconds."""
    from tengbc.evidence.baselines.registry import BASELINES

    if preset == "paper":
        settings = {name: dict(baseline.paper) for name, baseline in BASELINES.items()}
    else:
        settings = {
            "fem": {"resolution": 48, "dt": 1 / 200},
            "spectral": {"resolution": 256, "dt": 2e-3},
            "pinn-bfgs": {"steps": 300},
            "pinn-engd": {"steps": 40},
        }
    settings.pop("fem" if problem == "burgers" else "spectral")
    found = [Case(f"{problem}-{name}", problem, name, given) for name, given in settings.items()]
    if problem == "burgers":
        largest, dt = (64, 2e-3) if preset == "fast" else (256, 1e-4)
        for n in (n for n in RESOLUTIONS if n <= largest):
            found.append(Case(f"burgers-fem-{n}", problem, "fem", {"resolution": n, "dt": dt}))
    return found


def paper_numbers() -> dict[str, Any]:
    """The numbers that the paper prints."""
    text = resources.files("tengbc.evidence.reproduction").joinpath("paper.json").read_text("utf-8")
    return json.loads(text)
