"""A user's function as a CoefficientFunction of NGSolve: its traced program, line by line.

So NGSolve evaluates the formula itself, as if it had been written in its own language; nothing is
tabulated, interpolated or called back.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import jax
import numpy as np
from jax import lax

from tengbc.errors import UsageError
from tengbc.optional import extra

Array = np.ndarray
Term = Any
"""A number, or a CoefficientFunction."""


def ngsolve() -> Any:
    """NGSolve, or a sentence about the extra that brings it."""
    return extra("ngsolve", "The contender hp-fem", "hpfem")


class Formula:
    """f(*arguments) with arrays of numbers and CoefficientFunctions in place of its arguments.

    `shapes` are those of the arguments; the trace is made once.
    """

    def __init__(self, function: Callable, *shapes: tuple[int, ...]):
        with jax.enable_x64(True):
            given = [jax.ShapeDtypeStruct(shape, np.float64) for shape in shapes]
            self._program = jax.make_jaxpr(function)(*given)

    def __call__(self, *arguments: Any) -> Array:
        """The value, an array of numbers and CoefficientFunctions."""
        given = [np.array(argument, dtype=object) for argument in arguments]
        return _run(self._program, given)[0]


def coefficient_function(value: Array | Term) -> Any:
    """One CoefficientFunction, scalar or vector, in which nothing is computed twice."""
    ngs, items = ngsolve(), np.ravel(value)
    joined = ngs.CF(items[0] if len(items) == 1 and np.ndim(value) == 0 else tuple(items))
    return joined.Compile()


def is_number(value: Array | Term) -> bool:
    """Whether all entries are plain numbers."""
    return all(isinstance(item, int | float | np.number | np.bool_) for item in np.ravel(value))


def _run(closed: Any, arguments: list[Array]) -> list[Array]:
    """Carry out a traced program."""
    program = closed.jaxpr
    known: dict[Any, Array] = {}
    for variable, value in zip(program.constvars, closed.consts, strict=True):
        known[variable] = np.asarray(value).astype(object)
    known.update(zip(program.invars, arguments, strict=True))

    def read(atom: Any) -> Array:
        literal = hasattr(atom, "val")
        return np.asarray(atom.val).astype(object) if literal else known[atom]

    for line in program.eqns:
        values = _apply(line.primitive.name, line.params, [read(atom) for atom in line.invars])
        known.update(zip(line.outvars, values, strict=True))
    return [read(atom) for atom in program.outvars]


def _apply(name: str, params: dict[str, Any], inputs: list[Array]) -> list[Array]:
    inner = next((params[key] for key in ("jaxpr", "call_jaxpr") if key in params), None)
    if inner is not None and name != "while":
        return _run(inner, inputs)
    if all(is_number(value) for value in inputs):
        return _numbers(name, params, inputs)
    if name == "split":
        ends = np.cumsum(params["sizes"])[:-1]
        return list(np.split(inputs[0], ends, axis=params["axis"]))
    if name in _STRUCTURE:
        return [np.asarray(_STRUCTURE[name](*inputs, **params), dtype=object)]
    operation = _ELEMENTWISE.get(name)
    if operation is None:
        raise UsageError(
            f"The operation {name!r} in a function of the problem has no counterpart in NGSolve; "
            f"write the function with arithmetic, powers, exp, sin and their like, or choose "
            f"another solver."
        )
    if name == "integer_pow":
        operation = partial(_power, exponent=params["y"])
    each = np.frompyfunc(operation, len(inputs), 1)
    return [np.asarray(each(*inputs), dtype=object)]


def _numbers(name: str, params: dict[str, Any], inputs: list[Array]) -> list[Array]:
    """Numbers only: JAX knows how."""
    with jax.enable_x64(True):
        kinds = [bool if _all_bool(value) else None for value in inputs]
        arrays = [
            np.asarray(value.tolist(), dtype=kind)
            for value, kind in zip(inputs, kinds, strict=True)
        ]
        primitive = getattr(lax, f"{name}_p", None)
        if primitive is None:
            raise UsageError(f"The operation {name!r} has no counterpart; choose another solver.")
        value = primitive.bind(*arrays, **params)
    values = value if primitive.multiple_results else [value]
    return [np.asarray(value).astype(object) for value in values]


def _all_bool(value: Array) -> bool:
    return all(isinstance(item, bool | np.bool_) for item in np.ravel(value))


def _power(base: Term, exponent: int) -> Term:
    """Repeated squaring: NGSolve's own power takes a logarithm."""
    if exponent < 0:
        return 1.0 / _power(base, -exponent)
    result: Term = 1.0
    while exponent:
        if exponent % 2:
            result = result * base
        exponent //= 2
        if exponent:
            base = base * base
    return result


def _function(name: str) -> Callable[[Term], Term]:
    def of(value: Term) -> Term:
        return getattr(np if is_number(value) else ngsolve(), name)(value)

    return of


def _positive(value: Term) -> Term:
    """1 where value > 0, else 0."""
    return float(value > 0) if is_number(value) else ngsolve().IfPos(value, 1.0, 0.0)


def _choose(which: Term, no: Term, yes: Term) -> Term:
    return (yes if which else no) if is_number(which) else ngsolve().IfPos(which - 0.5, yes, no)


def _sinh(value: Term) -> Term:
    exp = _function("exp")
    return 0.5 * (exp(value) - exp(-value))


def _cosh(value: Term) -> Term:
    exp = _function("exp")
    return 0.5 * (exp(value) + exp(-value))


def _tanh(value: Term) -> Term:
    """1 − 2/(1 + exp 2z), which overflows nowhere: where exp is infinite the quotient is zero."""
    return 1.0 - 2.0 / (1.0 + _function("exp")(2.0 * value))


def _broadcast(value: Array, *, shape: tuple[int, ...], broadcast_dimensions, **_: Any) -> Array:
    laid = [1] * len(shape)
    for axis, place in enumerate(broadcast_dimensions):
        laid[place] = value.shape[axis]
    return np.broadcast_to(value.reshape(laid), shape)


def _slice(value: Array, *, start_indices, limit_indices, strides=None, **_: Any) -> Array:
    steps = strides or (1,) * value.ndim
    return value[tuple(map(slice, start_indices, limit_indices, steps))]


def _pad(value: Array, filling: Array, *, padding_config, **_: Any) -> Array:
    lengths = [
        low + high + (size - 1) * (inner + 1) + 1
        for size, (low, high, inner) in zip(value.shape, padding_config, strict=True)
    ]
    padded = np.full(lengths, filling.item(), dtype=object)
    places = zip(value.shape, padding_config, strict=True)
    window = [
        slice(low, low + (size - 1) * (inner + 1) + 1, inner + 1)
        for size, (low, _, inner) in places
    ]
    padded[tuple(window)] = value
    return padded


def _dot(left: Array, right: Array, *, dimension_numbers, **_: Any) -> Array:
    summed, batch = dimension_numbers
    if any(batch):
        raise UsageError(
            "A product over stacked matrices has no counterpart in NGSolve; write it as sums."
        )
    return np.tensordot(left, right, axes=(tuple(summed[0]), tuple(summed[1])))


def _extreme(name: str) -> Callable[..., Array]:
    """The largest or smallest entry along some axes."""

    def of(value: Array, *, axes: tuple[int, ...], **_: Any) -> Array:
        kept = [axis for axis in range(value.ndim) if axis not in axes]
        rows = value.transpose([*axes, *kept]).reshape(-1, *(value.shape[k] for k in kept))
        return np.asarray(reduce(np.frompyfunc(_ELEMENTWISE[name], 2, 1), rows), dtype=object)

    return of


_STRUCTURE: dict[str, Callable[..., Array]] = {
    "broadcast_in_dim": _broadcast,
    "slice": _slice,
    "dot_general": _dot,
    "pad": _pad,
    "reshape": lambda value, *, new_sizes, **_: value.reshape(new_sizes),
    "squeeze": lambda value, *, dimensions, **_: np.squeeze(value, axis=tuple(dimensions)),
    "transpose": lambda value, *, permutation, **_: value.transpose(permutation),
    "concatenate": lambda *values, dimension, **_: np.concatenate(values, axis=dimension),
    "stack": lambda *values, axis, **_: np.stack(values, axis=axis),
    "reduce_sum": lambda value, *, axes, **_: np.sum(value, axis=tuple(axes)),
    "reduce_max": _extreme("max"),
    "reduce_min": _extreme("min"),
    "reduce_prod": lambda value, *, axes, **_: np.prod(value, axis=tuple(axes)),
    **{
        name: lambda value, **_: value
        for name in ("convert_element_type", "copy", "copy_p", "stop_gradient")
    },
}
_ELEMENTWISE: dict[str, Callable[..., Term]] = {
    "add": lambda a, b: a + b,
    "add_any": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda a: -a,
    "square": lambda a: a * a,
    "integer_pow": _power,
    "pow": lambda a, b: _function("exp")(b * _function("log")(a)),
    "sqrt": _function("sqrt"),
    "rsqrt": lambda a: 1.0 / _function("sqrt")(a),
    "exp": _function("exp"),
    "log": _function("log"),
    "log1p": lambda a: _function("log")(1.0 + a),
    "expm1": lambda a: _function("exp")(a) - 1.0,
    "sin": _function("sin"),
    "cos": _function("cos"),
    "tan": _function("tan"),
    "atan": lambda a: ngsolve().atan(a),
    "atan2": lambda a, b: ngsolve().atan2(a, b),
    "erf": lambda a: ngsolve().erf(a),
    "sinh": _sinh,
    "cosh": _cosh,
    "tanh": _tanh,
    "logistic": lambda a: 1.0 / (1.0 + _function("exp")(-a)),
    "gt": lambda a, b: _positive(a - b),
    "lt": lambda a, b: _positive(b - a),
    "ge": lambda a, b: 1.0 - _positive(b - a),
    "le": lambda a, b: 1.0 - _positive(a - b),
    "eq": lambda a, b: 1.0 - _positive(b - a) - _positive(a - b),
    "and": lambda a, b: a * b,
    "or": lambda a, b: a + b - a * b,
    "not": lambda a: 1.0 - a,
    "abs": lambda a: ngsolve().IfPos(a, a, -1.0 * a),
    "sign": lambda a: _positive(a) - _positive(-a),
    "max": lambda a, b: ngsolve().IfPos(a - b, a, b),
    "min": lambda a, b: ngsolve().IfPos(a - b, b, a),
    "select_n": _choose,
}
"""Booleans are 0 and 1. An operation sees at least one CoefficientFunction among its arguments,
though with arrays each entry may be a number."""
