"""The domain as a small SVG: its boundary segments in their colours, with their names."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import shapely
from jaxtyping import Float
from markupsafe import Markup, escape

Array = np.ndarray
Line = Float[Array, "_ 2"]
WIDTH, HEIGHT, MARGIN = 420.0, 300.0, 46.0
COLOURS = 8
LABELLED = 10
"""With more segments than this the names would overlap; the table has them."""


def drawing(domain: dict[str, Any], segments: list[str]) -> Markup | None:
    """An SVG of a domain in one, two or three dimensions; None beyond."""
    draw = {1: _interval, 2: _plane, 3: _solid}.get(domain["dim"])
    if draw is None:
        return None
    parts = draw(domain, segments)
    return Markup(
        f'<svg class="domain" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" '
        f'aria-label="The domain with its boundary segments">{"".join(parts)}</svg>'
    )


def colour(segments: list[str], segment: str) -> int:
    """The colour of a segment, the same in the drawing, the table and the chart."""
    return segments.index(segment) % COLOURS


def closed_rings(lines: Sequence[Line], size: float) -> list[Line]:
    """Join lines end to end, turning them round where needed, until they close.

    Ends that lie within 10⁻⁶ × `size` of each other are one corner. Lines that do not close are
    closed by a straight edge.
    """
    meet = lambda first, second: np.linalg.norm(first - second) <= 1e-6 * size
    left, rings = list(lines), []
    while left:
        ring, found = left.pop(0), 0
        while found is not None and not meet(ring[-1], ring[0]):
            touching = (meet(line[0], ring[-1]) or meet(line[-1], ring[-1]) for line in left)
            found = next((index for index, touches in enumerate(touching) if touches), None)
            if found is not None:
                line = left.pop(found)
                ahead = line if meet(line[0], ring[-1]) else line[::-1]
                ring = np.concatenate([ring, ahead[1:]])
        rings.append(ring)
    return rings


class _Frame:
    """From coordinates to pixels: one scale on both axes, y upwards."""

    def __init__(self, points: Array):
        lower, upper = points.min(axis=0), points.max(axis=0)
        extent = np.maximum(upper - lower, 1e-300)
        room = np.array([WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN])
        self.scale = float(np.min(room / extent))
        self.middle = (lower + upper) / 2

    def __call__(self, points: Array) -> Array:
        offset = (points - self.middle) * self.scale * np.array([1.0, -1.0])
        return offset + np.array([WIDTH, HEIGHT]) / 2


def _path(points: Array, closed: bool = False) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + ("Z" if closed else "")


def _label(name: str, at: Array, away: Array, index: int) -> str:
    """A name next to its segment, on the outer side."""
    place = at + 12 * away
    anchor = "middle" if abs(away[0]) < 0.5 else ("start" if away[0] > 0 else "end")
    y = place[1] + 4 + (4 * away[1] if abs(away[1]) > 0.5 else 0)
    return (
        f'<text class="t{index}" x="{place[0]:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
        f"{escape(name)}</text>"
    )


def _plane(domain: dict[str, Any], segments: list[str]) -> list[str]:
    lower, upper = np.array(domain["lower"]), np.array(domain["upper"])
    if not domain["lines"]:
        corners = np.array([lower, [upper[0], lower[1]], upper, [lower[0], upper[1]]])
        box = _Frame(corners)(corners)
        text = "periodic: opposite sides are the same place"
        return [
            f'<path class="inside periodic" d="{_path(box, closed=True)}"/>',
            f'<text x="{WIDTH / 2}" y="{HEIGHT - 14}" text-anchor="middle">{text}</text>',
        ]
    lines = [(line["segment"], np.array(line["xy"])) for line in domain["lines"]]
    frame = _Frame(np.concatenate([line for _, line in lines]))
    rings = closed_rings([line for _, line in lines], float(np.linalg.norm(upper - lower)))
    area = "".join(_path(frame(ring), closed=True) for ring in rings)
    parts = [f'<path class="inside" fill-rule="evenodd" d="{area}"/>']
    parts += [
        f'<path class="edge s{colour(segments, name)}" d="{_path(frame(line))}"/>'
        for name, line in lines
    ]
    if len(segments) <= LABELLED:
        parts += [_plane_label(name, lines, frame, rings, segments) for name in segments]
    return parts


def _plane_label(name: str, lines: list, frame: _Frame, rings: list, segments: list[str]) -> str:
    longest = max(
        (line for segment, line in lines if segment == name),
        key=lambda line: np.linalg.norm(np.diff(line, axis=0), axis=1).sum(),
    )
    # A closed curve is labelled at an eighth of its way, where there is room to the right.
    closed = np.allclose(longest[0], longest[-1])
    index = len(longest) // 8 if closed else len(longest) // 2
    before, after = longest[max(index - 1, 0)], longest[min(index, len(longest) - 1)]
    at = (before + after) / 2
    normal = np.array([after[1] - before[1], before[0] - after[0]])
    normal = normal / max(float(np.linalg.norm(normal)), 1e-300)
    x, y = at + normal / frame.scale
    areas = [shapely.Polygon(ring) for ring in rings if len(ring) > 2]
    if sum(shapely.contains_xy(area, x, y) for area in areas) % 2:  # inside, holes being rings too
        normal = -normal
    pixels = np.array([normal[0], -normal[1]])
    return _label(name, frame(at[None])[0], pixels, colour(segments, name))


def _interval(domain: dict[str, Any], segments: list[str]) -> list[str]:
    y, left, right = HEIGHT / 2, MARGIN + 20, WIDTH - MARGIN - 20
    parts = [f'<path class="axis" d="M{left} {y}L{right} {y}"/>']
    (low,), (high,) = domain["lower"], domain["upper"]
    for x, value in ((left, low), (right, high)):
        parts.append(f'<text x="{x}" y="{y + 28}" text-anchor="middle">x = {value:.4g}</text>')
    for name, (value,) in domain.get("points", {}).items():
        x = left if value == low else right
        index = colour(segments, name)
        parts.append(f'<circle class="dot f{index}" cx="{x}" cy="{y}" r="7"/>')
        parts.append(_label(name, np.array([x, y - 8]), np.array([0.0, -1.0]), index))
    return parts


def _solid(domain: dict[str, Any], segments: list[str]) -> list[str]:
    """Seen from above the front: dots on each surface, faint where it faces away."""
    if not domain["surfaces"]:
        return []
    view = np.array([0.55, -0.75, 0.45]) / np.linalg.norm([0.55, -0.75, 0.45])
    across = np.array([0.75, 0.55, 0.0]) / np.hypot(0.75, 0.55)  # level, and at right angles to it
    screen = np.stack([across, np.cross(view, across)], axis=1)
    surfaces = {name: np.array(value["x"]) for name, value in domain["surfaces"].items()}
    middle = np.mean([domain["lower"], domain["upper"]], axis=0)
    frame = _Frame(np.concatenate(list(surfaces.values())) @ screen)
    centre = frame(middle[None] @ screen)[0]
    back, front, labels = [], [], []
    for name, x in surfaces.items():
        index = colour(segments, name)
        facing = np.array(domain["surfaces"][name]["normal"]) @ view > 0
        pixels = frame(x @ screen)
        for visible, group, faint, width in (
            (~facing, back, " faint", 2.6),
            (facing, front, "", 4.4),
        ):
            dots = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in pixels[visible])
            if dots:
                group.append(
                    f'<path class="dots s{index}{faint}" stroke-width="{width}" d="{dots}"/>'
                )
        labels.append(_solid_label(name, pixels, centre, bool(facing.mean() > 0.5), index))
    return [*back, *front, *labels]


def _solid_label(name: str, pixels: Array, centre: Array, front: bool, index: int) -> str:
    """On a face that is seen; beside one that is not; below a surface all round."""
    away = pixels.mean(axis=0) - centre
    length = float(np.linalg.norm(away))
    if length < WIDTH / 50:
        return _label(name, np.array([WIDTH / 2, HEIGHT - 30]), np.array([0.0, 1.0]), index)
    away = away / length
    if front:
        return _label(name, pixels.mean(axis=0) - 12 * away, away, index)
    return _label(name, pixels[np.argmax((pixels - centre) @ away)], away, index)
