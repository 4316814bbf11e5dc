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
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from jaxtyping import Float, Int, Shaped

from tengbc.patches.blocks import Blocks, Nodes, flat
from tengbc.patches.materials import JoinedPatches
from tengbc.patches.patches import Faces, Patches

Array = np.ndarray
SAFE = 2.0
"""Penalties are this many times the least that is known to be stable."""


@dataclass(frozen=True)
class Coefficients:
    """A, β and c of an equation at points: (n, m, d, d), (n, m, m, d) and (n, m, m).

    Around a state ∂ₜu = ∇·(A∇u + αu) + β·∇u + cu, with α = ∂A/∂u·∇u where A depends on u.
    """

    diffusion: Float[Array, "*n m d d"]
    drift: Float[Array, "*n m m d"]
    reaction: Float[Array, "*n m m"]
    bent: Float[Array, "*n m m d"] | None = None
    """α."""

    @property
    def arrays(self) -> tuple[Array, ...]:
        """Three of them, or all four."""
        found = (self.diffusion, self.drift, self.reaction)
        return found if self.bent is None else (*found, self.bent)


class EnergyForm:
    """Features of patches at all nodes, and the matrices that are made of them."""

    def __init__(self, patches: Patches | JoinedPatches, components: int):
        self.patches, self.components = patches, components
        self.inside = [(b, *patches.features(b.members, b.x)) for b in patches.batches]
        self.between = [(f, self._both(f)) for f in patches.inner_faces]
        self.across = [(f, self._both(f)) for f in patches.interfaces]
        self.around = [(f, *patches.features(f.inner, f.x)) for f in patches.outer_faces]
        self.size = patches.table.unknowns * components
        self._seen_at: list[list[sp.csr_matrix]] | None = None
        self._tested_by: list[list[sp.csr_matrix]] | None = None
        self._rows = self._all_places()
        dim = len(patches.table.lower)
        self.within = Nodes([batch.x for batch in patches.batches], dim)
        self._sides = Nodes([faces.x for faces in patches.inner_faces], dim)
        self.contact = Nodes([faces.x for faces in patches.interfaces], dim)
        """Those where regions meet."""
        self.boundary = Nodes([faces.x for faces in patches.outer_faces], dim)
        parts = (self.within, self._sides, self.contact, self.contact, self.boundary)
        self._groups = parts
        self.x = np.concatenate([part.x for part in parts])
        """All nodes: those inside patches, those between them, those where regions meet, for either
        region, those on the boundary."""
        self.where = self._regions()
        self.normal = flat([faces.normal for faces in patches.outer_faces], np.zeros((0, dim)))
        self.segments = _nodes_by_segment(patches.outer_faces)
        self.contacts = _nodes_by_segment(patches.interfaces)

    def coarser(self, patches: Patches | JoinedPatches) -> EnergyForm:
        """The form of coarser patches at the same nodes: their features are among these."""
        found, sizes = copy.copy(self), patches.table.sizes

        def few(which: Array, values: Array, slopes: Array) -> tuple[Array, Array]:
            n = int(sizes[which[0]])
            return values[..., :n], slopes[..., :n, :]

        found.patches, found._seen_at, found._tested_by = patches, None, None
        found.inside = [
            (batch, *few(batch.members, values, slopes))
            for batch, (_, values, slopes) in zip(patches.batches, self.inside, strict=True)
        ]
        found.between = [
            (f, [few(k, *part) for k, part in zip(_sides(f), both, strict=True)])
            for f, both in self.between
        ]
        found.across = [
            (f, [few(k, *part) for k, part in zip(_sides(f), both, strict=True)])
            for f, both in self.across
        ]
        found.around = [(f, *few(f.inner, values, slopes)) for f, values, slopes in self.around]
        found.size = patches.table.unknowns * self.components
        found._rows = found._all_places()
        return found

    def _regions(self) -> Int[Array, " n"] | None:
        """The region that each of all nodes counts with; None where there is one only."""
        region = self.patches.regions
        if region is None:
            return None
        members = [
            [batch.members for batch, *_ in self.inside],
            [faces.inner for faces, _ in self.between],
            [faces.inner for faces, _ in self.across],
            [_sides(faces)[1] for faces, _ in self.across],
            [faces.inner for faces, *_ in self.around],
        ]
        pairs = [
            (which, x.shape[1])
            for group, nodes in zip(members, self._batches, strict=True)
            for which, x in zip(group, nodes, strict=True)
        ]
        return np.concatenate([np.repeat(region[which], count) for which, count in pairs])

    @property
    def _batches(self) -> list[list[Array]]:
        """The nodes of all groups, batch by batch."""
        contact = [faces.x for faces, _ in self.across]
        return [
            [batch.x for batch, *_ in self.inside],
            [faces.x for faces, _ in self.between],
            contact,
            contact,
            [faces.x for faces, *_ in self.around],
        ]

    def _parts(self, values: Shaped[Array, "n ..."]) -> list[Shaped[Array, "_n ..."]]:
        """Values at all nodes, told apart by where they are."""
        return np.split(values, np.cumsum([len(part) for part in self._groups])[:-1])

    def _both(self, faces: Faces):
        return [self.patches.features(which, faces.x) for which in _sides(faces)]

    # Matrices.

    def stiffness(
        self,
        coefficients: Coefficients,
        law: tuple[Float[Array, "b m"], Float[Array, "b m"]],
        resistance: Float[Array, "k m"] | None = None,
    ) -> tuple[sp.csc_matrix, Loads]:
        """K, and how data on the boundary and at interfaces load the equations.

        The coefficients are those at all nodes, `law` is a and b at those of the boundary,
        `resistance` that of the interfaces at theirs.
        """
        self._tests: dict[tuple[int, int], list[Array]] = {}
        if self.across:
            self._tested_by = None  # it depends on the coefficients
        blocks = Blocks(self.size, self.size)
        loads = [Blocks(self.size, self.data_count) for _ in range(self.components)]
        within, inner, *contact, outer = self._by_batch(coefficients)
        self._volume(blocks, within)
        constants = self._inverse_constants(inner, contact, outer)
        for (faces, both), found in zip(self.between, inner, strict=True):
            self._between(blocks, faces, both, found, constants)
        if self.across:
            assert resistance is not None
            first = len(self.boundary)
            nodes = self.contact.split(first + np.arange(len(self.contact)))
            sides = zip(*contact, strict=True)
            law_there = self.contact.split(resistance)
            for each in zip(self.across, sides, law_there, nodes, strict=True):
                self._contact(blocks, loads, *each, constants)
        numbers = self.boundary.split(np.arange(len(self.boundary)))
        laws = zip(*(self.boundary.split(part) for part in law), strict=True)
        for around, found, here, nodes in zip(self.around, outer, laws, numbers, strict=True):
            self._around(blocks, loads, nodes, around, found, here, constants)
        if coefficients.bent is not None:
            self._bent(blocks, within, inner, contact, outer)
        return blocks.matrix(), [part.matrix() for part in loads]

    @property
    def data_count(self) -> int:
        """Places of data: the boundary's nodes, then those of interfaces for jumps and sources."""
        return len(self.boundary) + 2 * len(self.contact)

    def _by_batch(self, coefficients: Coefficients) -> list[list[Coefficients]]:
        """The coefficients batch by batch, for each group of nodes."""
        parts = zip(*map(self._parts, coefficients.arrays), strict=True)
        return [
            [Coefficients(*found) for found in zip(*map(nodes.split, part), strict=True)]
            for nodes, part in zip(self._groups, parts, strict=True)
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

    def _inverse_constants(self, inner, contact, outer) -> Float[Array, "m p"]:
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
                (_sides(faces)[side], both[side][1], faces, found)
                for side in (0, 1)
                for (faces, both), found in zip(self.across, contact[side], strict=True)
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
                self._carried_across(blocks, faces, both, found.drift[:, :, k, m], (k, m))

    def _carried_across(self, blocks: Blocks, faces: Faces, both, drift, of: tuple[int, int]):
        """What a drift carries from one patch into the next, from the side it comes from."""
        speed = -np.sum(drift * faces.normal, axis=-1)
        if not speed.any():
            return
        k, m = of
        upwind = np.abs(speed) / 2 if k == m else 0.0 * speed
        jumps, w = (both[0][0], -both[1][0]), faces.w[..., None]
        rows, columns = ([self.places(p, each) for p in _sides(faces)] for each in of)
        columns = rows if m == k else columns
        for i, sign in ((0, 1.0), (1, -1.0)):
            # The test function's jump has the sign of its side, its mean has not.
            part = (upwind - speed * sign / 2)[..., None]
            for j in (0, 1):
                blocks.add(rows[i], columns[j], _product(w * part * jumps[i], jumps[j]))

    def _contact(
        self, blocks: Blocks, loads: list[Blocks], across, sides, resistance, nodes, constants
    ) -> None:
        """Where two regions meet: [u] + R·F = jump, F the flux κ∂ₙu between them.

        With weights by how far either side's flux is known, F = w₁κ₁∂ₙu₁ + w₂κ₂∂ₙu₂, and 1/γ of the
        order of a penalty, this is the formula of the boundary with b → R:

            ∫ ([u][w] − γ(F(u)[w] + [u]F(w)) − γR·F(u)F(w)) / (R + γ),

        loads ∫ jump([w] − γF(w))/(R + γ) and ∫ source(w₂·w on side 1 + w₁·w on side 2); the jump
        grows by R(w₁ − ½)source, as the law means the mean of the two fluxes.
        """
        faces, both = across
        which, w = _sides(faces), faces.w[..., None]
        jumps, shift = (both[0][0], -both[1][0]), len(self.contact)
        for k in range(self.components):
            rows = [self.places(p, k) for p in which]
            conormals = [(f.diffusion[:, :, k] @ faces.normal[..., None])[..., 0] for f in sides]
            stiff = [
                np.sum(faces.normal * n, axis=-1) * constants[k][p][:, None]
                for n, p in zip(conormals, which, strict=True)
            ]
            total = np.where(stiff[0] + stiff[1] > 0, stiff[0] + stiff[1], 1.0)
            weights = stiff[1] / total, stiff[0] / total
            sigma = 2 * SAFE * stiff[0] * stiff[1] / total
            r = resistance[..., k]
            # 1/(R + γ) and γ/(R + γ), with γ = 1/σ and σ perhaps zero.
            strength, share = (sigma / (1 + sigma * r))[..., None], (1 / (1 + sigma * r))[..., None]
            means = [
                a[..., None] * _along(part[1], n)
                for a, part, n in zip(weights, both, conormals, strict=True)
            ]
            blunt = r[..., None] * share
            # What a flux between the regions is tested with, and its share of either side.
            tests = [share * jumps[i] + blunt * means[i] for i in (0, 1)]
            self._tests[id(faces), k] = [*tests, *weights]
            for i in (0, 1):
                for j in (0, 1):
                    block = _product(w * jumps[i], strength * jumps[j] - share * means[j])
                    block -= _product(w * share * means[i], jumps[j])
                    block -= _product(w * blunt * means[i], means[j])
                    blocks.add(rows[i], rows[j], block)
                jump = w * (strength * jumps[i] - share * means[i])
                loads[k].add(rows[i], nodes, np.swapaxes(jump, 1, 2))
                # Where the flux jumps, R multiplies the mean of both sides, which is not F.
                aside = (r * (weights[0] - 0.5))[..., None] * jump
                given = w * weights[1 - i][..., None] * both[i][0] + aside
                loads[k].add(rows[i], nodes + shift, np.swapaxes(given, 1, 2))
            for m in range(self.components):
                drift = (sides[0].drift[:, :, k, m] + sides[1].drift[:, :, k, m]) / 2
                self._carried_across(blocks, faces, both, drift, (k, m))

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

    def _bent(self, blocks: Blocks, within, inner, contact, outer) -> None:
        """−∇·(αu), tested as `flux_load` tests a flux."""
        every = list(itertools.product(range(self.components), repeat=2))
        for (batch, values, slopes), found in zip(self.inside, within, strict=True):
            for k, m in every:
                part = _along(slopes, batch.w[..., None] * found.bent[:, :, k, m])
                rows = [self.places(batch.members, each) for each in (k, m)]
                blocks.add(rows[0], rows[0] if k == m else rows[1], _product(part, values))
        for (faces, both), found in zip(self.between, inner, strict=True):
            for k, m in every:
                speed = np.sum(found.bent[:, :, k, m] * faces.normal, axis=-1)
                through = (faces.w * speed / 2)[..., None]
                tests = [through * both[0][0], -through * both[1][0]]
                self._tested(blocks, faces, both, tests, (k, m))
        for (faces, both), *sides in zip(self.across, *contact, strict=True):
            for k, m in every:
                first, second, *weights = self._tests[id(faces), k]
                for j in (0, 1):
                    speed = np.sum(sides[j].bent[:, :, k, m] * faces.normal, axis=-1)
                    through = (faces.w * weights[j] * speed)[..., None]
                    tests = [through * first, through * second]
                    self._tested(blocks, faces, both, tests, (k, m), (j,))
        for (faces, values, _), found in zip(self.around, outer, strict=True):
            for k, m in every:
                speed = np.sum(found.bent[:, :, k, m] * faces.normal, axis=-1)
                rows = [self.places(faces.inner, each) for each in (k, m)]
                block = -_product((faces.w * speed)[..., None] * values, values)
                blocks.add(rows[0], rows[0] if k == m else rows[1], block)

    def _tested(
        self, blocks: Blocks, faces, both, tests, of: tuple[int, int], sides=(0, 1)
    ) -> None:
        """−∫ test·u for the tests of either patch and u of one side, or of both."""
        rows, columns = ([self.places(p, each) for p in _sides(faces)] for each in of)
        columns = rows if of[0] == of[1] else columns
        for i, test in enumerate(tests):
            for j in sides:
                blocks.add(rows[i], columns[j], -_product(test, both[j][0]))

    # Vectors.

    def flux_load(self, flux: Float[Array, "q m d"]) -> Float[Array, " n"]:
        """∫(∇·flux)·w in the weak form: −∫flux·∇w, and what passes between patches and out."""
        if self._tested_by is None:
            self._tested_by = [self._flux_tests(k) for k in range(self.components)]
        axes = range(flux.shape[-1])
        return np.asarray(
            sum(tests[a] @ flux[:, k, a] for k, tests in enumerate(self._tested_by) for a in axes)
        )

    def _flux_tests(self, k: int) -> list[sp.csr_matrix]:
        """For each axis, what a flux along it at each of all nodes loads component k with."""
        dim, count = self.x.shape[1], len(self.x)
        found = [Blocks(count, self.size) for _ in range(dim)]
        within, sides, first, second, rim = self._numbers()

        def add(nodes: Array, which: Array, tests: Array, vector: Array) -> None:
            for a, blocks in enumerate(found):
                blocks.add(nodes, self.places(which, k), tests * vector[..., a : a + 1])

        for (batch, _, slopes), nodes in zip(self.inside, within, strict=True):
            for a, blocks in enumerate(found):
                density = -batch.w[..., None] * slopes[..., a]
                blocks.add(nodes, self.places(batch.members, k), density)
        for (faces, both), nodes in zip(self.between, sides, strict=True):
            for which, sign, (values, _) in zip(_sides(faces), (1.0, -1.0), both, strict=True):
                add(nodes, which, sign * faces.w[..., None] * values, faces.normal)
        for (faces, _), *nodes in zip(self.across, first, second, strict=True):
            *tests, one, other = self._tests[id(faces), k]
            for numbers, weight in zip(nodes, (one, other), strict=True):
                for which, test in zip(_sides(faces), tests, strict=True):
                    add(numbers, which, (faces.w * weight)[..., None] * test, faces.normal)
        for (faces, values, _), nodes in zip(self.around, rim, strict=True):
            add(nodes, faces.inner, faces.w[..., None] * values, faces.normal)
        return [sp.csr_matrix(blocks.matrix().T) for blocks in found]

    def _numbers(self) -> list[list[Int[Array, "_b _q"]]]:
        """The numbers of all nodes, batch by batch, for each group."""
        parts = self._parts(np.arange(len(self.x)))
        return [nodes.split(part) for nodes, part in zip(self._groups, parts, strict=True)]

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
        found = [self._at_side(c, f.inner, (v, s)) for f, v, s in self.around]
        return _together(found, self._nothing)

    def at_all(self, c: Float[Array, " n"]) -> tuple[Array, Array]:
        """u and ∇u at all nodes; between patches of one region, the mean of both sides."""
        if self._seen_at is None:
            self._seen_at = [self._fields(k) for k in range(self.components)]
        value = np.stack([maps[0] @ c for maps in self._seen_at], axis=-1)
        slope = [np.stack([part @ c for part in maps[1:]], axis=-1) for maps in self._seen_at]
        return value, np.stack(slope, axis=1)

    def _fields(self, k: int) -> list[sp.csr_matrix]:
        """Component k and its derivatives at all nodes, as matrices."""
        dim = self.x.shape[1]
        found = [Blocks(len(self.x), self.size) for _ in range(1 + dim)]
        within, sides, *contact, rim = self._numbers()

        def add(nodes: Array, which: Array, part: tuple[Array, Array], share: float = 1.0) -> None:
            columns = self.places(which, k)
            for blocks, values in zip(found, (part[0], *np.moveaxis(part[1], -1, 0)), strict=True):
                blocks.add(nodes, columns, share * values)

        for (batch, *part), nodes in zip(self.inside, within, strict=True):
            add(nodes, batch.members, (part[0], part[1]))
        for (faces, both), nodes in zip(self.between, sides, strict=True):
            for which, part in zip(_sides(faces), both, strict=True):
                add(nodes, which, part, 0.5)
        for side in (0, 1):
            for (faces, both), nodes in zip(self.across, contact[side], strict=True):
                add(nodes, _sides(faces)[side], both[side])
        for (faces, *part), nodes in zip(self.around, rim, strict=True):
            add(nodes, faces.inner, (part[0], part[1]))
        return [sp.csr_matrix(blocks.matrix()) for blocks in found]

    @property
    def _nothing(self) -> tuple[Array, Array]:
        """A field's value and slope at no nodes."""
        return np.zeros((0, self.components)), np.zeros((0, self.components, self.x.shape[1]))

    def _at_side(self, c: Float[Array, " n"], patch: Array, part) -> tuple[Array, Array]:
        """u and ∇u at the nodes of faces of patches."""
        heads = [c[self.places(patch, k)] for k in range(self.components)]
        value = np.array([(part[0] @ head[..., None])[..., 0] for head in heads])
        slope = np.array([_field(part[1], head) for head in heads])
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


def _nodes_by_segment(batches: Sequence[Faces]) -> dict[str, Int[Array, " _n"]]:
    """The numbers of the nodes on each segment, or interface."""
    names = [np.repeat(f.segments, f.x.shape[1]) for f in batches]
    names = np.concatenate(names) if names else np.zeros(0, dtype=str)
    return {str(name): np.flatnonzero(names == name) for name in np.unique(names)}


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
