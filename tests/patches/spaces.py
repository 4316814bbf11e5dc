"""Spaces of patches of several sizes and degrees beside each other."""

import numpy as np

from tengbc.patches.cells import Grid, graded
from tengbc.patches.cutting import CutCells
from tengbc.patches.form import EnergyForm
from tengbc.patches.laws import Laws
from tengbc.patches.patches import Patches
from tengbc.spaces.energy import EnergySpace


def uneven(domain, degrees=(3, 4, 5), places=((0.3, 0.4), (0.62, 0.13)), level=1) -> Patches:
    """Leaves of a level, two of them halved (and what grading asks for), of different degrees."""
    lower, upper = map(np.asarray, domain.bounds)
    cut = CutCells(domain, Grid.over(lower, upper))
    leaves = set(cut.grid.cells)
    for _ in range(level):
        leaves = {child for cell in leaves for child in cell.children}
    for place in places:
        x = lower + np.array(place[: len(lower)]) * (upper - lower)
        cell = next(c for c in sorted(leaves) if _in(cut.grid.box(c), x))
        leaves = (leaves - {cell}) | set(cell.children)
    chosen = sorted(graded(leaves))
    return Patches(cut, {cell: degrees[k % len(degrees)] for k, cell in enumerate(chosen)})


def even(domain, degree, level=1) -> Patches:
    return uneven(domain, (degree,), (), level)


def _in(box, x):
    return (box[0] <= x).all() and (x <= box[1]).all()


def space(problem, patches) -> EnergySpace:
    laws = Laws(problem)
    return EnergySpace(laws, EnergyForm(patches, laws.components))
