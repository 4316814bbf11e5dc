"""The table of benchmark problems; no heavy imports, so that the command line can list it at once.

A new problem is a function that returns a `Problem`, in a file of its own or with its kin, and one
line here.
"""

from typing import NamedTuple


class Entry(NamedTuple):
    """One benchmark problem: file and function that build it, one line about it, its final time."""

    builder: str
    description: str
    t_end: float


CATALOG = {
    "heat-dirichlet": Entry("heat:dirichlet", "heat on a disk, moving boundary values", 1.0),
    "heat-neumann": Entry("heat:neumann", "heat on a disk, insulated", 1.0),
    "heat-flux": Entry("heat:flux", "heat on a disk, prescribed flux through the circle", 1.0),
    "heat-robin": Entry("heat:robin", "heat on a disk, u + λ∂ₙu = 0 on the circle", 1.0),
    "heat-mixed": Entry("heat:mixed", "heat on a quarter annulus, values and insulation", 1.0),
    "transport": Entry("transport:build", "transport on a disk by a spiralling flow", 1.0),
    "burgers": Entry("burgers:build", "viscous Burgers on a periodic square, a front forms", 4.0),
}
