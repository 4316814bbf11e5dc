"""Closed chains of edges: the outline of a polygon and its holes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from tengbc.errors import ProblemError
from tengbc.geometry import checks, faces
from tengbc.geometry.faces import Face

Vertices = tuple[tuple[float, ...], ...]


def ring(vertices: Any, name: str) -> Vertices:
    """Vertices of a ring, without a repeated last one, or a ProblemError."""
    points = tuple(
        checks.vector(vertex, f"vertex {index} of {name}", dim=2)
        for index, vertex in enumerate(checks.sequence(vertices, f"The vertices of {name}"))
    )
    if len(points) > 1 and points[0] == points[-1]:
        points = points[:-1]
    if len(points) < 3:
        raise ProblemError(
            f"{name} needs three or more vertices (x, y) to enclose an area, not {len(points)}."
        )
    for index, point in enumerate(points):
        if point == points[index - 1]:
            raise ProblemError(f"{name} has the vertex {point} twice in a row; remove one of them.")
    length, breadth = np.linalg.svd(np.array(points) - np.mean(points, axis=0), compute_uv=False)
    if breadth <= 1e-13 * length:
        raise ProblemError(f"{name} has zero area; its vertices must not lie on one line.")
    return points


def signed_area(vertices: Vertices) -> float:
    """Area enclosed by a ring (shoelace formula), positive when it runs anticlockwise."""
    x, y = (np.array(vertices) - vertices[0]).T  # relative to a vertex: no cancellation far away
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2


def edges(vertices: Vertices, outward: float) -> list[Face]:
    """Edge k from vertex k to the next; `outward` is 1 for an outline and −1 for a hole."""
    # To the right of an anticlockwise edge lies the outside of the ring.
    side = outward * np.sign(signed_area(vertices))
    corners = np.array(vertices)
    sides: Float[np.ndarray, "n 2"] = np.roll(corners, -1, axis=0) - corners
    normals = side * sides[:, ::-1] * [1.0, -1.0] / np.linalg.norm(sides, axis=1)[:, None]
    return [
        faces.flat(corner, edge[None, :], normal)
        for corner, edge, normal in zip(corners, sides, normals, strict=True)
    ]


def edge_names(names: Any, count: int, reserved: Sequence[str]) -> tuple[str, ...]:
    """One name for each outer edge, by default edge0, edge1, …, or a ProblemError."""
    if names is None:
        return tuple(f"edge{index}" for index in range(count))
    chosen = checks.sequence(names, "names")
    if len(chosen) != count or not all(isinstance(name, str) and name for name in chosen):
        raise ProblemError(
            f"names must hold one name for each of the {count} outer edges, not {names!r}."
        )
    taken = [name for name in chosen if name in reserved]
    if taken:
        raise ProblemError(f"The name {taken[0]!r} belongs to a hole; give the edge another name.")
    return chosen
