"""What a time scheme is."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Literal

from tengbc.errors import UsageError
from tengbc.projection import Fit
from tengbc.spaces.interface import AbstractSpace, State

Key = tuple[int, ...]
StageData = Literal["time", "consistent", "values"]
Step = Callable[[State, float, Key], tuple[State, list[Fit]]]
"""From u(t) to u(t + Δt), with the reports of its fits; the key is (seed, step)."""


class AbstractScheme(abc.ABC):
    """A time scheme, prepared once for each step length.

    A new one says its name, its order, whether it is `explicit`, so that it needs no matrices of
    the space, and whether it is `one_step`, so that steps may differ in length; and it steps.
    `fits_per_step` counts the projections of a step, for estimates of its cost.
    """

    name: str
    order: int
    explicit: bool
    one_step: bool
    fits_per_step: int = 1

    @abc.abstractmethod
    def prepare(self, space: AbstractSpace, dt: float, many: bool = False) -> Step:
        """The step of length Δt in a space; `many` says that more than some fifty will follow."""

    def step(
        self, space: AbstractSpace, state: State, t: float, dt: float, key: Key = ()
    ) -> tuple[State, list[Fit]]:
        """A single step."""
        return self.prepare(space, dt)(state, t, key)

    def with_stage_data(self, stage_data: StageData) -> AbstractScheme:
        """The same scheme, whose stages ask for other data on the boundary."""
        raise UsageError(
            f"stage_data is {stage_data!r}, but the scheme {self.name} has no stages that ask for "
            f"data of their own; leave it out, or choose a Runge–Kutta scheme, such as rk4."
        )
