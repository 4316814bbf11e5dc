"""Segments on which nothing is imposed, and several conditions on one segment."""

import jax.numpy as jnp

from tengbc.conditions.base import AbstractCondition
from tengbc.types import Field, Point, Time, Value


class Free(AbstractCondition):
    """Nothing is imposed: where a flow leaves the domain, u is what it brings along."""

    @property
    def silent(self) -> bool:
        return True

    def residual(self, u: Field, x: Point, normal: Point, t: Time) -> Value:
        return jnp.zeros(0)

    @property
    def formula(self) -> str:
        return "nothing is imposed"


class Together(AbstractCondition):
    """Several conditions on one segment, such as one for each of some components of a system."""

    parts: tuple[AbstractCondition, ...]

    def residual(self, u: Field, x: Point, normal: Point, t: Time) -> Value:
        return jnp.concatenate([jnp.ravel(part.residual(u, x, normal, t)) for part in self.parts])

    @property
    def parted(self) -> bool:
        return True

    @property
    def silent(self) -> bool:
        return all(part.silent for part in self.parts)

    @property
    def formula(self) -> str:
        return ", ".join(part.formula for part in self.parts)
