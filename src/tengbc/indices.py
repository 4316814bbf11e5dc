"""An index past the end of an array: NumPy raises, JAX quietly takes the last entry.

So `x[1]` on an interval, or `u(x)[2]` of two components, would be a wrong answer without a word. A
traced program tells: JAX writes an index that fits as a plain `slice`, and one that does not as a
`dynamic_slice` at a place that depends on no input.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from jax.extend.core import Literal


def indices_past_the_end(program) -> Iterator[tuple[int, tuple[int, ...]]]:
    """(index, shape) of what a traced program takes from beyond an array's end."""
    fixed: dict[Any, Any] = {}  # variables that depend on no input, by the equation that makes them
    for equation in program.eqns:
        inner = equation.params.get("jaxpr")
        if equation.primitive.name in ("jit", "pjit") and inner is not None:
            yield from indices_past_the_end(inner.jaxpr)
        elif equation.primitive.name == "dynamic_slice":
            array, *starts = equation.invars
            for start, size, length in zip(
                starts, equation.params["slice_sizes"], array.aval.shape, strict=True
            ):
                known = isinstance(start, Literal) or start in fixed
                index = _value(start, fixed) if known else 0
                if not 0 <= index <= length - size:
                    yield index, array.aval.shape
        if equation.invars and all(isinstance(v, Literal) or v in fixed for v in equation.invars):
            fixed.update(dict.fromkeys(equation.outvars, equation))


def _value(var, fixed: Mapping) -> int:
    """A number that was computed from numbers: JAX adds the length to a negative index."""
    if isinstance(var, Literal):
        return int(var.val)
    equation = fixed[var]
    values = [np.asarray(_value(operand, fixed)) for operand in equation.invars]
    if equation.primitive.name == "select_n":  # which takes a truth value first
        values[0] = values[0].astype(bool)
    return int(equation.primitive.bind(*values, **equation.params))
