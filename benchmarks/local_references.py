"""Reference values of the problems of `benchmarks.local`, stored: closed in time, or by NGSolve.

    python -m benchmarks.local --references [--only NAME]

The layered walls by Chebyshev collocation on each layer and a matrix exponential in time; in the
plane the room's warmth is a constant and one wave, each of which obeys a wall of its own. The rest
by NGSolve with elements of high order on curved meshes and Radau IIA, Newton where it is needed.
Each is computed twice, once more coarsely; the distance is stored as what it is worth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from jaxtyping import Float

import tengbc as tb
from benchmarks.local_problems import AIR, CONTACT, LAYERS, PROBLEMS, ROOM, WAVE
from benchmarks.ordinary_references import Stored, errors
from tengbc.evidence.baselines.hpfem.march import RadauMarch, time_grid
from tengbc.evidence.baselines.hpfem.mesh import build_mesh
from tengbc.evidence.baselines.hpfem.places import places

Array = np.ndarray
PLACE = Path(__file__).parent / "references" / "local"
POINTS = 500


# Walls.


def chebyshev(count: int, start: float, end: float) -> tuple[Array, Array]:
    """Chebyshev's points from start to end, and the matrix that differentiates there."""
    k = np.arange(count)
    z = -np.cos(np.pi * k / (count - 1))
    c = np.where((k == 0) | (k == count - 1), 2.0, 1.0) * (-1.0) ** k
    apart = z[:, None] - z + np.eye(count)
    matrix = np.outer(c, 1 / c) / apart
    matrix -= np.diag(matrix.sum(axis=1))
    return start + (z + 1) / 2 * (end - start), matrix * 2 / (end - start)


def wall(x: Array, times: Array, count: int, wave: float = 0.0) -> Float[Array, "k n"]:
    """u of the layered wall at points, the room at temperature one, for ∂ₜu = κ(∂ₓ² − wave²)u."""
    grids = [chebyshev(count, start, end) for start, end, _ in LAYERS]
    kappas = [kappa for _, _, kappa in LAYERS]
    size, m = 3 * count, np.arange(count)
    rates, laws, data = np.zeros((size, size)), [], []
    blocks = [slice(k * count, (k + 1) * count) for k in range(3)]
    for (_, d), kappa, block in zip(grids, kappas, blocks, strict=True):
        rates[block, block] = kappa * (d @ d - wave**2 * np.eye(count))

    def law(*parts: tuple[int, Array], value: float = 0.0) -> None:
        row = np.zeros(size)
        for layer, coefficients in parts:
            row[blocks[layer]] += coefficients
        laws.append(row)
        data.append(value)

    first, last = (np.eye(count)[end] for end in (0, -1))
    flux = [kappa * d for (_, d), kappa in zip(grids, kappas, strict=True)]
    law((0, ROOM * first - grids[0][1][0]), value=ROOM)
    for k in (0, 1):  # κ∂ₓu on both sides; u₁ − u₂ + Rκ∂ₓu = 0
        law((k, flux[k][-1]), (k + 1, -flux[k + 1][0]))
        law((k, last + CONTACT * flux[k][-1]), (k + 1, -first))
    law((2, AIR * last + grids[2][1][-1]))
    held = np.concatenate([[block.start, block.stop - 1] for block in blocks])
    free = np.setdiff1d(np.arange(size), held)
    laws_, data_ = np.array(laws), np.array(data)
    # u at the ends follows from u inside and the data.
    inverse = np.linalg.inv(laws_[:, held])
    follows, offset = -inverse @ laws_[:, free], inverse @ data_
    matrix = rates[np.ix_(free, free)] + rates[np.ix_(free, held)] @ follows
    load = rates[np.ix_(free, held)] @ offset
    steady = -np.linalg.solve(matrix, load)
    result = []
    for t in times:
        inside = steady - sla.expm(t * matrix) @ steady
        u = np.zeros(size)
        u[free], u[held] = inside, follows @ inside + offset
        values = np.zeros(len(x))
        for (start, end, _), block in zip(LAYERS, blocks, strict=True):
            rows = (x >= start) & (x <= end)
            z = 2 * (x[rows] - start) / (end - start) - 1
            fit = np.polynomial.chebyshev.chebfit(
                -np.cos(np.pi * m / (count - 1)), u[block], count - 1
            )
            values[rows] = np.polynomial.chebyshev.chebval(z, fit)
        result.append(values)
    return np.array(result)


def wall_1d(x: Array, times: Array, fine: bool) -> Array:
    """The wall on an interval."""
    return wall(x[:, 0], times, 44 if fine else 36)


def wall_2d(x: Array, times: Array, fine: bool) -> Array:
    """The wall in the plane: warmth that is even, and a wave of it."""
    count = 44 if fine else 36
    waved = 0.5 * wall(x[:, 0], times, count, WAVE) * np.cos(WAVE * x[:, 1])
    return wall(x[:, 0], times, count) + waved


# NGSolve.


@dataclass
class Weak:
    """M u' = load(t) − N(u), as `RadauMarch` wants it; `form` makes N of trial and test."""

    mesh: Any
    order: int
    form: Callable[[Any, Any, Any], Any]
    source: Callable[[Any, Any, Any], Any] | None
    start: Any
    fixed: dict[str, float]
    linear: bool = False

    def __post_init__(self) -> None:
        import ngsolve as ngs

        self.time = ngs.Parameter(0.0)
        self.space = ngs.H1(self.mesh, order=self.order, dirichlet="|".join(self.fixed))
        u, v = self.space.TnT()
        self.field, self.found = (ngs.GridFunction(self.space) for _ in range(2))
        self.free = np.array(list(self.space.FreeDofs()), dtype=bool)  # pyright: ignore
        self.unknowns = len(self.free)
        self.mass = _csr(ngs.BilinearForm(u * v * ngs.dx).Assemble().mat)
        self._form = ngs.BilinearForm(self.space)
        self._form += self.form(ngs, u, v)
        self._load = ngs.LinearForm(self.space)
        if self.source is not None:
            self._load += self.source(ngs, self.time, v)
        self.matrix_changes, self.nonlinear = False, not self.linear
        self._stiffness = sp.csr_matrix(self.mass.shape)
        if self.linear:
            self._stiffness = _csr(self._form.Assemble().mat)

    def matrix(self, t: float) -> Any:
        return self._stiffness

    def load(self, t: float) -> Array:
        self.time.Set(t)
        self._load.Assemble()
        return self._load.vec.FV().NumPy().copy()

    def prescribed(self, t: float) -> Array:
        for segment, value in self.fixed.items():
            self.field.Set(value, definedon=self.mesh.Boundaries(segment))  # pyright: ignore
        found = self.field.vec.FV().NumPy().copy() if self.fixed else np.zeros(self.unknowns)
        found[self.free] = 0.0
        return found

    def reaction(self, u: Array) -> Array:
        self.field.vec.FV().NumPy()[:] = u
        self._form.Apply(self.field.vec, self.found.vec)
        return -self.found.vec.FV().NumPy()

    def reaction_slope(self, u: Array) -> Any:
        self.field.vec.FV().NumPy()[:] = u
        self._form.AssembleLinearization(self.field.vec)
        return -_csr(self._form.mat)

    def initial(self) -> Array:
        import ngsolve as ngs

        v = self.space.TestFunction()
        start = self.start(ngs)
        form = ngs.LinearForm(start * v * ngs.dx(bonus_intorder=12)).Assemble()
        return form.vec.FV().NumPy().copy()

    def at(self, u: Array, found: Any) -> Array:
        self.field.vec.FV().NumPy()[:] = u
        return np.asarray(self.field(found)).ravel()


def _csr(matrix: Any) -> Any:
    values, columns, starts = matrix.CSR()
    shape = (matrix.height, matrix.width)
    return sp.csr_matrix((np.array(values), np.array(columns), np.array(starts)), shape=shape)


def solved(weak: Weak, x: Array, times: Array, step: float, stages: int, levels: int) -> Array:
    """u at points and times."""
    march, found, kept = RadauMarch(weak, stages), places(weak.mesh, x), []  # pyright: ignore
    for t, u in march.states(time_grid(times, step, levels, 3), weak.initial()):
        if len(kept) < len(times) and abs(t - times[len(kept)]) < 1e-9 * times[-1]:
            kept.append(weak.at(u, found))
    return np.array(kept)


def composite(size: float, order: int) -> Weak:
    """Two materials, elements that end at the circle."""
    problem = PROBLEMS["composite"].build()
    plain = tb.Problem(tb.Rectangle(), tb.Heat(1.0), problem.conditions, 0.0)
    mesh = build_mesh(plain, size, order, interfaces=(tb.Disk(0.3, (0.5, 0.5)),))

    def form(ngs, u, v):
        kappa = ngs.CoefficientFunction([1.0, 10.0])
        return kappa * ngs.grad(u) * ngs.grad(v) * ngs.dx

    def source(ngs, t, v):
        return ngs.CoefficientFunction([0.0, 5.0]) * v * ngs.dx

    fixed = dict.fromkeys(problem.domain.segments, 0.0)
    return Weak(mesh, order, form, source, lambda ngs: ngs.Parameter(0.0), fixed, linear=True)


def radiating(size: float, order: int) -> Weak:
    """κ(u) and u⁴."""
    problem = PROBLEMS["radiating"].build()
    plain = tb.Problem(problem.domain, tb.Heat(1.0), problem.conditions, 0.5)
    mesh = build_mesh(plain, size, order, levels=order // 2, layers=("right",))

    def form(ngs, u, v):
        conducted = (1 + u) * ngs.grad(u) * ngs.grad(v) * ngs.dx
        return conducted + u**4 * v * ngs.ds("right")

    def source(ngs, t, v):
        x = ngs.x - 0.2 - 0.6 * t
        y = ngs.y - 0.5 - 0.2 * ngs.sin(2 * np.pi * t)
        return 20 * ngs.exp(-(x * x + y * y) / 0.02) * v * ngs.dx(bonus_intorder=8)

    return Weak(mesh, order, form, source, lambda ngs: 0.5, {"top": 0.5})


def burgers_hole(size: float, order: int) -> Weak:
    """Burgers' equation."""
    problem = PROBLEMS["burgers-hole"].build()
    mesh = build_mesh(problem, size, order)

    def form(ngs, u, v):
        slope = ngs.grad(u)
        return (u * (slope[0] + slope[1]) * v + 0.01 * slope * ngs.grad(v)) * ngs.dx

    def front(ngs):
        z = (ngs.x + ngs.y - 0.3) / 0.08
        return 1 / (1 + ngs.exp(2 * z))

    return Weak(mesh, order, form, None, front, {})


SETTINGS: dict[str, tuple[Callable, tuple, tuple]] = {
    # (size, order), (step, stages, levels): fine, then coarse
    "composite": (composite, ((0.15, 10), (0.2, 9)), ((0.005, 5, 5), (0.005, 5, 4))),
    "radiating": (radiating, ((0.09, 9), (0.12, 7)), ((0.0125, 5, 6), (0.025, 5, 4))),
    "burgers-hole": (burgers_hole, ((0.06, 8), (0.08, 7)), ((0.01, 3, 2), (0.02, 3, 2))),
}
WALLS = {"layered-wall": wall_1d, "layered-wall-plane": wall_2d}


def make(name: str) -> Stored:
    """Compute a reference and what it is worth."""
    local = PROBLEMS[name]
    times, points = local.times(), local.build().domain.interior(POINTS, seed=1).x
    if name in WALLS:
        values, other = (WALLS[name](points, times, fine) for fine in (True, False))
        source = "collocation on each layer, exact in time"
    else:
        build, spaces, steps = SETTINGS[name]
        values, other = (
            solved(build(*space), points, times, *step)
            for space, step in zip(spaces, steps, strict=True)
        )
        source = f"NGSolve: size and order {spaces[0]}, step, stages and levels {steps[0]}"
    return Stored(points, times, values, float(errors(other, values).max()), source)


def load(name: str) -> Stored:
    """The stored reference of a problem."""
    with np.load(PLACE / f"{name}.npz", allow_pickle=False) as data:
        numbers = (data["points"], data["times"], data["values"])
        return Stored(*numbers, float(data["worth"]), str(data["source"]))


def write(name: str) -> Stored:
    """Make a reference and store it."""
    stored = make(name)
    PLACE.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        PLACE / f"{name}.npz",
        points=stored.points,
        times=stored.times,
        values=stored.values,
        worth=np.array(stored.worth),
        source=np.array(stored.source),
    )
    return stored
