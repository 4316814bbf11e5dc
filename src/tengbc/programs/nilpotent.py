"""Derivatives of a program along directions, by numbers whose squares vanish: no further trace.

With ε₁² = ε₂² = 0, what a program makes of x + ε₁a + ε₂b has ∂ₐu beside ε₁ and ∂ₐ∂ᵦu beside ε₁ε₂,
to the last digit. A number is held as its parts, by the set of ε that they stand beside: bit k of
a key is ε of direction k, and the key 0 has the value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tengbc.programs.elementwise import Unknown
from tengbc.programs.walk import Step, Steps

Array = Any
"""An array; without axes also NumPy's scalar."""
Number = dict[int, Array]


def derivatives(steps: Steps, arguments: Sequence[Number]) -> list[Number]:
    """The outputs of a program whose arguments have parts beside ε."""
    if steps.own_derivatives:
        raise Unknown("derivatives of the function's own")
    values: list[Number] = [{} if value is None else {0: value} for value in steps.values]
    for place, argument in zip(steps.inputs, arguments, strict=True):
        values[place] = argument
    for step in steps.steps:
        found = _taken(step, [values[place] for place in step.inputs])
        for place, number in zip(step.outputs, found, strict=True):
            values[place] = number
    return [values[place] for place in steps.outputs]


def _taken(step: Step, inputs: list[Number]) -> list[Number]:
    name, function = step.name, step.function
    if all(len(number) == 1 for number in inputs) or name in FLAT:
        found = function(*(number[0] for number in inputs))
        return [{0: part} for part in found] if step.several else [{0: found}]
    if name == "convert_element_type" and step.made[0][1].kind != "f":
        return [{0: function(inputs[0][0])}]
    if name in LINEAR:
        return [_linear(function, inputs, LINEAR[name])]
    if name in ("mul", "dot_general"):
        return [_product(*inputs, times=function)]
    if name == "div":
        return [_product(inputs[0], _series(_powers(inputs[1][0], -1), inputs[1]), np.multiply)]
    if name in ("max", "min"):
        return [_chosen(function, *inputs)]
    if name == "integer_pow":
        (power,) = getattr(function, "keywords", {}).values()
        return [_series(_powers(inputs[0][0], power), inputs[0])]
    if name == "pow" and len(inputs[1]) == 1:
        return [_series(_powers(inputs[0][0], inputs[1][0]), inputs[0])]
    if name in SERIES:
        return [_series(SERIES[name](inputs[0][0]), inputs[0])]
    raise Unknown(f"the derivative of {name}")


FLAT = frozenset(
    [
        *("eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not", "xor", "is_finite"),
        *("sign", "floor", "ceil", "round", "stop_gradient", "argmax", "argmin"),
    ]
)
"""Operations whose derivative is zero where they have one."""
LINEAR: dict[str, int | None] = {
    **dict.fromkeys(("add", "sub", "add_any", "neg", "copy", "reduce_sum", "cumsum", "pad")),
    **dict.fromkeys(("convert_element_type", "reshape", "squeeze", "expand_dims", "transpose")),
    **dict.fromkeys(("stack", "concatenate", "broadcast_in_dim", "slice", "rev")),
    "gather": 1,
    "dynamic_slice": 1,
    "select_n": -1,
}
"""Operations that are linear: in all that they take, in the first ones, or (−1) in all but one."""


def _linear(function: Callable, inputs: list[Number], how: int | None) -> Number:
    """Part by part; what the operation is not linear in (which entries to take) has none."""
    moved = inputs[1:] if how == -1 else inputs[:how]
    fixed = [number[0] for number in (inputs[:1] if how == -1 else inputs[len(moved) :])]
    result = {}
    for key in sorted({key for number in moved for key in number}):
        parts = [number.get(key) for number in moved]
        parts = [
            np.zeros_like(number[0]) if part is None else part
            for part, number in zip(parts, moved, strict=True)
        ]
        result[key] = function(*fixed, *parts) if how == -1 else function(*parts, *fixed)
    return result


def _product(a: Number, b: Number, times: Callable) -> Number:
    result: Number = {}
    for i, left in a.items():
        for j, right in b.items():
            if not i & j:
                part = times(left, right)
                result[i | j] = result[i | j] + part if i | j in result else part
    return result


def _series(factors: Sequence[Callable[[], Array]], number: Number) -> Number:
    """f(a + n) = Σ fᵏ(a)·nᵏ/k!, which ends since n is made of ε."""
    beside = {key: part for key, part in number.items() if key}
    result, power, k = {0: factors[0]()}, beside, 1
    while power:
        if k == len(factors):
            raise Unknown("a derivative of higher order")
        factor = factors[k]() / math.factorial(k)
        for key, part in power.items():
            term = factor * part
            result[key] = result[key] + term if key in result else term
        power, k = _product(power, beside, np.multiply), k + 1
    return result


def _chosen(function: Callable, a: Number, b: Number) -> Number:
    """The larger or smaller of two, with its parts; where they are equal, the mean of both."""
    value = function(a[0], b[0])
    share = np.where(a[0] == b[0], 0.5, (value == a[0]).astype(float))
    result = {0: value}
    for key in sorted((a.keys() | b.keys()) - {0}):
        parts = (share * a.get(key, 0.0), (1.0 - share) * b.get(key, 0.0))
        result[key] = parts[0] + parts[1]
    return result


Factors = Sequence[Callable[[], Array]]
"""f and its derivatives at some points, each computed when it is asked for."""


def _powers(x: Array, p) -> Factors:
    """xᵖ and its derivatives; one that vanishes does so at x = 0 too."""

    def factor(k: int) -> Array:
        scale = math.prod(np.asarray(p) - j for j in range(k))
        safe = np.where(scale == 0, 1.0, x)
        return np.where(scale == 0, 0.0, scale * np.power(safe, np.asarray(p, float) - k))

    return [lambda k=k: factor(k) for k in range(4)]


def _sine(x: Array, turns: int) -> Factors:
    """sin, or cos as the sine a quarter turn ahead, and what they become."""
    order = (np.sin, np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x))
    return [lambda k=k: order[(k + turns) % 4](x) for k in range(4)]


def _exponentials(x: Array, value: Callable = np.exp) -> Factors:
    return [lambda: value(x), *[lambda: np.exp(x)] * 3]


def _logarithms(x: Array, value: Callable, shifted: Array) -> Factors:
    return [lambda: value(x), *_powers(shifted, -1)[:3]]


def _hyperbolic(x: Array, first: int) -> Factors:
    order = (np.sinh, np.cosh)
    return [lambda k=k: order[(k + first) % 2](x) for k in range(4)]


def _of_value(y: Array, *polynomials: tuple[float, ...]) -> Factors:
    """Functions whose derivatives are polynomials of their value y."""
    return [lambda: y, *(lambda p=p: np.polynomial.polynomial.polyval(y, p) for p in polynomials)]


def _arctangents(x: Array) -> Factors:
    s = 1 / (1 + x * x)
    return [
        lambda: np.arctan(x),
        lambda: s,
        lambda: -2 * x * s**2,
        lambda: (6 * x * x - 2) * s**3,
    ]


def _absolute(x: Array) -> Factors:
    nothing = lambda: np.zeros_like(x)
    return [lambda: np.abs(x), lambda: np.sign(x), nothing, nothing]


SERIES: dict[str, Callable[[Array], Factors]] = {
    "sin": lambda x: _sine(x, 0),
    "cos": lambda x: _sine(x, 1),
    "tan": lambda x: _of_value(np.tan(x), (1, 0, 1), (0, 2, 0, 2), (2, 0, 8, 0, 6)),
    "exp": _exponentials,
    "expm1": lambda x: _exponentials(x, np.expm1),
    "log": lambda x: _logarithms(x, np.log, x),
    "log1p": lambda x: _logarithms(x, np.log1p, 1 + x),
    "sinh": lambda x: _hyperbolic(x, 0),
    "cosh": lambda x: _hyperbolic(x, 1),
    "tanh": lambda x: _of_value(np.tanh(x), (1, 0, -1), (0, -2, 0, 2), (-2, 0, 8, 0, -6)),
    "logistic": lambda x: _of_value(
        1 / (1 + np.exp(-x)), (0, 1, -1), (0, 1, -3, 2), (0, 1, -7, 12, -6)
    ),
    "atan": _arctangents,
    "sqrt": lambda x: _powers(x, 0.5),
    "rsqrt": lambda x: _powers(x, -0.5),
    "square": lambda x: _powers(x, 2),
    "abs": _absolute,
}
"""Functions of one number, as f, f′, f″ and f‴."""
