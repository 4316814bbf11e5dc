"""Curved meshes of our domains, graded towards corners and layers.

The outline is read off the pieces of the boundary, straight or circular, so that every domain in
the plane will do, as will an interval.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from tengbc.errors import UsageError
from tengbc.evidence.baselines.hpfem.symbolic import ngsolve
from tengbc.geometry import Disk
from tengbc.geometry.domain import Domain
from tengbc.geometry.faces import Face
from tengbc.problem import Problem

Array = np.ndarray
LARGEST_ARC = np.pi / 3
"""A spline of NGSolve is a circular arc up to less than half a turn; short ones are well meshed."""
GRADING = 0.15
"""Geometric refinement: each layer of elements is that much of the one around it."""


class Stroke(NamedTuple):
    """A straight piece, or a circular one by the `control` point where its end tangents meet."""

    start: Float[Array, " 2"]
    end: Float[Array, " 2"]
    control: Float[Array, " 2"] | None
    segment: str
    inside_left: bool


def build_mesh(
    problem: Problem,
    size: float,
    order: int,
    levels: int = 0,
    layers: Collection[str] = (),
    interfaces: Collection[Disk] = (),
) -> Any:
    """A mesh with elements of at most `size`, curved by polynomials of the `order`.

    `levels` geometric layers surround each point where u is singular, and run along the segments
    named in `layers`. No element crosses the `interfaces`, circles inside where data jump.
    """
    domain = problem.domain
    if domain.dim == 1:
        return _interval(domain, size, levels, layers)
    if domain.dim != 2 or domain.periodic:
        raise UsageError(
            f"The contender hp-fem meshes intervals and domains in the plane with a boundary, "
            f"not {domain!r}; choose another solver."
        )
    ngs = ngsolve()
    from netgen.geom2d import SplineGeometry  # pyright: ignore[reportMissingImports]

    strokes = outline(domain)
    singular = singular_points(problem, strokes)
    geometry, numbers = SplineGeometry(), {}
    unit = 1e-9 * float(np.ptp(np.array(domain.bounds)))

    def number(point: Float[Array, " 2"], corner: bool) -> int:
        key = tuple(np.round(point / unit).astype(int).tolist())
        for shifted in ((key[0] + i, key[1] + j) for i in (0, -1, 1) for j in (0, -1, 1)):
            if shifted in numbers:
                return numbers[shifted]
        hpref = {"hpref": 1} if corner and levels else {}
        numbers[key] = geometry.AppendPoint(*map(float, point), **hpref)
        return numbers[key]

    inner = [stroke for disk in interfaces for stroke in _strokes(disk._faces("circle")[0], "")]
    for stroke in [*strokes, *inner]:
        ends = [
            number(point, any(np.linalg.norm(point - p) < 10 * unit for p in singular))
            for point in (stroke.start, stroke.end)
        ]
        if stroke.control is None:
            curve = ["line", *ends]
        else:
            middle = geometry.AppendPoint(*map(float, stroke.control))
            curve = ["spline3", ends[0], middle, ends[1]]
        beyond = 0 if stroke.segment else 1
        within = 1 if stroke.segment else 2
        sides = (within, beyond) if stroke.inside_left else (beyond, within)
        layer = {"hpref": 1} if stroke.segment in layers and levels else {}
        geometry.Append(
            curve,
            leftdomain=sides[0],
            rightdomain=sides[1],
            bc=stroke.segment or "interface",
            **layer,
        )
    mesh = ngs.Mesh(geometry.GenerateMesh(maxh=size))
    if levels and (singular or layers):
        mesh.RefineHP(levels, factor=GRADING)
    mesh.Curve(order)
    return mesh


def outline(domain: Domain) -> list[Stroke]:
    """The boundary as straight and circular strokes."""
    return [
        stroke
        for segment in domain.segments
        for face in domain._faces(segment)
        for stroke in _strokes(face, segment)
    ]


def _strokes(face: Face, segment: str) -> list[Stroke]:
    s = np.array([[0.0], [0.25], [0.5], [1.0]])
    x, normal = face.place(s)
    turn = normal[1] - normal[0]
    if np.linalg.norm(turn) < 1e-9:  # straight
        along = x[3] - x[0]
        left = np.array([-along[1], along[0]])
        return [Stroke(x[0], x[3], None, segment, bool(left @ normal[0] < 0))]
    radius = float((x[1] - x[0]) @ turn / (turn @ turn))  # negative where the centre is outside
    centre = x[0] - radius * normal[0]
    span = face.measure / abs(radius)
    parts = int(np.ceil(span / LARGEST_ARC - 1e-9))
    places, _ = face.place(np.linspace(0.0, 1.0, parts + 1)[:, None])
    if np.linalg.norm(x[0] - x[3]) < 1e-12 * abs(radius):
        places[-1] = places[0]
    strokes = []
    for start, end in pairwise(places):
        middle = (start + end) / 2 - centre
        control = centre + middle * (radius**2 / (middle @ middle))
        along = end - start
        left = np.array([-along[1], along[0]])
        outward = np.sign(radius) * middle
        strokes.append(Stroke(start, end, control, segment, bool(left @ outward < 0)))
    return strokes


def singular_points(problem: Problem, strokes: list[Stroke]) -> list[Float[Array, " 2"]]:
    """Corners where u has a term r^α with α < 2, or one like r log r.

    α is π/ω between conditions of one kind, π/2ω between a given value and a given slope, ω being
    the angle inside; a straight edge is a corner with ω = π where conditions change.
    """
    found = []
    for before in strokes:
        for after in strokes:
            if np.linalg.norm(before.end - after.start) < 1e-9 and before is not after:
                found += _singular(problem, before, after, before.end)
    # Strokes that run against each other share two starts or two ends.
    for i, one in enumerate(strokes):
        for other in strokes[:i]:
            for a, b in ((one, _reversed(other)), (_reversed(one), other)):
                if np.linalg.norm(a.end - b.start) < 1e-9:
                    found += _singular(problem, a, b, a.end)
    return found


def _singular(problem: Problem, before: Stroke, after: Stroke, point: Array) -> list[Array]:
    into = point - (before.start if before.control is None else before.control)
    out = (after.end if after.control is None else after.control) - point
    turn = np.arctan2(into[0] * out[1] - into[1] * out[0], into @ out)
    angle = np.pi - turn if before.inside_left else np.pi + turn
    kinds = [problem.conditions[stroke.segment].prescribes_value for stroke in (before, after)]
    if kinds[0] != kinds[1]:
        return [point]
    same = before.segment == after.segment or abs(angle - np.pi) > 1e-6
    return [point] if angle > np.pi / 2 + 1e-6 and not (same and abs(angle - np.pi) < 1e-6) else []


def _reversed(stroke: Stroke) -> Stroke:
    return stroke._replace(start=stroke.end, end=stroke.start, inside_left=not stroke.inside_left)


def _interval(domain: Domain, size: float, levels: int, layers: Collection[str]) -> Any:
    """Equal cells, those at the ends named in `layers` split geometrically."""
    ngs = ngsolve()
    meshing: Any = importlib.import_module("netgen.meshing")
    (start,), (end,) = domain.bounds
    cells = max(1, int(np.ceil((end - start) / size)))
    places = list(np.linspace(start, end, cells + 1))
    width = (end - start) / cells
    inner = [width * GRADING**level for level in range(1, levels + 1)]
    if "left" in layers:
        places += [start + part for part in inner]
    if "right" in layers:
        places += [end - part for part in inner]
    mesh = meshing.Mesh(dim=1)
    points = [mesh.Add(meshing.MeshPoint(meshing.Pnt(float(x), 0, 0))) for x in sorted(places)]
    inside = mesh.AddRegion("inside", dim=1)
    for pair in pairwise(points):
        mesh.Add(meshing.Element1D(list(pair), index=inside))
    for name, point in (("left", points[0]), ("right", points[-1])):
        mesh.Add(meshing.Element0D(point, index=mesh.AddRegion(name, dim=0)))
    return ngs.Mesh(mesh)
