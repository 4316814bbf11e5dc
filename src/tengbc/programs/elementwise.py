"""Number by number: JAX's operations on entries, in NumPy's words and with XLA's meaning."""

from collections.abc import Callable

import numpy as np

Array = np.ndarray


class Unknown(Exception):
    """NumPy has no word for an operation, or another opinion of it: XLA is to be asked."""


def _same(x):
    return x


def _div(x, y):
    if x.dtype.kind == "f":
        return np.divide(x, y)
    quotient = np.floor_divide(x, np.where(y == 0, 1, y).astype(y.dtype))
    # Towards zero, where NumPy rounds down; x/0 has all its bits set.
    rest = x - quotient * y
    quotient = quotient + ((rest != 0) & ((x < 0) != (y < 0))).astype(x.dtype)
    return np.where(y == 0, np.invert(np.zeros_like(x)), quotient)


def _rem(x, y):
    if x.dtype.kind == "f":
        return np.fmod(x, y)
    return np.where(y == 0, x, np.fmod(x, np.where(y == 0, 1, y).astype(y.dtype)))


def _pow(x, y):
    if x.dtype.kind != "f":
        raise Unknown("an integer to the power of another")
    return np.power(x, y.astype(x.dtype))


def integer_pow(x, *, y):
    """xʸ by squaring, as XLA does it."""
    if y < 0 and x.dtype.kind != "f":
        raise Unknown("one over an integer")
    result, power, left = None, x, abs(y)
    while left:
        if left & 1:
            result = power if result is None else result * power
        left >>= 1
        power = power * power if left else power
    if result is None:
        return np.ones_like(x)
    return 1 / result if y < 0 else result


def _sign(x):
    # −0 keeps its sign.
    return np.where(x == 0, x, np.sign(x)) if x.dtype.kind == "f" else np.sign(x)


def round_(x, *, rounding_method):
    """To the nearest integer; halves to the even one or away from zero."""
    if rounding_method.name == "TO_NEAREST_EVEN":
        return np.rint(x)
    if rounding_method.name != "AWAY_FROM_ZERO":
        raise Unknown(rounding_method.name)
    whole = np.trunc(x)
    return whole + np.copysign(np.abs(x - whole) >= 0.5, x).astype(x.dtype)


def _select(which, *cases):
    if which.dtype == bool:
        return np.where(which, cases[1], cases[0])
    return np.choose(which, cases)


def convert(x, *, new_dtype, weak_type):
    """Another type; what is beyond the integers becomes the last of them, NaN becomes 0."""
    new = np.dtype(new_dtype)
    if x.dtype.kind != "f" or new.kind not in "iu":
        return x.astype(new)
    least, most = np.iinfo(new).min, np.iinfo(new).max
    low, high = x <= float(least), x >= float(most)
    inside = np.where(low | high | np.isnan(x), 0, x).astype(new)
    return np.where(high, most, np.where(low, least, inside)).astype(new)


def _ordered(x):
    """Integers in the order of floating-point numbers: −NaN < −∞ < … < −0 < 0 < … < ∞ < NaN."""
    if x.dtype.kind != "f":
        return x
    bits = np.asarray(x).view(f"i{x.dtype.itemsize}")
    return np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


def _special(name: str) -> Callable:
    def function(*arguments):
        import scipy.special  # 0.2 s, for those who need it

        return getattr(scipy.special, name)(*arguments)

    return function


def _finite_special(name: str) -> Callable:
    """A function whose poles are XLA's own business: at zero and below it is asked."""
    inner = _special(name)

    def function(x):
        if not (x > 0).all():
            raise Unknown(f"{name} at zero, below, or at NaN")
        return inner(x)

    return function


ELEMENTWISE: dict[str, Callable] = {
    **{
        name: getattr(np, name)
        for name in (
            *("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "exp2", "expm1", "log", "log1p"),
            *("sqrt", "cbrt", "square", "floor", "ceil", "abs", "nextafter"),
        )
    },
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "atan2": np.arctan2,
    "add": np.add,
    "add_any": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "neg": np.negative,
    "div": _div,
    "rem": _rem,
    "pow": _pow,
    "max": np.maximum,
    "min": np.minimum,
    "sign": _sign,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "clamp": lambda low, x, high: np.minimum(np.maximum(x, low), high),
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq_to": lambda x, y: _ordered(x) == _ordered(y),
    "lt_to": lambda x, y: _ordered(x) < _ordered(y),
    "le_to": lambda x, y: _ordered(x) <= _ordered(y),
    "is_finite": np.isfinite,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "not": np.invert,
    "select_n": _select,
    "erf": _special("erf"),
    "erfc": _special("erfc"),
    "erf_inv": _special("erfinv"),
    "lgamma": _finite_special("gammaln"),
    "digamma": _finite_special("digamma"),
    "bessel_i0e": _special("i0e"),
    "bessel_i1e": _special("i1e"),
    "stop_gradient": _same,
    "copy": _same,
    "copy_p": _same,
}
"""Operations without parameters: the result has the shape of the arguments."""
