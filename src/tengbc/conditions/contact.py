"""What holds where two regions of a domain meet."""

import equinox as eqx
import numpy as np

from tengbc.coefficient import Coefficient, CoefficientLike, coefficient
from tengbc.errors import UsageError


class Contact(eqx.Module):
    """u₁ − u₂ = jump + resistance·q and q₂ − q₁ = source at an interface "1|2".

    q = −κ∂ₙu is what flows from region 1 into region 2, q₁ on the side of 1 and q₂ on that of 2, q
    their mean. By
    itself, as without a law, u and q go through unchanged. `resistance` is a number or a function
    of x; `jump` and `source` (what the interface itself gives off) may depend on t, too.
    """

    resistance: Coefficient
    jump: Coefficient
    source: Coefficient

    def __init__(
        self,
        resistance: CoefficientLike = 0.0,
        jump: CoefficientLike = 0.0,
        source: CoefficientLike = 0.0,
    ):
        self.resistance = coefficient(resistance, "resistance")
        self.jump, self.source = coefficient(jump, "jump"), coefficient(source, "source")
        if self.resistance.constant and np.min(np.asarray(self.resistance.value)) < 0:
            raise UsageError(
                f"resistance is {resistance!r}, but an interface that drives heat from cold to hot "
                f"is ill-posed; give resistance ≥ 0."
            )
        if self.resistance.time_dependent:
            raise UsageError(
                "resistance is a function of (x, t), but it must not change in time; give a number "
                "or a function of x."
            )

    def seen_from_other_side(self) -> "Contact":
        """The law of the interface "2|1"."""
        jump = self.jump
        if jump.constant:
            turned: CoefficientLike = -np.asarray(jump.value)
        else:
            turned = Coefficient(lambda *at: -jump.value(*at), jump.arguments)
        return Contact(self.resistance, turned, self.source)

    @property
    def formula(self) -> str:
        """The law as text."""
        jump, source = self.jump.text("jump"), self.source.text("source")
        resistance = "" if self.resistance.equals(0) else f"{self.resistance.text('R')}·q"
        parts = [part for part in (jump if not self.jump.equals(0) else "", resistance) if part]
        value = f"u₁ − u₂ = {' + '.join(parts)}" if parts else "u continuous"
        flux = "q continuous" if self.source.equals(0) else f"q₂ − q₁ = {source}"
        return f"{value}, {flux}    (q = −κ∂ₙu from 1 to 2)"
