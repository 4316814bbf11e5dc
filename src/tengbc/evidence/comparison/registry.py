"""The solvers that `tengbc compare` knows; no heavy imports.

A contender is a function of a `Contest` that yields trials, coarse ones first, each taking no
longer than the seconds. To add one, write it and give it a line here.
"""

from tengbc.errors import UsageError

_HOME = "tengbc.evidence.comparison.contenders"
CONTENDERS = {
    "hp-fem": f"{_HOME}.hpfem:trials",
    "fast": f"{_HOME}.teng:fast_trials",
    "paper": f"{_HOME}.teng:paper_trials",
    "fem": f"{_HOME}.fem:trials",
    "pinn-bfgs": f"{_HOME}.pinn:bfgs_trials",
    "pinn-engd": f"{_HOME}.pinn:engd_trials",
    "spectral": f"{_HOME}.spectral:trials",
}


def chosen_solvers(text: str) -> list[str]:
    """The names in a list with commas, checked."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in CONTENDERS:
            raise UsageError(f"There is no solver {name!r}; choose among {', '.join(CONTENDERS)}.")
    if not names:
        raise UsageError(f"No solver is named; choose among {', '.join(CONTENDERS)}.")
    return list(dict.fromkeys(names))
