"""The weak form of a linear equation on patches, as sparse matrices.

    ∂ₜu = ∇·(A∇u) + β·∇u + c·u + f,    a·u + b·∂ₙu = v on the boundary

becomes ċ = F(t) − Kc, the mass matrix being one. Between patches stands the symmetric interior
penalty, on the boundary the formula of Juntunen and Stenberg (2009), one from Dirichlet (b = 0) to
Neumann (a = 0): with γ of the order of h/p²

    ∫ κ [a·u·w − γa(∂ₙu·w + u·∂ₙw) − γb·∂ₙu·∂ₙw] / (b + γa),   load  ∫ κ v(w − γ∂ₙw) / (b + γa).

What is carried along by β enters from the side it comes from. The penalties follow from the largest
∮(n·A∇u)²/κ for ∫∇u·A∇u = 1 on each patch, κ = n·An; nothing is tuned.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from jaxtyping import Float, Int

from tengbc.patches.blocks import Blocks, Nodes, flat
from tengbc.patches.patches import Faces, Patches

Array = np.ndarray
SAFE = 2.0
"""Penalties are this many times the least that is known to be stable."""


@dataclass(frozen=True)
class Coefficients:
    """A, β and c of an equation at points: (n, m, d, d), (n, m, m, d) and (n, m, m)."""

    diffusion: Float[Array, "*n m d d"]
    drift: Float[Array, "*n m m d"]
    reaction: Float[Array, "*n m m"]


class EnergyForm:
    """Features of patches at all nodes, and the matrices that are made of them."""

    def __init__(self, patches: Patches, components: int):
        self.patches, self.components = patches, components
        self.inside = [(b, *patches.features(b.members, b.x)) for b in patches.batches]
        self.between = [(f, self._both(f)) for f in patches.inner_faces]
        self.around = [(f, *patches.features(f.inner, f.x)) for f in patches.outer_faces]
        self.size = patches.table.unknowns * components
        self._rows = self._all_places()
        dim = len(patches.table.lower)
        self.within = Nodes([batch.x for batch in patches.batches], dim)
        self._sides = Nodes([faces.x for faces in patches.inner_faces], dim)
        self.boundary = Nodes([faces.x for faces in patches.outer_faces], dim)
        self.x = np.concatenate([part.x for part in (self.within, self._sides, self.boundary)])
        """All nodes: those inside patches, those between them, those on the boundary."""
        self.normal = flat([faces.normal for faces in patches.outer_faces], np.zeros((0, dim)))
        self.segments = self._nodes_by_segment()

    def coarser(self, patches: Patches) -> EnergyForm:
        """The form of coarser patches at the same nodes: their features are among these."""
        found, sizes = copy.copy(self), patches.table.sizes

        def few(which: Array, values: Array, slopes: Array) -> tuple[Array, Array]:
            n = int(sizes[which[0]])
            return values[..., :n], slopes[..., :n, :]

        found.patches = patches
        found.inside = [
            (batch, *few(batch.members, values, slopes))
            for batch, (_, values, slopes) in zip(patches.batches, self.inside, strict=True)
        ]
        found.between = [
            (f, [few(k, *part) for k, part in zip(_sides(f), both, strict=True)])
            for f, both in self.between
        ]
        found.around = [(f, *few(f.inner, values, slopes)) for f, values, slopes in self.around]
        found.size = patches.table.unknowns * self.components
        found._rows = found._all_places()
        return found

    def _nodes_by_segment(self) -> dict[str, Int[Array, " _n"]]:
        """The numbers of the boundary's nodes on each segment."""
        names = [np.repeat(f.segments, f.x.shape[1]) for f in self.patches.outer_faces]
        names = np.concatenate(names) if names else np.zeros(0, dtype=str)
        return {str(name): np.flatnonzero(names == name) for name in np.unique(names)}

    def _parts(self, values: Float[Array, "n ..."]) -> list[Float[Array, "_n ..."]]:
        """Values at all nodes, told apart by where they are: inside, between, on the boundary."""
        ends = len(self.within), len(self.within) + len(self._sides)
        return np.split(values, ends)

    def _both(self, faces: Faces):
        return [self.patches.features(which, faces.x) for which in _sides(faces)]

    # Matrices.

    def stiffness(
        self,
        coefficients: Coefficients,
        law: tuple[Float[Array, "b m"], Float[Array, "b m"]],
    ) -> tuple[sp.csc_matrix, Loads]:
        """K, and how boundary data load the equations.

        The coefficients are those at all nodes, `law` is a and b at those of the boundary.
        """
        blocks = Blocks(self.size, self.size)
        loads = [Blocks(self.size, len(self.boundary)) for _ in range(self.components)]
        within, inner, outer = self._by_batch(coefficients)
        self._volume(blocks, within)
        constants = self._inverse_constants(inner, outer)
        for (faces, both), found in zip(self.between, inner, strict=True):
            self._between(blocks, faces, both, found, constants)
        numbers = self.boundary.split(np.arange(len(self.boundary)))
        laws = zip(*(self.boundary.split(part) for part in law), strict=True)
        for around, found, here, nodes in zip(self.around, outer, laws, numbers, strict=True):
            self._around(blocks, loads, nodes, around, found, here, constants)
        return blocks.matrix(), [part.matrix() for part in loads]

    def _by_batch(self, coefficients: Coefficients) -> list[list[Coefficients]]:
        """The coefficients batch by batch: inside, between and around patches."""
        arrays = (coefficients.diffusion, coefficients.drift, coefficients.reaction)
        parts = zip(*map(self._parts, arrays), strict=True)
        return [
            [Coefficients(*found) for found in zip(*map(nodes.split, part), strict=True)]
            for nodes, part in zip((self.within, self._sides, self.boundary), parts, strict=True)
        ]

    def _volume(self, blocks: Blocks, coefficients: list[Coefficients]) -> None:
        self._energy = [self._by_degree() for _ in range(self.components)]
        for (batch, values, slopes), found in zip(self.inside, coefficients, strict=True):
            w = batch.w[..., None]
            for k in range(self.components):
                flux = slopes @ found.diffusion[:, :, k]
                energy = sum(
                    _product(w * flux[..., a], slopes[..., a]) for a in range(slopes.shape[-1])
                )
                self._energy[k][batch.degree][self.patches.rank[batch.members]] = energy
                row = self.places(batch.members, k)
                blocks.add(row, row, np.asarray(energy))
                for m in range(self.components):
                    drift, reaction = found.drift[:, :, k, m], found.reaction[:, :, k, m]
                    if not (drift.any() or reaction.any()):
                        continue
                    change = reaction[..., None] * values
                    if drift.any():
                        change = change + _along(slopes, drift)
                    column = row if m == k else self.places(batch.members, m)
                    blocks.add(row, column, -_product(w * values, change))

    def _by_degree(self) -> dict[int, Float[Array, "_b _n _n"]]:
        """Room for a matrix per patch, by degree."""
        degrees, sizes = self.patches.degrees, self.patches.table.sizes
        return {
            int(degree): np.zeros((int(np.sum(degrees == degree)), sizes[k], sizes[k]))
            for degree, k in zip(*np.unique(degrees, return_index=True), strict=True)
        }

    def _inverse_constants(self, inner, outer) -> Float[Array, "m p"]:
        """The largest ∮(n·A∇u)²/κ for ∫∇u·A∇u = 1 on each patch, for each component."""
        constants = np.zeros((self.components, len(self.patches)))
        for k in range(self.components):
            around = self._by_degree()
            sides = [
                (which, part[1], faces, found)
                for (faces, both), found in zip(self.between, inner, strict=True)
                for which, part in zip((faces.inner, faces.outer), both, strict=True)
                if which is not None
            ]
            sides += [
                (faces.inner, slopes, faces, found)
                for (faces, _, slopes), found in zip(self.around, outer, strict=True)
            ]
            for which, slopes, faces, found in sides:
                normal, diffusion = faces.normal, found.diffusion[:, :, k]
                conormal = (diffusion @ normal[..., None])[..., 0]
                kappa = np.sum(normal * conormal, axis=-1)
                if not kappa.any():
                    continue
                flux = _along(slopes, conormal)
                part = faces.w / np.where(kappa > 0, kappa, np.inf)
                squares = _product(part[..., None] * flux, flux)
                degree = int(self.patches.degrees[which[0]])
                np.add.at(around[degree], self.patches.rank[which], squares)
            for degree, energy in self._energy[k].items():
                members = self.patches.degrees == degree
                constants[k, members] = _largest(around[degree], energy)
        return constants

    def _between(self, blocks: Blocks, faces: Faces, both, found: Coefficients, constants) -> None:
        """The symmetric interior penalty, and what is carried across."""
        assert faces.outer is not None
        which, w = (faces.inner, faces.outer), faces.w[..., None]
        jumps = both[0][0], -both[1][0]
        for k in range(self.components):
            diffusion, rows = found.diffusion[:, :, k], [self.places(p, k) for p in which]
            conormal = (diffusion @ faces.normal[..., None])[..., 0]
            kappa = np.sum(faces.normal * conormal, axis=-1)
            if kappa.any():
                largest = np.maximum(*(constants[k][p] for p in which))
                sigma = SAFE * (kappa * largest[:, None])[..., None]
                means = [_along(slopes, conormal) / 2 for _, slopes in both]
                for i in (0, 1):
                    for j in (0, 1):
                        block = _product(w * jumps[i], sigma * jumps[j] - means[j])
                        block -= _product(w * means[i], jumps[j])
                        blocks.add(rows[i], rows[j], block)
            for m in range(self.components):
                speed = -np.sum(found.drift[:, :, k, m] * faces.normal, axis=-1)
                if not speed.any():
                    continue
                upwind = np.abs(speed) / 2 if k == m else 0.0 * speed
                columns = rows if m == k else [self.places(p, m) for p in which]
                for i, sign in ((0, 1.0), (1, -1.0)):
                    # The test function's jump has the sign of its side, its mean has not.
                    part = (upwind - speed * sign / 2)[..., None]
                    for j in (0, 1):
                        blocks.add(rows[i], columns[j], _product(w * part * jumps[i], jumps[j]))

    def _around(
        self, blocks: Blocks, loads: list[Blocks], nodes: Array, around, found, law, constants
    ) -> None:
        """The boundary law in one formula, what comes in with a flow, and how data load both."""
        faces, values, slopes = around
        for k in range(self.components):
            a, b = law[0][..., k], law[1][..., k]
            row, diffusion = self.places(faces.inner, k), found.diffusion[:, :, k]
            conormal = (diffusion @ faces.normal[..., None])[..., 0]
            kappa = np.sum(conormal * faces.normal, axis=-1)
            load = np.zeros_like(values)
            if kappa.any():
                largest = constants[k][faces.inner]
                gamma = 1 / (SAFE * np.where(largest > 0, largest, 1.0))
                gamma = np.broadcast_to(gamma[:, None], a.shape)
                against = a * b < 0  # a law that heats where it is hot: a and b differ in sign
                limit = np.abs(b) / np.where(against, 2 * np.abs(a), 1.0)
                gamma = np.where(against, np.minimum(gamma, limit), gamma)
                part = (faces.w * kappa / (b + gamma * a))[..., None]
                gamma, a_, b_ = gamma[..., None], a[..., None], b[..., None]
                outward = _along(slopes, faces.normal)
                block = _product(part * values, a_ * (values - gamma * outward))
                block -= _product(part * gamma * outward, a_ * values + b_ * outward)
                along = conormal - kappa[..., None] * faces.normal
                if np.abs(along).max() > 1e-14 * np.abs(conormal).max():
                    aside = _along(slopes, along)
                    block -= _product(faces.w[..., None] * values, aside)
                blocks.add(row, row, block)
                load += part * (values - gamma * outward)
            speed = -np.sum(found.drift[:, :, k, k] * faces.normal, axis=-1)
            enters = np.where((speed < 0) & (b == 0) & (a != 0), -speed, 0.0)
            if enters.any():
                part = (faces.w * enters)[..., None]
                blocks.add(row, row, _product(part * values, values))
                load += part * values / np.where(a == 0, 1.0, a)[..., None]
            loads[k].add(row, nodes, np.swapaxes(load, 1, 2))

    # Vectors.

    def load(self, density: Float[Array, "q m"]) -> Float[Array, " n"]:
        """∫ density·w for all features w, from values at the nodes inside."""
        found = np.zeros(self.size)
        parts = self.within.split(density)
        for (batch, values, _), rows, part in zip(self.inside, self._rows, parts, strict=True):
            found[rows] = _product(batch.w[..., None] * part, values)
        return found

    def boundary_load(self, loads: Loads, v: Float[Array, "b m"]) -> Float[Array, " n"]:
        """What boundary data v load the equations with, from values at the nodes."""
        return np.asarray(sum(load @ v[:, k] for k, load in enumerate(loads)))

    def at_nodes(self, c: Float[Array, " n"], slopes: bool = False) -> Float[Array, "q m ..."]:
        """u, or ∇u, at the nodes inside."""
        found = []
        for (_, values, gradients), rows in zip(self.inside, self._rows, strict=True):
            heads = c[rows]
            found.append(
                heads[:, None] @ gradients if slopes else values @ np.swapaxes(heads, 1, 2)
            )
        return flat(found)

    def at_boundary(self, c: Float[Array, " n"]) -> tuple[Array, Array]:
        """u and ∇u at the nodes of the boundary, (b, m) and (b, m, d)."""
        found = [self._at_faces(c, f, [(v, s)]) for f, v, s in self.around]
        return _together(found, self._nothing)

    def at_all(self, c: Float[Array, " n"]) -> tuple[Array, Array]:
        """u and ∇u at all nodes."""
        inside = self.at_nodes(c), self.at_nodes(c, slopes=True)
        between = _together([self._at_faces(c, *part) for part in self.between], self._nothing)
        value, slope = zip(inside, between, self.at_boundary(c), strict=True)
        return np.concatenate(value), np.concatenate(slope)

    @property
    def _nothing(self) -> tuple[Array, Array]:
        """A field's value and slope at no nodes."""
        return np.zeros((0, self.components)), np.zeros((0, self.components, self.x.shape[1]))

    def _at_faces(self, c: Float[Array, " n"], faces: Faces, both) -> tuple[Array, Array]:
        """u and ∇u at the nodes of faces, the mean of both sides."""
        which = [faces.inner] if faces.outer is None else [faces.inner, faces.outer]
        values, slopes = [], []
        for patch, (features, gradients) in zip(which, both, strict=True):
            heads = [c[self.places(patch, k)] for k in range(self.components)]
            values.append([(features @ head[..., None])[..., 0] for head in heads])
            slopes.append([_field(gradients, head) for head in heads])
        value, slope = np.mean(values, axis=0), np.mean(slopes, axis=0)
        return np.moveaxis(value, 0, 2), np.moveaxis(slope, 0, 2)

    def _all_places(self) -> list[Int[Array, "b m n"]]:
        """The unknowns of the patches of each batch, component by component."""
        every = range(self.components)
        return [
            np.stack([self.places(batch.members, k) for k in every], axis=1)
            for batch, _, _ in self.inside
        ]

    def places(self, which: Array, component: int) -> Array:
        """The unknowns of patches of one degree, (b, n)."""
        n = int(self.patches.table.sizes[which[0]])
        first = self.patches.table.starts[which] * self.components + component * n
        return first[:, None] + np.arange(n)


def _sides(faces: Faces) -> tuple[Array, Array]:
    """The patches on both sides of inner faces."""
    assert faces.outer is not None
    return faces.inner, faces.outer


Loads = list[sp.csc_matrix]
"""For each component: the load on all unknowns of v = 1 at each node of the boundary."""


def _product(left: Float[Array, "b q i"], right: Float[Array, "b q j"]) -> Float[Array, "b i j"]:
    return np.swapaxes(left, 1, 2) @ right


def _field(slopes: Float[Array, "b q n d"], head: Float[Array, "b n"]) -> Float[Array, "b q d"]:
    """The gradient of the field with these heads."""
    return (head[:, None, None, :] @ slopes)[:, :, 0]


def _along(slopes: Float[Array, "b q n d"], vector: Float[Array, "b q d"]) -> Float[Array, "b q n"]:
    """The derivative of each feature along a vector."""
    return (slopes @ vector[..., None])[..., 0]


def _together(found: Sequence[tuple[Array, Array]], nothing: tuple[Array, Array]):
    """The values and slopes of several batches, node by node."""
    value, slope = zip(*found, strict=True) if found else ((), ())
    return flat(value, nothing[0]), flat(slope, nothing[1])


def _largest(squares: Float[Array, "b n n"], energy: Float[Array, "b n n"]) -> Float[Array, " b"]:
    """The largest squares for energy one; the first feature is constant and has neither."""
    if squares.shape[-1] == 1:
        return np.ones(len(squares))
    squares, energy = squares[:, 1:, 1:], energy[:, 1:, 1:]
    unit = np.eye(energy.shape[-1])
    trace = np.trace(energy, axis1=1, axis2=2)[:, None, None]
    # Where nothing diffuses there is nothing to penalise, and any energy will do.
    lower = np.linalg.cholesky(energy + np.where(trace > 0, 1e-12 * trace, 1.0) * unit)
    half = np.linalg.solve(lower, squares)
    whole = np.linalg.solve(lower, np.swapaxes(half, 1, 2))
    return np.linalg.eigvalsh((whole + np.swapaxes(whole, 1, 2)) / 2)[:, -1]
