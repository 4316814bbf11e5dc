"""Do the parts of a problem agree on what a field's value is? Found by tracing, not computing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp

from tengbc.errors import ProblemError, TengbcError
from tengbc.indices import indices_past_the_end
from tengbc.types import Point, Value

if TYPE_CHECKING:
    from tengbc.problem import Problem


def field_shape(problem: Problem) -> tuple[int, ...]:
    """() for a scalar field, (m,) for a system; raises where two parts of a problem disagree."""
    dim = problem.domain.dim
    shape = _traced_shape("initial", problem.initial_function, dim)
    if len(shape) > 1:
        raise ProblemError(
            f"initial returns shape {shape} at one point, but a field's value is a scalar or a "
            f"vector; return shape () or (m,)."
        )

    def field(x: Point) -> Value:
        return jnp.broadcast_to(jnp.sum(x), shape)

    _same("the equation", lambda x: problem.equation.rhs(field, x, 0.0), dim, shape)
    if (exact := problem.exact_function) is not None:
        _same("exact", lambda x: exact(x, 0.0), dim, shape)
    for segment, law in problem.conditions.items():
        name = f"the condition on {segment}"
        # The point stands in for the normal: only shapes matter here.
        found = _traced_shape(name, lambda x, law=law: law.residual(field, x, x, 0.0), dim)
        if len(found) > 1 or (found and law.coefficients is not None and not shape):
            raise ProblemError(
                f"{name} returns shape {found} for a field of shape {shape}; its coefficients must "
                f"fit the field, and its residual must be a scalar or a vector."
            )
    return shape


def _same(name: str, function: Callable[[Point], Value], dim: int, shape: tuple[int, ...]) -> None:
    found = _traced_shape(name, function, dim)
    if found != shape:
        raise ProblemError(
            f"{name} returns shape {found} where initial returns shape {shape}; both must return "
            f"one number per component of the field."
        )


def _traced_shape(name: str, function: Callable[[Point], Value], dim: int) -> tuple[int, ...]:
    with jax.enable_x64(True):
        try:
            point = jax.ShapeDtypeStruct((dim,), jnp.float64)
            program, found = jax.make_jaxpr(function, return_shape=True)(point)
            shape = found.shape
        except TengbcError:
            raise
        except Exception as error:  # any failure of a user's function: say which one it was
            reason = str(error).strip().split("\n")[0]
            raise ProblemError(
                f"{name} fails at a point of dimension {dim} ({type(error).__name__}: {reason}); "
                f"write it with jax.numpy for one point x of shape ({dim},)."
            ) from error
        for index, of in indices_past_the_end(program.jaxpr):
            raise ProblemError(
                f"{name} takes entry {index} of an array of shape {of}, which has no such entry; "
                f"entries count from 0, and a point here has {dim}."
            )
    return shape
