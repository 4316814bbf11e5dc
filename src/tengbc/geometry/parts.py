"""A domain some of whose segments are divided into named parts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, final

import numpy as np
from jaxtyping import Bool, Float

from tengbc.errors import ProblemError
from tengbc.geometry import breaks, checks, faces
from tengbc.geometry.breaks import Piece
from tengbc.geometry.domain import Domain
from tengbc.geometry.faces import Face

Array = np.ndarray
Part = tuple[str, str, tuple[Piece, ...]]
"""A name, the segment that it is a part of, and its pieces."""


@final
@dataclass(frozen=True, repr=False)
class Parted(Domain):
    """The same set as `domain`, with names for `parts` of its segments: see `with_parts`.

    A part is a name, its segment and its pieces: the number of a face of the segment, and the two
    fractions of the face's length between which the piece lies.
    """

    domain: Domain
    parts: Sequence[Sequence[Any]]

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Domain):
            raise ProblemError(f"domain is {self.domain!r}, but only a domain has parts.")
        _check_dimension(self.domain)
        checks.assign(self, parts=tuple(map(_part, checks.sequence(self.parts, "parts"))))
        names = [name for name, _, _ in self.parts]
        for name, segment, pieces in self.parts:
            if name in self.domain.segments or names.count(name) > 1:
                raise ProblemError(f"There is a segment {name!r} already; choose another name.")
            count = len(self.domain._segment(segment))
            if any(face >= count for face, _, _ in pieces):
                raise ProblemError(
                    f"{segment!r} has no more than {count} faces; correct the parts."
                )
            if self.domain.dim == 1 and pieces != ((0, 0.0, 1.0),):
                raise ProblemError(
                    f"{segment!r} is a single point; {name!r} can only be all of it."
                )
        for segment, taken in self._taken.items():
            for (face, _, end, name), (other, start, _, second) in pairwise(sorted(taken)):
                if face == other and start < end:
                    raise ProblemError(
                        f"{name!r} and {second!r} overlap on {segment!r}; make them disjoint."
                    )

    def __repr__(self) -> str:
        names = ", ".join(name for name, _, _ in self.parts)
        return f"Parted({self.domain!r}, {names})"

    @property
    def _taken(self) -> dict[str, list[tuple[int, float, float, str]]]:
        """The pieces of each segment that have new names."""
        taken: dict[str, list[tuple[int, float, float, str]]] = {}
        for name, segment, pieces in self.parts:
            taken.setdefault(segment, []).extend((*piece, name) for piece in pieces)
        return taken

    @cached_property
    def _chains(self) -> dict[str, tuple[Face, ...]]:
        """The faces of each segment: what is left of an old one, followed by its parts."""
        chains = {}
        for segment in self.domain.segments:
            whole = self.domain._faces(segment)
            chains[segment] = _cut(whole, _rest(len(whole), self._taken.get(segment, [])))
            for name, place, pieces in self.parts:
                if place == segment:
                    chains[name] = _cut(whole, pieces)
        return {name: chain for name, chain in chains.items() if chain}

    @property
    def segments(self) -> tuple[str, ...]:
        return tuple(self._chains)

    def _faces(self, segment: str) -> tuple[Face, ...]:
        return self._chains[segment]

    @property
    def bounds(self) -> tuple[Float[Array, " d"], Float[Array, " d"]]:
        return self.domain.bounds

    @property
    def measure(self) -> float:
        return self.domain.measure

    @property
    def scale(self) -> float:
        return self.domain.scale

    @property
    def fills_box(self) -> bool:
        return self.domain.fills_box

    def _inside(self, x: Float[Array, "n d"], margin: float) -> Bool[Array, " n"]:
        return self.domain._inside(x, margin)

    def _spread(self, u: Float[Array, "n d"]) -> Float[Array, "n d"] | None:
        return self.domain._spread(u)

    def _covering(self, n: int, seed: int) -> Float[Array, "n d"]:
        return self.domain._covering(n, seed)

    def _gauss(self, order: int) -> tuple[Float[Array, "n d"], Float[Array, " n"]]:
        return self.domain._gauss(order)


def divided(domain: Domain, parts: Mapping[str, Any]) -> Domain:
    """The domain with its parts, given as (segment, rule or pair of fractions), or an error."""
    if domain.region_names:  # which stay
        return replace(domain, domain=divided(domain.domain, parts))  # pyright: ignore
    _check_dimension(domain)
    known: dict[tuple[str, int], list[float]] = {}
    found = []
    for name, given in parts.items():
        entries = checks.sequence(given, f"The part {name!r}")
        if len(entries) != 2 or not isinstance(entries[0], str):
            raise ProblemError(
                f"The part {name!r} must be a segment and where on it, such as "
                f"('left', lambda x: x[1] < 0.5), not {given!r}."
            )
        segment, where = entries
        chain = domain._segment(segment)
        spans = breaks.spans(chain, domain.dim - 1, where, name)
        pieces = []
        for face, start, end in spans:
            ends = known.setdefault((segment, face), [0.0, 1.0])
            start, end = breaks.snapped(start, ends), breaks.snapped(end, ends)
            if start < end:
                pieces.append((face, start, end))
        if not pieces:
            raise ProblemError(
                f"The part {name!r} is empty, for its rule is true nowhere on {segment!r}; correct "
                "the rule, or give the two fractions of the length between which a short part lies."
            )
        found.append((name, segment, tuple(pieces)))
    return Parted(domain, tuple(found))


def _check_dimension(domain: Domain) -> None:
    if domain.dim > 2:
        raise ProblemError(
            f"{domain!r} is in dimension {domain.dim}, where segments are surfaces, but only ends "
            "and curves have named parts; let one condition on the segment tell its places apart."
        )


def _part(given: Any) -> Part:
    """A part in its own form, or a ProblemError."""
    entries = checks.sequence(given, "A part")
    if len(entries) != 3 or not all(isinstance(name, str) and name for name in entries[:2]):
        raise ProblemError(f"A part must be a name, a segment and its pieces, not {given!r}.")
    pieces = []
    for piece in checks.sequence(entries[2], "The pieces of a part"):
        numbers = checks.vector(piece, "A piece of a segment", dim=3)
        face, start, end = checks.whole(piece[0], "The number of a face", 0), *numbers[1:]
        if not 0 <= start < end <= 1:
            raise ProblemError(
                f"The part {entries[0]!r} goes from {start:g} to {end:g} of a face, but fractions "
                "must grow and lie between 0 and 1."
            )
        pieces.append((face, start, end))
    if not pieces:
        raise ProblemError(
            f"The part {entries[0]!r} of {entries[1]!r} has no pieces; leave it out."
        )
    return entries[0], entries[1], tuple(pieces)


def _cut(whole: tuple[Face, ...], pieces: Iterable[Piece]) -> tuple[Face, ...]:
    """The pieces of a chain of faces."""
    return tuple(
        whole[face] if (start, end) == (0.0, 1.0) else faces.part(whole[face], start, end)
        for face, start, end in pieces
    )


def _rest(count: int, taken: list[tuple[int, float, float, str]]) -> Iterator[Piece]:
    """What is left of a segment's faces."""
    for face in range(count):
        reached = 0.0
        for _, start, end, _ in sorted(piece for piece in taken if piece[0] == face):
            if start > reached:
                yield face, reached, start
            reached = end
        if reached < 1.0:
            yield face, reached, 1.0
