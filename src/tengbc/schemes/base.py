"""What a time scheme is."""

from __future__ import annotations

import abc
from collections.abc import Callable

from tengbc.projection import Fit
from tengbc.spaces.interface import AbstractSpace, State

Key = tuple[int, ...]
Step = Callable[[State, float, Key], tuple[State, list[Fit]]]
"""From u(t) to u(t + Δt), with the reports of its fits; the key is (seed, step)."""


class AbstractScheme(abc.ABC):
    """A time scheme, prepared once for each step length.

    A new one says its name, its order, whether it is `explicit`, so that it needs no matrices of
    the space, and whether it is `one_step`, so that steps may differ in length; and it steps.
    """

    name: str
    order: int
    explicit: bool
    one_step: bool

    @abc.abstractmethod
    def prepare(self, space: AbstractSpace, dt: float, many: bool = False) -> Step:
        """The step of length Δt in a space; `many` says that more than some fifty will follow."""

    def step(
        self, space: AbstractSpace, state: State, t: float, dt: float, key: Key = ()
    ) -> tuple[State, list[Fit]]:
        """A single step."""
        return self.prepare(space, dt)(state, t, key)
