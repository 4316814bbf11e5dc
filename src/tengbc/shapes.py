"""Do the parts of a problem agree on what a field's value is? Found by tracing, not computing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np

from tengbc.errors import ProblemError, TengbcError
from tengbc.indices import indices_past_the_end
from tengbc.types import Point, Time, Value

if TYPE_CHECKING:
    from tengbc.coefficient import Coefficient
    from tengbc.equations.base import LinearTerms
    from tengbc.problem import Problem


def field_shape(problem: Problem) -> tuple[int, ...]:
    """() for a scalar field, (m,) for a system; raises where two parts of a problem disagree.

    Of parts that say what their coefficients are, only coefficients that are functions are traced.
    """
    dim = problem.domain.dim
    shape = _coefficient_shape("initial", problem.initial_coefficient, dim)
    if len(shape) > 1:
        raise ProblemError(
            f"initial returns shape {shape} at one point, but a field's value is a scalar or a "
            f"vector; return shape () or (m,)."
        )

    def field(x: Point) -> Value:
        return jnp.broadcast_to(jnp.sum(x), shape)

    if not _terms_fit(problem.equation.linear_terms, dim, shape):
        _same("the equation", lambda x, t: problem.equation.rhs(field, x, t), dim, shape)
    if (exact := problem.exact_function) is not None:
        _same("exact", exact, dim, shape)
    for segment, law in problem.conditions.items():
        name = f"the condition on {segment}"
        if _law_fits(name, law.coefficients, dim, shape):
            continue
        # The point stands in for the normal: only shapes matter here.
        found = _traced_shape(name, lambda x, t, law=law: law.residual(field, x, x, t), dim)
        if len(found) > 1 or (found and law.coefficients is not None and not shape):
            raise ProblemError(
                f"{name} returns shape {found} for a field of shape {shape}; its coefficients must "
                f"fit the field, and its residual must be a scalar or a vector."
            )
    return shape


def _coefficient_shape(name: str, coefficient: Coefficient, dim: int) -> tuple[int, ...]:
    if coefficient.constant:
        return np.shape(coefficient.value)
    return _traced_shape(name, coefficient, dim)


def _terms_fit(terms: LinearTerms | None, dim: int, shape: tuple[int, ...]) -> bool:
    """Whether the coefficients of an equation are known to fit a field; if not, `rhs` will tell."""
    if terms is None:
        return False
    kappas, velocities, sources, conductivities = (
        [_coefficient_shape("the equation", c, dim) for c in each] for each in terms
    )
    kappas += [found for found in conductivities if found != (dim, dim)]
    known = (shape,) if velocities or kappas or conductivities else ()
    return (
        all(found == (dim,) or (found == () and dim == 1) for found in velocities)
        and all(found in ((), shape) for found in (*kappas, *sources))
        and shape in (*known, *sources)
    )


def _law_fits(
    name: str, law: tuple[Coefficient, ...] | None, dim: int, shape: tuple[int, ...]
) -> bool:
    """The same for the coefficients of a condition, a number or one for each component."""
    if law is None:
        return False
    return all(_coefficient_shape(name, c, dim) in ((), shape) for c in law)


def _same(
    name: str, function: Callable[[Point, Time], Value], dim: int, shape: tuple[int, ...]
) -> None:
    found = _traced_shape(name, function, dim)
    if found != shape:
        raise ProblemError(
            f"{name} returns shape {found} where initial returns shape {shape}; both must return "
            f"one number per component of the field."
        )


def _traced_shape(name: str, function: Callable[[Point, Time], Value], dim: int) -> tuple[int, ...]:
    with jax.enable_x64(True):
        try:
            point = jax.ShapeDtypeStruct((dim,), jnp.float64)
            time = jax.ShapeDtypeStruct((), jnp.float64)
            program, found = jax.make_jaxpr(function, return_shape=True)(point, time)
            shape = found.shape
        except TengbcError:
            raise
        except Exception as error:  # any failure of a user's function: say which one it was
            reason = str(error).strip().split("\n")[0]
            advice = (
                f"write it with jax.numpy for one point x of shape ({dim},) and one time t, with "
                f"jnp.where instead of if"
            )
            if isinstance(error, TypeError) and "function" in reason and name != "initial":
                advice = (
                    "u is a field and tb.laplacian(u) another, functions of the point: write u(x), "
                    "tb.laplacian(u)(x)"
                )
            raise ProblemError(
                f"{name} fails at a point of dimension {dim} ({type(error).__name__}: {reason}); "
                f"{advice}."
            ) from error
        for index, of in indices_past_the_end(program.jaxpr):
            raise ProblemError(
                f"{name} takes entry {index} of an array of shape {of}, which has no such entry; "
                f"entries count from 0, and a point here has {dim}."
            )
    return shape
