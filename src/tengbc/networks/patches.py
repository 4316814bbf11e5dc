"""A network per patch: polynomials, orthonormal there and zero elsewhere, evaluated by NumPy.

The tree of cells says which patch a point belongs to; a patch may consist of several cells.
"""

from __future__ import annotations

import base64
from functools import lru_cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from tengbc.geometry.domain import Domain
from tengbc.networks import polynomials
from tengbc.networks.body import AbstractBody
from tengbc.types import Point

Array = np.ndarray


class PatchTable:
    """Where patches lie and what their features are: all that evaluating them needs.

    `cells` are rows (level, place …, patch); `mixing` describes the features on a patch's box, one
    array per patch (see `polynomials`).
    """

    def __init__(
        self,
        lower: Float[Array, " d"],
        size: Float[Array, " d"],
        cells: Int[Array, "c k"],
        degrees: Int[Array, " p"],
        centre: Float[Array, "p d"],
        half: Float[Array, "p d"],
        mixing: list[Float[Array, "_ _"]],
    ):
        self.lower, self.size, self.cells, self.degrees = lower, size, cells, degrees
        self.centre, self.half, self.mixing = centre, half, mixing
        dim = len(lower)
        self.sizes = np.array([polynomials.count(dim, int(degree)) for degree in degrees])
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)])
        self._levels = [self._sorted(level) for level in np.unique(cells[:, 0])]

    def __len__(self) -> int:
        return len(self.degrees)

    @property
    def boxes(self) -> Float[Array, "c 2 d"]:
        """Lower corners and sizes of all cells."""
        size = self.size * 0.5 ** self.cells[:, :1]
        return np.stack([self.lower + size * self.cells[:, 1:-1], size], axis=1)

    @property
    def unknowns(self) -> int:
        """Features of all patches together."""
        return int(self.starts[-1])

    def _sorted(self, level: np.integer) -> tuple[int, Array, Array, Array]:
        """The cells of a level in an order in which they are found quickly."""
        rows = self.cells[self.cells[:, 0] == level]
        most = np.asarray(rows[:, 1:-1].max(axis=0) + 2)
        keys = np.ravel_multi_index(tuple(rows[:, 1:-1].T), most)
        order = np.argsort(keys)
        return int(level), most, np.asarray(keys)[order], rows[order, -1]

    def locate(self, x: Float[Array, "n d"]) -> Int[Array, " n"]:
        """The patch that each point lies in; for points in no cell the nearest one."""
        found = np.full(len(x), -1)
        for level, most, keys, patches in self._levels:
            places = np.floor((x - self.lower) / (self.size * 0.5**level)).astype(int)
            clipped = np.clip(places, 0, most - 1)
            inside = (places == clipped).all(axis=1) & (found < 0)
            key = np.ravel_multi_index(tuple(clipped.T), most)
            at = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
            hit = inside & (keys[at] == key)
            found[hit] = patches[at[hit]]
        missing = np.flatnonzero(found < 0)  # on an upper rim, or outside by round-off
        if missing.size:
            part = self.size * 0.5 ** self.cells[:, :1]
            lower = self.lower + part * self.cells[:, 1:-1]
            for row in missing:
                apart = np.maximum(lower - x[row], x[row] - lower - part)
                found[row] = self.cells[np.argmin(np.maximum(apart, 0.0).sum(axis=1)), -1]
        return found

    def combine(
        self, weight: Float[Array, "k n"], x: Float[Array, "q d"], slopes: bool = False
    ) -> Float[Array, "q k ..."]:
        """Σ weight·φ at many points for several heads, or its gradient."""
        shape = (len(x), len(weight), *((x.shape[1],) if slopes else ()))
        result, where = np.zeros(shape), self.locate(x)
        order = np.argsort(where, kind="stable")
        used, first = np.unique(where[order], return_index=True)
        for patch, rows in zip(used, np.split(order, first[1:]), strict=True):
            part = slice(self.starts[patch], self.starts[patch + 1])
            head, mixing = weight[:, part].T, self.mixing[patch][None]
            z = (x[rows] - self.centre[patch]) / self.half[patch]
            values, derived = polynomials.features(
                z[None], mixing, int(self.degrees[patch]), slopes
            )
            if slopes:
                for axis, derivative in enumerate(derived):
                    result[rows, :, axis] = derivative[0] / self.half[patch, axis] @ head
            else:
                result[rows] = values[0] @ head
        return result


class JoinedTable:
    """The tables of several regions, one after the other.

    `sets` are the domains of regions, in their order; what lies in none of them is in the last
    region. A point where two of them meet counts with the first.
    """

    def __init__(self, parts: list[PatchTable], sets: tuple[Domain, ...]):
        self.parts, self.sets, self.lower = parts, sets, parts[0].lower
        self.sizes = np.concatenate([part.sizes for part in parts])
        self.degrees = np.concatenate([part.degrees for part in parts])
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)])

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def unknowns(self) -> int:
        """Features of all patches together."""
        return int(self.starts[-1])

    @property
    def boxes(self) -> Float[Array, "c 2 d"]:
        """Lower corners and sizes of all cells."""
        return np.concatenate([part.boxes for part in self.parts])

    def _regions(self, x: Float[Array, "n d"]) -> Int[Array, " n"]:
        found = np.full(len(x), len(self.parts) - 1)
        for k in reversed(range(len(self.sets))):
            found[self.sets[k].contains(x)] = k
        return found

    def combine(
        self, weight: Float[Array, "k n"], x: Float[Array, "q d"], slopes: bool = False
    ) -> Float[Array, "q k ..."]:
        """Σ weight·φ at many points for several heads, or its gradient."""
        shape = (len(x), len(weight), *((x.shape[1],) if slopes else ()))
        result, region, first = np.zeros(shape), self._regions(x), 0
        for k, part in enumerate(self.parts):
            rows, last = np.flatnonzero(region == k), first + part.unknowns
            if len(rows):
                result[rows] = part.combine(weight[:, first:last], x[rows], slopes)
            first = last
        return result


class PatchBody(AbstractBody):
    """The features of all patches; which, and where, stands in a text that a file can hold.

    With regions there is a text for each, one after the other, and `regions` are their domains.
    """

    text: str = eqx.field(static=True)
    regions: tuple[Domain, ...] = eqx.field(static=True, default=())

    @staticmethod
    def of(table: PatchTable | JoinedTable) -> PatchBody:
        """The body of a table of patches."""
        if isinstance(table, JoinedTable):
            text = ";".join(PatchBody.of(part).text for part in table.parts)
            return PatchBody(text, table.sets)
        integers = [len(table.lower), len(table), len(table.cells)]
        integers = np.concatenate([integers, table.degrees, table.cells.ravel()]).astype("<i8")
        dim = len(table.lower)
        pairs = zip(table.mixing, table.degrees, strict=True)
        entries = [mixing[polynomials.filled(dim, int(degree))] for mixing, degree in pairs]
        floats = [table.lower, table.size, table.centre.ravel(), table.half.ravel(), *entries]
        parts = (integers, np.concatenate(floats).astype("<f8"))
        return PatchBody(":".join(base64.b64encode(part.tobytes()).decode() for part in parts))

    @property
    def table(self) -> PatchTable | JoinedTable:
        """Patches and their features."""
        if self.regions:
            return JoinedTable([_table(text) for text in self.text.split(";")], self.regions)
        return _table(self.text)

    @property
    def width(self) -> int:
        return self.table.unknowns

    @property
    def words(self) -> str:
        table, widths = self.table, np.unique(self.boxes[:, 1].max(axis=1))
        if len(table) == 1:
            return f"one patch, polynomials of degree {table.degrees[0]}"
        sizes = f"{widths[0]:.3g} across"
        if len(widths) > 1:
            sizes = f"of {len(widths)} sizes, {widths[-1]:.3g} to {sizes}"
        least, most = table.degrees.min(), table.degrees.max()
        degrees = f"{least}" if least == most else f"{least} to {most}"
        return f"{len(table)} patches {sizes}, polynomials of degree {degrees}"

    @property
    def boxes(self) -> Float[Array, "c 2 d"]:
        return self.table.boxes

    def __call__(self, x: Point) -> Float[jax.Array, " n"]:
        shape = jax.ShapeDtypeStruct((self.width,), jnp.result_type(float))
        return jax.pure_callback(lambda x: self.features(np.asarray(x)[None])[0], shape, x)

    def features(self, x: Float[Array, "k d"]) -> Float[Array, "k n"]:
        return self.combine(np.eye(self.width), x)

    def combine(
        self, weight: Float[Array, "m n"], x: Float[Array, "k d"], slopes: bool = False
    ) -> Float[Array, "k m ..."]:
        return self.table.combine(weight, x, slopes)


@lru_cache(maxsize=32)
def _table(text: str) -> PatchTable:
    integers, floats = (
        np.frombuffer(base64.b64decode(part), dtype=kind)
        for part, kind in zip(text.split(":"), ("<i8", "<f8"), strict=True)
    )
    dim, patches, cells = integers[:3]
    degrees, rows = np.split(integers[3:], [patches])
    filled = [polynomials.filled(int(dim), int(degree)) for degree in degrees]
    lengths = [dim, dim, patches * dim, patches * dim, *map(np.count_nonzero, filled)]
    lower, size, centre, half, *entries = np.split(floats, np.cumsum(lengths)[:-1])
    mixing = [np.zeros(places.shape) for places in filled]
    for matrix, places, values in zip(mixing, filled, entries, strict=True):
        matrix[places] = values
    boxes = centre.reshape(-1, dim), half.reshape(-1, dim)
    return PatchTable(lower, size, rows.reshape(cells, -1), degrees, *boxes, mixing)
