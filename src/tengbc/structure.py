"""Is a law linear in u, and does its linear part change with time? Read off, not guessed.

For u = Σ cₖφₖ a law r(u, x, t) is affine in c exactly if its derivative along ċ does not depend on
c, and its matrix is constant in time if that derivative does not depend on t. Both are read from
the traced program: what a result does not use, it cannot depend on. A program that uses t or c
without effect is taken to depend on it, which costs time but never correctness. Steps such as
u > 0 or sign(u) have no derivative that could tell; a law that takes one is not affine.
"""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal


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
    coefficients = np.ones((shape[0] if shape else 1, 2))

    def field(c):
        # Any functions will do: only which numbers the law's program uses is looked at.
        def u(x):
            value = c @ jnp.stack([jnp.sin(jnp.sum(x)), jnp.cos(jnp.sum(x))])
            return value if shape else value[0]

        return u

    def value(c, t, *arguments):
        return law(field(c), *arguments, t)

    def both(c, direction, t, *arguments):
        return jax.jvp(lambda c: value(c, t, *arguments), (c,), (direction,))

    with jax.enable_x64(True):
        program = jax.make_jaxpr(both)(coefficients, coefficients, 0.0, *arguments).jaxpr
    uses_c, _, uses_t, *_ = _used_inputs(program, [False, True])
    _, _, value_uses_t, *_ = _used_inputs(program, [True, False])
    steps = _takes_steps(program, [True] + [False] * (len(program.invars) - 1))
    offset_uses_t = value_uses_t
    if uses_t:  # else what changes of the value is the rest, its matrix does not
        nothing = lambda t, *arguments: law(lambda x: jnp.zeros(shape), *arguments, t)
        with jax.enable_x64(True):
            rest = jax.make_jaxpr(nothing)(0.0, *arguments).jaxpr
        offset_uses_t = _used_inputs(rest, [True] * len(rest.outvars))[0]
    return Structure(not (uses_c or steps), not uses_t, not offset_uses_t)


def uses_time(function: Callable, dim: int) -> bool:
    """Whether t stands in the traced program of a function of (x, t)."""
    with jax.enable_x64(True):
        program = jax.make_jaxpr(function)(np.zeros(dim), 0.0).jaxpr
    return _used_inputs(program, [True] * len(program.outvars))[1]


_STEPS = ("sign", "floor", "ceil", "round", "stop_gradient")
"""Operations from numbers to numbers whose derivative is zero although they are not constant."""


def _takes_steps(program, depends: list[bool]) -> bool:
    """Whether a program makes something piecewise constant of the inputs marked."""
    marked = {var for var, mark in zip(program.invars, depends, strict=True) if mark}
    for equation in program.eqns:
        found = [not isinstance(var, Literal) and var in marked for var in equation.invars]
        if not any(found):
            continue
        inner = _compiled_part(equation)
        hidden = inner is None and any(
            isinstance(value, ClosedJaxpr | Jaxpr) for value in equation.params.values()
        )
        truths = any(not jnp.issubdtype(var.aval.dtype, jnp.inexact) for var in equation.outvars)
        if truths or hidden or equation.primitive.name in _STEPS:
            return True
        if inner is not None and _takes_steps(inner, found):
            return True
        marked.update(equation.outvars)
    return False


def _compiled_part(equation):
    """The program inside a compiled part, which takes the same inputs; None for anything else."""
    if equation.primitive.name not in ("jit", "pjit"):
        return None
    return equation.params["jaxpr"].jaxpr


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
        inner = _compiled_part(equation)
        if inner is not None:  # it may use only some of its inputs
            used = _used_inputs(inner, made)
        else:
            used = [True] * len(equation.invars)
        needed.update(
            var
            for var, use in zip(equation.invars, used, strict=True)
            if use and not isinstance(var, Literal)
        )
    return [var in needed for var in program.invars]
