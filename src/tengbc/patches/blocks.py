"""Nodes of several batches in one array, and sparse matrices in the making."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from jaxtyping import Float, Shaped

Array = np.ndarray


def flat(batches: Sequence[Float[Array, "_b _q ..."]], nothing: Array | None = None) -> Array:
    """The arrays of several batches as one, node by node."""
    if not len(batches):
        assert nothing is not None
        return nothing
    return np.concatenate([part.reshape(-1, *part.shape[2:]) for part in batches])


class Nodes:
    """The nodes of several batches in one array, so that laws are asked once for all of them."""

    def __init__(self, batches: Sequence[Float[Array, "_b _q d"]], dim: int):
        self._shapes = [x.shape[:2] for x in batches]
        self._ends = np.cumsum([int(np.prod(shape)) for shape in self._shapes])[:-1]
        self.x = flat(batches, np.zeros((0, dim)))

    def __len__(self) -> int:
        return len(self.x)

    def split(self, values: Shaped[Array, "n ..."]) -> list[Shaped[Array, "_b _q ..."]]:
        """Values at the nodes, batch by batch."""
        parts = np.split(values, self._ends) if self._shapes else []
        return [
            part.reshape(*shape, *values.shape[1:])
            for part, shape in zip(parts, self._shapes, strict=True)
        ]


class Blocks:
    """A sparse matrix in the making: blocks of features, batch by batch."""

    def __init__(self, rows: int, columns: int):
        self.shape = rows, columns
        self.rows, self.columns, self.values = [], [], []
        self._own: dict[int, list[tuple[Array, Array]]] = {}

    def add(self, row: Array, column: Array, block: Float[Array, "b i j"]) -> None:
        """Add a block for each pair of rows (b, i) and columns (b, j) of unknowns."""
        if row is column:  # there will be more of them, which are added up beforehand
            self._own.setdefault(row.shape[1], []).append((row[:, 0], block))
        else:
            self._enter(row, column, block)

    def _enter(self, row: Array, column: Array, block: Float[Array, "b i j"]) -> None:
        shape = block.shape
        self.rows.append(np.broadcast_to(row[:, :, None].astype(np.int32), shape).ravel())
        self.columns.append(np.broadcast_to(column[:, None, :].astype(np.int32), shape).ravel())
        self.values.append(block.ravel())

    def matrix(self) -> sp.csc_matrix:
        """The sum of all blocks."""
        for n, found in self._own.items():
            first, block = (np.concatenate(part) for part in zip(*found, strict=True))
            order = np.argsort(first, kind="stable")
            place, starts = np.unique(first[order], return_index=True)
            row = place[:, None] + np.arange(n)
            self._enter(row, row, np.add.reduceat(block[order], starts, axis=0))
        self._own = {}
        if not self.values:
            return sp.csc_matrix(self.shape)
        entries = (np.concatenate(self.rows), np.concatenate(self.columns))
        return sp.csc_matrix((np.concatenate(self.values), entries), self.shape)
