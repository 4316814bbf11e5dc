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
from tengbc.geometry.regions import Regioned
from tengbc.networks import polynomials
from tengbc.patches.cells import Cell, Grid
from tengbc.patches.cutting import CutCells
from tengbc.patches.form import EnergyForm
from tengbc.patches.materials import JoinedPatches
from tengbc.patches.patches import Patches
from tengbc.patches.solids import has_flat_faces

Leaves = tuple[tuple[Cell, int], ...]
Cuts = tuple[CutCells, ...]
"""The cells of a domain, or of each of its regions."""
DOMAINS, FORMS = 8, 12
"""How many are kept."""
LARGEST = 3000
"""Forms of more features than this are not: they would take tens of megabytes each."""


def cells_of(domain: Domain) -> Cuts:
    """What a domain, or each of its regions, leaves of cells; those looked at before are known."""
    if not isinstance(domain, Hashable):  # a domain of one's own may have none
        return _cut(domain)
    return _cells_of(domain)


def can_be_covered(domain: Domain) -> bool:
    """Whether patches can cover a solid: its faces are flat, or it is one patch as a whole.

    That needs an integration rule of its own, as a ball has one, and a box around it like a cube.
    """
    own_rule, (lower, upper) = type(domain)._gauss is not Domain._gauss, domain.bounds
    cells = Grid.over(np.asarray(lower), np.asarray(upper)).cells
    return has_flat_faces(domain) or (own_rule and len(cells) == 1)


def form_over(cuts: Cuts, leaves: Leaves, components: int) -> EnergyForm:
    """The form of patches with degrees, of which each march has its own copy."""
    dim = len(cuts[0].grid.lower)
    if sum(polynomials.count(dim, degree) for _, degree in leaves) > LARGEST:
        return EnergyForm(_patches(cuts, leaves), components)
    return copy.copy(_form_over(cuts, leaves, components))


def _cut(domain: Domain) -> Cuts:
    parts = domain.parts if isinstance(domain, Regioned) else (domain,)
    return tuple(
        CutCells(part, Grid.over(*map(np.asarray, part.bounds), region=k))
        for k, part in enumerate(parts)
    )


def _patches(cuts: Cuts, leaves: Leaves) -> Patches | JoinedPatches:
    if len(cuts) == 1:
        return Patches(cuts[0], dict(leaves))
    return JoinedPatches(cuts, dict(leaves))


@lru_cache(maxsize=DOMAINS)
def _cells_of(domain: Domain) -> Cuts:
    return _cut(domain)


@lru_cache(maxsize=FORMS)
def _form_over(cuts: Cuts, leaves: Leaves, components: int) -> EnergyForm:
    return EnergyForm(_patches(cuts, leaves), components)
