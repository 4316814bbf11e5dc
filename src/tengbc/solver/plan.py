"""What a preset decides: the space, the scheme, the times and the start."""

from __future__ import annotations

from dataclasses import dataclass

from tengbc.outcome import Result
from tengbc.projection import Collocation
from tengbc.schemes import Space, State
from tengbc.solver.clock import Clock
from tengbc.solver.march import Scheme


@dataclass(frozen=True)
class Plan:
    """A march ready to go: all decisions made, the initial condition fitted.

    `failure` tells why the march must not begin; then `start` is as far as the fit came. `checks`
    says that it has half the steps of another march, whose error it tells.
    """

    space: Space
    scheme: Scheme
    clock: Clock
    start: State
    collocation: Collocation
    failure: Result | None = None
    checks: bool = False
