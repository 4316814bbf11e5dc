"""Every option of a run, checked before anything heavy is imported."""

import difflib
import math
import sys
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from tengbc.errors import UsageError

EXPLICIT_SCHEMES = ("ab2", "ab3", "ab4", "euler", "heun", "rk4")
IMPLICIT_SCHEMES = (
    *("radau9", "radau7", "radau5", "radau3"),
    *("bdf1", "bdf2", "bdf3", "bdf4", "bdf5"),
    *("imex1", "imex2", "imex3", "imex4"),
)
SCHEMES = (*IMPLICIT_SCHEMES, *EXPLICIT_SCHEMES)
"""The schemes that come with the package, known before they are imported."""

Count = Annotated[int, Field(strict=True, ge=1, le=10_000_000)]
Width = Annotated[int, Field(strict=True, ge=1, le=100_000)]
Positive = Annotated[float, Field(strict=True, gt=0, le=1e15, allow_inf_nan=False)]


class Options(BaseModel):
    """What a user may set; None leaves the choice to the strategy.

    A field is an argument of `tb.solve`, a line of a configuration file and an option of
    `tengbc run`, whose help shows its description.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    preset: Literal["fast", "paper"] = Field(
        "fast", description="The best strategy for the problem, or the paper's method."
    )
    strategy: str | None = Field(None, description="How to solve; `tengbc check` tells the choice.")
    scheme: str | None = Field(None, description="Time scheme.")
    dt: Positive | None = Field(None, description="Time step.")
    t_end: Positive | None = Field(None, description="Final time.")
    rtol: Annotated[float, Field(strict=True, ge=1e-13, lt=1, allow_inf_nan=False)] | None = Field(
        None, description="Relative error to reach."
    )
    max_seconds: Positive | None = Field(
        None, description="Seconds after which the run ends with the best that it has."
    )
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**31)] = Field(
        0, description="Seed of all random choices."
    )
    widths: Annotated[tuple[Width, ...], Field(min_length=1)] | None = Field(
        None, description="Hidden layers, such as 40,40,40."
    )
    activation: Literal["tanh", "sin", "gaussian", "softplus", "swish"] = Field(
        "tanh", description="Activation of the hidden layers."
    )
    embedding_size: Count = Field(
        20, description="Waves per coordinate that a network on a periodic box sees."
    )
    features: Width | None = Field(None, description="Number of features (one global basis).")
    per_axis: Annotated[int, Field(strict=True, ge=1, le=10_000)] | None = Field(
        None, description="Interior grid points per axis (paper)."
    )
    interior_points: Count | None = Field(None, description="Interior points.")
    boundary_points: Count | None = Field(None, description="Boundary points.")
    cutoff: Annotated[float, Field(strict=True, gt=0, lt=1, allow_inf_nan=False)] | None = Field(
        None, description="Relative cut-off of singular values."
    )
    iterations: Count | None = Field(
        None, description="Least-squares iterations per stage (paper)."
    )
    subset: Count | None = Field(None, description="Parameters per iteration (paper).")
    first_iterations: Count | None = Field(
        None, description="Iterations in the first stage of a step (paper)."
    )
    first_subset: Count | None = Field(
        None, description="Parameters in that stage's first iteration (paper)."
    )
    lstsq: Literal["svd", "gram"] | None = Field(
        None, description="How singular values are found (paper)."
    )
    stage_data: Literal["time", "consistent", "values"] | None = Field(
        None, description="What stages ask on the boundary (paper)."
    )
    fit_iterations: Count | None = Field(None, description="Iterations of the initial fit (paper).")
    devices: Annotated[int, Field(strict=True, ge=1, le=100_000)] | None = Field(
        None, description="Devices that share the points, those of all processes together."
    )
    blocks: Annotated[int, Field(strict=True, ge=1, le=100_000)] | None = Field(
        None,
        description="Blocks of points that devices share out; they decide the last digits (8).",
    )

    @field_validator("*", mode="before")
    @classmethod
    def _plain_number(cls, value: Any) -> Any:
        if getattr(value, "shape", None) == ():  # a NumPy or JAX scalar
            value = value.item()
        # isinstance(True, int) holds, but nobody means 1 by it.
        if isinstance(value, bool):
            raise ValueError("a number is wanted, not true or false")
        return value


def options(**given: Any) -> Options:
    """Checked options; the first thing wrong becomes one sentence with a suggestion."""
    try:
        checked = Options(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        raise UsageError(_sentence(error)) from None
    if checked.scheme is not None:
        _check_scheme(checked.scheme)
    if checked.scheme in IMPLICIT_SCHEMES and "paper" in (checked.preset, checked.strategy):
        raise UsageError(
            f"scheme is {checked.scheme!r}, but the strategy paper cannot march with such; "
            f"choose one of {', '.join(EXPLICIT_SCHEMES)}."
        )
    if checked.preset == "paper" and checked.strategy not in (None, "paper"):
        raise UsageError(
            f"The preset paper is the strategy paper, but strategy is {checked.strategy!r}; leave "
            f"one of them out."
        )
    if checked.dt and checked.t_end and checked.t_end / checked.dt > 1e8:
        steps = checked.t_end / checked.dt
        raise UsageError(f"dt is {checked.dt:g}, which makes {steps:.0e} steps; take a larger dt.")
    return checked


def _check_scheme(name: str) -> None:
    known = SCHEMES
    if name not in known and "tengbc.schemes" in sys.modules:  # some may have been added
        known = tuple(sys.modules["tengbc.schemes"].SCHEMES)
    if name not in known:
        raise UsageError(f"There is no scheme {name!r}; {nearest(name, known)}.")


def _sentence(error: ValidationError) -> str:
    first = error.errors()[0]
    name = str(first["loc"][0]) if first["loc"] else "an option"
    if first["type"] == "extra_forbidden":
        return f"There is no option {name!r}; {nearest(name, tuple(Options.model_fields))}."
    reason = str(first["msg"]).removeprefix("Value error, ")
    reason = reason[0].lower() + reason[1:]
    value = first["input"]
    shown = f"{value:g}" if isinstance(value, float) and not math.isnan(value) else repr(value)
    return f"{name} is {shown}, but {reason.replace('input', 'it')}; change it."


def nearest(word: str, known: tuple[str, ...]) -> str:
    """What a misspelt word was probably meant to be, and what else there is."""
    close = difflib.get_close_matches(word, known, n=1)
    listed = ", ".join(known)
    return f"did you mean {close[0]!r}? Known: {listed}" if close else f"choose one of {listed}"
