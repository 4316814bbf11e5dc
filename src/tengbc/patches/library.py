"""Cut cells and forms of domains that come again, as in a loop over the numbers of a problem.

They depend on the domain and the patches alone, not on the equation, and make up most of a short
solve. Domains count as the same where they are equal, as the package's own are by their numbers.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable
from functools import lru_cache

import numpy as np

from tengbc.geometry.domain import Domain
from tengbc.networks import polynomials
from tengbc.patches.cells import Cell, Grid
from tengbc.patches.cutting import CutCells
from tengbc.patches.form import EnergyForm
from tengbc.patches.patches import Patches

Leaves = tuple[tuple[Cell, int], ...]
DOMAINS, FORMS = 8, 12
"""How many are kept."""
LARGEST = 3000
"""Forms of more features than this are not: they would take tens of megabytes each."""


def cells_of(domain: Domain) -> CutCells:
    """What a domain leaves of cells; those looked at before are known."""
    if not isinstance(domain, Hashable):  # a domain of one's own may have none
        return CutCells(domain, _grid(domain))
    return _cells_of(domain)


def form_over(cut: CutCells, leaves: Leaves, components: int) -> EnergyForm:
    """The form of patches with degrees, of which each march has its own copy."""
    dim = len(cut.grid.lower)
    if sum(polynomials.count(dim, degree) for _, degree in leaves) > LARGEST:
        return EnergyForm(Patches(cut, dict(leaves)), components)
    return copy.copy(_form_over(cut, leaves, components))


def _grid(domain: Domain) -> Grid:
    return Grid.over(*map(np.asarray, domain.bounds))


@lru_cache(maxsize=DOMAINS)
def _cells_of(domain: Domain) -> CutCells:
    return CutCells(domain, _grid(domain))


@lru_cache(maxsize=FORMS)
def _form_over(cut: CutCells, leaves: Leaves, components: int) -> EnergyForm:
    return EnergyForm(Patches(cut, dict(leaves)), components)
