"""Is a law linear in u, and does its linear part change with time? Read off, not guessed.

For u = Σ cₖφₖ a law r(u, x, t) is affine in c exactly if its derivative along ċ does not depend on
c, and its matrix is constant in time if that derivative does not depend on t. Both are read from
the traced program: what a result does not use, it cannot depend on. A program that uses t or c
without effect is taken to depend on it, which costs time but never correctness.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Literal


@dataclass(frozen=True)
class Structure:
    """What a law r(u, x, t) looks like as a function of u."""

    affine: bool
    constant_matrix: bool
    """The linear part does not change with time."""
    constant_offset: bool
    """What is left at u = 0 (sources, boundary values) does not change with time."""


def structure(law: Callable, shape: tuple[int, ...], *arguments: np.ndarray) -> Structure:
    """Structure of law(u, x, …, t) for fields u of that shape, traced at one point."""
    rows, point = (shape[0] if shape else 1), arguments[0]
    coefficients = np.ones((rows, 2))

    def field(c):
        # Any functions will do: only which numbers the law's program uses is looked at.
        def u(x):
            value = c @ jnp.stack([jnp.sin(jnp.sum(x)), jnp.cos(jnp.sum(x))])
            return value if shape else value[0]

        return u

    def derivative(c, direction, t, *arguments):
        return jax.jvp(lambda c: law(field(c), *arguments, t), (c,), (direction,))[1]

    def offset(t, *arguments):
        return law(lambda x: jnp.zeros(shape, point.dtype), *arguments, t)

    with jax.enable_x64(True):
        uses_c, _, uses_t, *_ = _used(derivative, coefficients, coefficients, 0.0, *arguments)
        offset_uses_t, *_ = _used(offset, 0.0, *arguments)
    return Structure(not uses_c, not uses_t, not offset_uses_t)


def _used(function: Callable, *arguments) -> list[bool]:
    """Which arguments the outcome of a traced function uses."""
    program = jax.make_jaxpr(function)(*arguments).jaxpr
    return _used_inputs(program, [True] * len(program.outvars))


def _used_inputs(program, wanted: list[bool]) -> list[bool]:
    """Walk a program backwards from the wanted outputs to the inputs they are made of."""
    needed = {
        var
        for var, want in zip(program.outvars, wanted, strict=True)
        if want and not isinstance(var, Literal)
    }
    for equation in reversed(program.eqns):
        made = [var in needed for var in equation.outvars]
        if not any(made):
            continue
        inner = equation.params.get("jaxpr") if equation.primitive.name in ("jit", "pjit") else None
        if inner is not None:  # a compiled part: look inside, it may use only some of its inputs
            used = _used_inputs(inner.jaxpr, made)
        else:
            used = [True] * len(equation.invars)
        needed.update(
            var
            for var, use in zip(equation.invars, used, strict=True)
            if use and not isinstance(var, Literal)
        )
    return [var in needed for var in program.invars]
