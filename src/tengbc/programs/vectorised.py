"""A function at many points at once, traced by JAX and run by NumPy: nothing is compiled.

Tracing takes about a millisecond, once for all numbers of points; compiling takes a hundred. Where
NumPy has no word for an operation, the whole function goes to XLA: the answer is the same either
way, only later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import jax
import numpy as np
from jax import export

from tengbc.errors import TengbcError
from tengbc.programs.elementwise import Unknown
from tengbc.programs.memory import Remembering
from tengbc.programs.nilpotent import Number, derivatives
from tengbc.programs.walk import Steps

SIZES = 16
"""Numbers of points for which a program is kept ready."""
MISSING = (Unknown, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""How the walk of a program ends where NumPy cannot do it, or JAX has changed."""


class Vectorised:
    """function(*arguments) in float64 for n points at once, as NumPy arrays.

    `in_axes` is that of `jax.vmap`, 0 or None for each argument, which may be a tree of arrays;
    None alone: the function as it is, for no points. As with `jax.jit`, what the function takes
    from outside is looked at once.
    """

    def __init__(self, function: Callable, in_axes: int | tuple[int | None, ...] | None = 0):
        self._in_axes = in_axes
        self._function = function if in_axes is None else jax.vmap(function, in_axes)
        self._traced: dict[Any, _Traced] = {}
        self._compiled: Callable | None = None
        self._nested: Vectorised | None = None
        self.missing = ""
        """What NumPy could not do, if it ever could not."""

    def __call__(self, *arguments: Any) -> Any:
        traced, n, arrays = self._for(arguments)
        if traced is None:
            return self._by_xla(arguments)  # JAX says in its own words what does not fit
        found = traced(n, arrays)
        if found is None:
            self.missing = traced.missing
            return self._by_xla(arguments)
        return found[0] if traced.single else jax.tree.unflatten(traced.tree, found)

    def along(self, arguments: Sequence, *directions: Sequence) -> dict[int, np.ndarray]:
        """The function and its derivatives along directions, each alone and with the others.

        A direction has an entry for each argument, None where it leaves it alone. Bit k of a key
        stands for direction k: 0 is the value, 0b11 the derivative along the first and the second.
        The function has one array as its value.
        """
        traced, n, arrays = self._for(arguments)
        numbers = [{0: array} for array in arrays]
        for k, direction in enumerate(directions):
            for number, part in zip(numbers, direction, strict=True):
                if part is not None:
                    number[1 << k] = np.broadcast_to(np.asarray(part, float), number[0].shape)
        found = None if traced is None else traced.along(n, numbers)
        if found is None:
            return self._by_jvp(arguments, directions)
        nothing = np.zeros_like(found[0])
        return {key: found.get(key, nothing) for key in range(1 << len(directions))}

    def _by_jvp(self, arguments: Sequence, directions: Sequence[Sequence]) -> dict:
        """The same by JAX, where a rule is missing: derivatives of derivatives, traced."""
        whole = [
            tuple(
                np.zeros(np.shape(a)) if part is None else np.broadcast_to(part, np.shape(a))
                for a, part in zip(arguments, direction, strict=True)
            )
            for direction in directions
        ]
        self._nested = self._nested or Vectorised(_nested(self._function), None)
        given = tuple(np.asarray(a, dtype=float) for a in arguments)
        return self._nested(given, tuple(whole))

    def _for(self, arguments: Sequence) -> tuple[_Traced | None, int, list[np.ndarray]]:
        """The program for such arguments, their number of points, and they as arrays."""
        arguments = tuple(arguments)
        flat = all(map(_is_leaf, arguments))
        leaves, tree = (arguments, None) if flat else jax.tree.flatten(arguments)
        arrays = [np.asarray(leaf) for leaf in leaves]
        axes = self._axes(arguments, flat)
        sizes = {a.shape[0] for a, axis in zip(arrays, axes, strict=True) if axis == 0 and a.ndim}
        if len(sizes) > 1:
            return None, 0, arrays
        n = sizes.pop() if sizes else 0
        key = (
            tree,
            *(
                (a.shape[1:] if axis == 0 else a.shape, a.dtype, _weak(leaf))
                for a, axis, leaf in zip(arrays, axes, leaves, strict=True)
            ),
        )
        traced = self._traced.get(key if n else None) or self._traced.get((key, n))
        if traced is None:
            leaves, tree = jax.tree.flatten(arguments)
            traced = self._trace(leaves, tree, axes, n)
            self._traced[key if traced.any_size else (key, n)] = traced
        return traced, n, arrays

    def _axes(self, arguments: tuple, flat: bool) -> Sequence[int | None]:
        """The axis of each array."""
        axes = self._in_axes
        each = axes if isinstance(axes, tuple) else (axes,) * len(arguments)
        if flat:
            return each
        return [
            axis
            for argument, axis in zip(arguments, each, strict=True)
            for _ in jax.tree.leaves(argument)
        ]

    def _trace(self, leaves: list, tree, axes: Sequence[int | None], n: int) -> _Traced:
        """The program for any number of points if there is one, else for n."""
        if n:
            symbol = _any_number()
            try:
                return _Traced(self._function, _announced(leaves, axes, symbol), tree, symbol)
            except Exception:  # the function is wrong, or JAX's rules want to know the number
                pass
        return _Traced(self._function, _announced(leaves, axes, n), tree, None)

    def _by_xla(self, arguments: tuple) -> Any:
        self._compiled = self._compiled or jax.jit(self._function)
        with jax.enable_x64(True):
            return jax.tree.map(np.asarray, self._compiled(*arguments))


class _Traced:
    """A traced function, for any number of points (`symbol`) or one."""

    def __init__(self, function: Callable, announced: list, tree, symbol: Any):
        with jax.enable_x64(True):
            traced = jax.make_jaxpr(function, return_shape=True)
            self._program, shape = traced(*jax.tree.unflatten(tree, announced))
        self.tree = jax.tree.structure(shape)
        self.single = jax.tree_util.treedef_is_leaf(self.tree)
        self.any_size = symbol is not None
        self._symbol = symbol
        self._ready: dict[int, Remembering] = {}
        self._unknown, self.missing = False, ""

    def __call__(self, n: int, arrays: list[np.ndarray]) -> list[np.ndarray] | None:
        """The outputs; None if NumPy cannot compute them."""
        if self._unknown:
            return None
        with np.errstate(all="ignore"):
            try:
                if n not in self._ready:
                    self._unknown = True  # unless what follows succeeds
                    self._make_ready(n)
                    self._unknown = False
                return self._ready[n](arrays)
            except TengbcError:  # a user's own code, called with numbers, has failed
                raise
            except MISSING as error:
                self.missing = f"{type(error).__name__}: {error}"
                return None

    def along(self, n: int, numbers: list[Number]) -> Number | None:
        """The one output of arguments with parts beside ε; None if NumPy cannot compute it."""
        if self._unknown or not self.single:
            return None
        with np.errstate(all="ignore"):
            try:
                if n not in self._ready:
                    self._make_ready(n)
                return derivatives(self._ready[n].steps, numbers)[0]
            except TengbcError:
                raise
            except MISSING:
                return None

    def _make_ready(self, n: int) -> None:
        kind = type(self._symbol) if self.any_size else ()

        def sized(size: Any) -> Any:
            return int(size._evaluate({"n": n})) if isinstance(size, kind) else size

        if len(self._ready) >= SIZES:
            self._ready.pop(next(iter(self._ready)))
        self._ready[n] = Remembering(Steps(self._program, sized))


def _nested(function: Callable) -> Callable:
    """A function's derivatives along directions, as `Vectorised.along` gives them."""

    def found(arguments: tuple, directions: tuple) -> dict[int, Any]:
        if not directions:
            return {0: function(*arguments)}
        inner = lambda *moved: found(moved, directions[:-1])
        values, slopes = jax.jvp(inner, arguments, directions[-1])
        last = 1 << len(directions) - 1
        return {**values, **{key | last: slope for key, slope in slopes.items()}}

    return found


@lru_cache(maxsize=1)
def _any_number() -> Any:
    """n, always the same one, so that JAX remembers what it has traced with it."""
    (symbol,) = export.symbolic_shape("n")
    return symbol


def _is_leaf(argument: Any) -> bool:
    """Whether an argument is certainly one array or number, not a tree of them."""
    return isinstance(argument, np.ndarray | float)


def _weak(leaf: Any) -> bool:
    """Whether a number takes the type of what it meets."""
    return isinstance(leaf, bool | int | float) or bool(getattr(leaf, "weak_type", False))


def _announced(leaves: list, axes: Sequence[int | None], n: Any) -> list[jax.ShapeDtypeStruct]:
    """Shapes and types of arguments for n points."""
    result = []
    for leaf, axis in zip(leaves, axes, strict=True):
        array = np.asarray(leaf)
        shape = (n, *array.shape[1:]) if axis == 0 and array.ndim else array.shape
        result.append(jax.ShapeDtypeStruct(shape, array.dtype, weak_type=_weak(leaf)))
    return result
