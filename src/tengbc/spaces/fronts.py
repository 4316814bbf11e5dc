"""Sparse equations of patches, solved by dense blocks along nested dissection of the patches.

A plane through the middle divides the patches in two; those of one side that touch the other side
separate them. Unknowns of both parts are eliminated before those of the separator, and within each
part the same is done again. Eliminating a group p of unknowns next to others q that remain,

    [F_pp  F_pq]        x_p = F_pp⁻¹ (b_p − F_pq x_q),
    [F_qp  F_qq],       F_qq − F_qp F_pp⁻¹ F_pq  is added to a later group's front,

is dense linear algebra all the way (a multifrontal method: Duff and Reid, 1983).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from jaxtyping import Float, Inexact, Int

Array = np.ndarray
LEAF = 160
"""Patches of no more unknowns than this are not divided."""
(ROOT,) = sla.get_lapack_funcs(("potrf",))
BESIDE, SQUARE = sla.get_blas_funcs(("trsm", "syrk"))
"""In double precision: L of LLᵀ, X of XLᵀ = B, and C − BBᵀ."""
STRIP = 256
"""Columns of a symmetric front that are updated at once, from the diagonal down."""


@dataclass(frozen=True)
class Group:
    """Unknowns eliminated at once: `first` to `last` in the order of elimination.

    `rest` are the later ones that their front reaches; `children` the groups whose rest comes here.
    """

    first: int
    last: int
    rest: Int[Array, " q"]
    children: tuple[int, ...]

    @property
    def eliminated(self) -> int:
        return self.last - self.first

    @property
    def entries(self) -> int:
        """Numbers of the whole front."""
        return (self.eliminated + len(self.rest)) ** 2


class Dissection:
    """In which order unknowns of patches are eliminated, and in which groups."""

    def __init__(
        self,
        centres: Float[Array, "p d"],
        sizes: Int[Array, " p"],
        pairs: Int[Array, "f 2"],
    ):
        """`sizes` are the unknowns of each patch, `pairs` the patches that touch."""
        self._centres, self._sizes = centres, sizes
        both = np.concatenate([pairs, pairs[:, ::-1]])
        ones = np.ones(len(both), dtype=bool)
        self._beside = sp.csr_matrix((ones, both.T), (len(sizes), len(sizes)))
        found: list[tuple[Array, tuple[int, ...]]] = []
        self._divide(np.arange(len(sizes)), found)
        order = np.concatenate([members for members, _ in found])
        ends = np.cumsum(sizes)
        starts = ends - sizes
        self.order = _ranges(starts[order], ends[order])
        """The unknowns in the order of elimination."""
        self.groups = tuple(self._groups(found, order))

    @property
    def entries(self) -> int:
        """Numbers that the factors of a symmetric matrix hold."""
        return sum(g.eliminated * (g.eliminated + len(g.rest)) for g in self.groups)

    @property
    def workspace(self) -> int:
        """Numbers of fronts that are held at once, at most."""
        held = most = 0
        for group in self.groups:
            most = max(most, held + group.entries)
            held += len(group.rest) ** 2 - sum(
                len(self.groups[child].rest) ** 2 for child in group.children
            )
        return most

    def _divide(self, members: Array, found: list[tuple[Array, tuple[int, ...]]]) -> int:
        """Enter groups of these patches, the last one last; its number."""
        children: tuple[int, ...] = ()
        if len(members) > 1 and self._sizes[members].sum() > LEAF:
            parts, members = self._separated(members)
            children = tuple(self._divide(part, found) for part in parts if len(part))
        found.append((members, children))
        return len(found) - 1

    def _separated(self, members: Array) -> tuple[tuple[Array, Array], Array]:
        """Two parts that do not touch, and the patches in between."""
        x, sizes = self._centres[members], self._sizes[members]
        best = None
        for axis in range(x.shape[1]):
            order = np.argsort(x[:, axis], kind="stable")
            along, weight = x[order, axis], np.cumsum(sizes[order])
            # Patches of one column stay together: the plane lies where centres differ.
            steps = np.flatnonzero(np.diff(along) > 1e-9 * max(np.ptp(along), 1e-300))
            if not len(steps):
                continue
            cut = steps[np.argmin(np.abs(weight[steps] - weight[-1] / 2))]
            for low, high in (
                (order[: cut + 1], order[cut + 1 :]),
                (order[cut + 1 :], order[: cut + 1]),
            ):
                low, high = np.sort(members[low]), np.sort(members[high])
                touching = np.zeros(len(self._sizes), dtype=bool)
                touching[self._beside[high].indices] = True
                between = low[touching[low]]
                cost = (int(self._sizes[between].sum()), abs(weight[-1] - 2 * weight[cut]))
                if best is None or cost < best[0]:
                    best = cost, (low[~touching[low]], high), between
        if best is None:
            return (members[:0], members[:0]), members
        return best[1], best[2]

    def _groups(self, found: list[tuple[Array, tuple[int, ...]]], order: Array) -> Iterator[Group]:
        """The groups with the unknowns that their fronts reach."""
        place = np.empty(len(order), dtype=int)
        place[order] = np.arange(len(order))
        ends = np.cumsum(self._sizes[order])
        starts, last_patch = ends - self._sizes[order], 0
        reach: list[Array] = []
        for members, children in found:
            last_patch += len(members)
            beside = place[self._beside[members].indices]
            reached = np.unique(np.concatenate([beside, *(reach[child] for child in children)]))
            reached = reached[reached >= last_patch]
            reach.append(reached)
            last = int(ends[last_patch - 1]) if last_patch else 0
            first = last - int(self._sizes[members].sum())
            yield Group(first, last, _ranges(starts[reached], ends[reached]), children)


def _ranges(starts: Int[Array, " k"], ends: Int[Array, " k"]) -> Int[Array, " n"]:
    """All numbers from each start up to its end, one range after the other."""
    lengths = ends - starts
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


def factorised(matrix: sp.csc_matrix, dissection: Dissection, symmetric: bool) -> Factors:
    """The factors of a sparse matrix; by roots of its blocks where it is symmetric and positive."""
    try:
        return Factors(matrix, dissection, symmetric)
    except np.linalg.LinAlgError:  # not positive, as where u heats itself
        return Factors(matrix, dissection, symmetric, pivots=True)


class Factors:
    """A sparse matrix, eliminated group by group."""

    def __init__(
        self, matrix: sp.csc_matrix, dissection: Dissection, symmetric: bool, pivots=False
    ):
        self.groups, self.order = dissection.groups, dissection.order
        self.dtype, self.symmetric = matrix.dtype, symmetric
        self._places = np.empty(len(self.order), dtype=np.int32)
        self._places[self.order] = np.arange(len(self.order), dtype=np.int32)
        # A symmetric matrix that is positive needs no pivots.
        self._roots = symmetric and not pivots and not np.iscomplexobj(matrix)
        columns = sp.csc_matrix(matrix)
        rows = columns if symmetric else sp.csr_matrix(matrix)
        self._local = np.empty(len(self.order), dtype=np.int32)
        waiting: dict[int, Array] = {}
        self._parts = []
        for number, group in enumerate(self.groups):
            front = self._front(group, columns, rows, waiting)
            waiting[number] = self._eliminate(front, group.eliminated)

    def _front(self, group: Group, columns, rows, waiting: dict[int, Array]) -> Array:
        """A group's own rows and columns, and what earlier groups have left of theirs."""
        k, size = group.eliminated, group.eliminated + len(group.rest)
        front = np.zeros((size, size), dtype=self.dtype, order="F")
        local = self._local
        local[group.first : group.last] = np.arange(k)
        local[group.rest] = np.arange(k, size)
        for child in group.children:
            at, left = local[self.groups[child].rest], waiting.pop(child)
            runs = _runs(at)
            for i, (i0, i1, a) in enumerate(runs):
                for j0, j1, b in runs[: i + 1] if self.symmetric else runs:
                    front[a : a + i1 - i0, b : b + j1 - j0] += left[i0:i1, j0:j1]
        own = self.order[group.first : group.last]
        self._enter(front, columns, own, group, False)
        if not self.symmetric:
            self._enter(front, rows, own, group, True)
        return front

    def _enter(self, front: Array, matrix, own: Array, group: Group, by_rows: bool) -> None:
        """Entries of the group's own columns, those of earlier groups left out; or of its rows."""
        starts, ends = matrix.indptr[own], matrix.indptr[own + 1]
        entries = _ranges(starts, ends)
        across = self._places[matrix.indices[entries]]
        along = np.repeat(np.arange(len(own)), ends - starts)
        kept = across >= (group.last if by_rows else group.first)
        at, along, values = self._local[across[kept]], along[kept], matrix.data[entries[kept]]
        if by_rows:
            front[along, at] += values
        else:
            front[at, along] += values

    def _eliminate(self, front: Array, k: int) -> Array:
        """Keep what solving needs of a front; what is left for later groups."""
        own, below, left = front[:k, :k], front[k:, :k], front[k:, k:]
        if self._roots:
            root, failed = ROOT(own, lower=1)
            if failed:
                raise np.linalg.LinAlgError("The matrix is not positive.")
            below = BESIDE(1.0, root, below, side=1, lower=1, trans_a=1)
            self._parts.append((root, below))
            return SQUARE(-1.0, below, beta=1.0, c=left, lower=1) if len(below) else left
        if self.symmetric:  # above the diagonal nothing was added up
            own = np.tril(own) + np.tril(own, -1).T
        factors = sla.lu_factor(own, check_finite=False)
        below = np.asfortranarray(below)
        beside = below.T if self.symmetric else np.asfortranarray(front[:k, k:])
        self._parts.append((factors, below, beside))
        solved = sla.lu_solve(factors, beside, check_finite=False)
        if not self.symmetric:
            return left - below @ solved
        left = left.copy(order="F")
        for first in range(0, len(below), STRIP):  # what is above the diagonal is not needed
            part = slice(first, first + STRIP)
            left[first:, part] -= below[first:] @ solved[:, part]
        return left

    @property
    def entries(self) -> int:
        """Numbers that are kept, a complex one counting twice."""
        sides = 1 if self.symmetric else 2
        held = sum(g.eliminated * (g.eliminated + sides * len(g.rest)) for g in self.groups)
        return held * self.dtype.itemsize // 8

    def solve(self, right: Inexact[Array, "n *k"]) -> Inexact[Array, "n *k"]:
        """The matrix's inverse times one right-hand side or several."""
        x = right[self.order].astype(np.result_type(right, self.dtype))
        if np.iscomplexobj(x) and self._roots:
            return self.solve(np.real(right)) + 1j * self.solve(np.imag(right))
        for group, part in zip(self.groups, self._parts, strict=True):
            own, rest = slice(group.first, group.last), group.rest
            if self._roots:
                x[own] = sla.solve_triangular(part[0], x[own], lower=True, check_finite=False)
                x[rest] -= part[1] @ x[own]
            else:
                x[rest] -= part[1] @ sla.lu_solve(part[0], x[own], check_finite=False)
        for group, part in zip(reversed(self.groups), reversed(self._parts), strict=True):
            own, rest = slice(group.first, group.last), group.rest
            if self._roots:
                x[own] = sla.solve_triangular(
                    part[0], x[own] - part[1].T @ x[rest], lower=True, trans=1, check_finite=False
                )
            else:
                x[own] = sla.lu_solve(part[0], x[own] - part[2] @ x[rest], check_finite=False)
        found = np.empty_like(x)
        found[self.order] = x
        return found


def _runs(at: Int[Array, " n"]) -> list[tuple[int, int, int]]:
    """(start, end, value at the start) of the stretches that rise by one."""
    if not len(at):
        return []
    breaks = np.flatnonzero(np.diff(at) != 1) + 1
    starts = [0, *breaks.tolist()]
    return [(a, b, int(at[a])) for a, b in zip(starts, [*starts[1:], len(at)], strict=True)]
