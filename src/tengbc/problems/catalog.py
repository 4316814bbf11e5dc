"""The table of benchmark problems; no heavy imports, so that the command line can list it at once.

A new problem is a file with a function `build() -> Problem` and one line here.
"""

from typing import NamedTuple


class Entry(NamedTuple):
    """One benchmark problem: the file that builds it, one line about it, its final time."""

    module: str
    description: str
    t_end: float


CATALOG = {
    "heat-dirichlet": Entry("heat_dirichlet", "heat on a disk, moving boundary values", 1.0),
    "heat-neumann": Entry("heat_neumann", "heat on a disk, insulated", 1.0),
    "heat-flux": Entry("heat_flux", "heat on a disk, prescribed flux through the circle", 1.0),
    "heat-robin": Entry("heat_robin", "heat on a disk, u + λ∂ₙu = 0 on the circle", 1.0),
    "heat-mixed": Entry("heat_mixed", "heat on a quarter annulus, values and insulation", 1.0),
    "transport": Entry("transport", "transport on a disk by a spiralling flow", 1.0),
    "burgers": Entry("burgers", "viscous Burgers on a periodic square, a front forms", 4.0),
}
