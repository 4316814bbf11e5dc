"""The points a run works on."""

from tengbc.geometry.domain import Domain
from tengbc.geometry.points import BoundaryPoints


def boundary_points(
    domain: Domain, count: int, rule: str = "uniform", least: int = 1, seed: int = 0
) -> list[BoundaryPoints]:
    """About `count` points over the whole boundary, shared out to the segments by length."""
    total = sum(domain.length(segment) for segment in domain.segments)
    return [
        domain.boundary(
            segment, max(least, round(count * domain.length(segment) / total)), rule=rule, seed=seed
        )
        for segment in domain.segments
    ]
