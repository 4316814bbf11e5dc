"""Functions that JAX cannot trace, such as NumPy code, tables and `if`: called with numbers.

Data of a problem (initial and boundary values, sources, coefficients) need only be numbers at
points. A function of these that cannot be traced is called from outside the trace, and its
derivatives, where a trace asks for them, are those of the quartic through five neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tengbc.errors import ProblemError, TengbcError

Array = np.ndarray
STEP = 1e-3
"""The distance of the five neighbours, as part of the domain's size, or of the time's."""
FEW = 16
"""So many points are looked at one by one."""
NODES = np.arange(-2, 3)


class Untraced:
    """f(x) or f(x, t) of numbers, for use in traced code.

    Neighbours of a point on the rim of the box `bounds` lie inside it, and none before t = 0:
    tables end there.
    """

    def __init__(
        self,
        function: Callable,
        shape: tuple[int, ...],
        bounds: tuple[Array, Array],
        time_scale: float,
        time_dependent: bool,
    ):
        self.bounds, self.dim = bounds, len(bounds[0])
        lower, upper = bounds
        self.function, self.shape = function, shape
        step = STEP * np.append(np.full(self.dim, np.max(upper - lower)), time_scale)
        count = self.dim + time_dependent
        self.step = step[:count]
        self.first = np.append(lower, 0.0)[:count] + 2 * self.step
        self.last = np.append(upper, np.inf)[:count] - 2 * self.step

    def __call__(self, x: Any, *t: Any) -> Any:
        point = jnp.concatenate([jnp.asarray(x, float), *(jnp.reshape(s, 1) for s in t)])
        return self._traced(jnp.asarray(point, float))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_traced"}

    @cached_property
    def _traced(self) -> Callable:
        def value(z):
            made = jax.ShapeDtypeStruct(self.shape, jnp.result_type(float))
            return jax.pure_callback(self._at, made, z, vmap_method="expand_dims")

        function = jax.custom_jvp(value)

        def along(z, axis):
            """∂f along an axis, by the quartic through five nodes around c, z = c + s·step."""
            step = self.step[axis]
            c = jnp.clip(z[axis], self.first[axis], self.last[axis])
            values = jax.vmap(lambda k: function(z.at[axis].set(c + k * step)))(NODES * 1.0)
            return jnp.tensordot(_weights((z[axis] - c) / step), values, axes=1) / step

        @function.defjvp
        def _(primals, tangents):
            (z,), (dz,) = primals, tangents
            slopes = jnp.stack([along(z, axis) for axis in range(len(self.step))])
            return function(z), jnp.tensordot(dz, slopes, axes=1)

        return function

    def _at(self, z: Any) -> Array:
        """f at points (…, d) or points and times (…, d + 1); outside the box, at its rim."""
        z = np.asarray(z)
        rows = z.reshape(-1, z.shape[-1]).astype(np.float64)
        rows[:, : self.dim] = np.clip(rows[:, : self.dim], *self.bounds)
        values = None if len(rows) <= FEW else self._at_once(rows)
        if values is None:
            values = self._one_by_one(rows)
        return values.reshape(z.shape[:-1] + self.shape).astype(z.dtype)

    def _one_by_one(self, rows: Array) -> Array:
        found = np.empty((len(rows), *self.shape))
        for k, row in enumerate(rows):
            x, t = row[: self.dim], row[self.dim :].tolist()
            try:
                found[k] = self.function(x, *t)
            except Exception as error:  # any failure of a user's function: say where it was
                where = ", ".join(f"{coordinate:.6g}" for coordinate in x)
                when = f", t = {t[0]:.6g}" if t else ""
                raise ProblemError(
                    f"A function that is not written with jax.numpy fails at x = ({where}){when} "
                    f"({type(error).__name__}: {error}); it must give a number at every point."
                ) from error
        return found

    def _at_once(self, rows: Array) -> Array | None:
        """Values at all points by one call, x[0] being an array; None where that differs."""
        times = np.unique(rows[:, self.dim :])
        if len(times) > 1:
            return None
        try:
            with np.errstate(all="ignore"):
                found = np.asarray(self.function(rows[:, : self.dim].T, *times.tolist()), float)
        except Exception:  # it wants one point
            return None
        some = np.linspace(0, len(rows) - 1, FEW // 2).astype(int)
        if found.shape != (*self.shape, len(rows)):
            return None
        found = np.moveaxis(found, -1, 0)
        alone = self._one_by_one(rows[some])
        same = np.allclose(found[some], alone, rtol=1e-12, atol=0.0, equal_nan=True)
        return found if same else None


def _weights(s: Any) -> Any:
    """Derivatives at s of the five Lagrange polynomials whose nodes are −2 … 2."""
    weights = []
    for k in NODES:
        others = [j for j in NODES if j != k]
        terms = [jnp.prod(jnp.stack([s - j for j in others if j != left])) for left in others]
        weights.append(sum(terms) / float(np.prod([k - j for j in others])))
    return jnp.stack(weights)


def numeric(
    function: Callable, arguments: int, bounds: tuple[Array, Array], time_scale: float
) -> Untraced | None:
    """The function for numbers if JAX cannot trace it but numbers work; None otherwise."""
    lower, upper = bounds
    dim = len(lower)
    with jax.enable_x64(True):
        point, time = jax.ShapeDtypeStruct((dim,), np.float64), jax.ShapeDtypeStruct((), np.float64)
        try:
            jax.eval_shape(function, *(point, time)[:arguments])
            return None
        except TengbcError:
            return None
        except Exception:  # it cannot be traced: perhaps it can be called
            pass
    try:
        with np.errstate(all="ignore"):
            sample = np.asarray(function(*((lower + upper) / 2, 0.0)[:arguments]))
    except Exception:  # nor can it be called: the trace's error is as good as this one
        return None
    if sample.dtype.kind not in "fiub" or sample.ndim > 1:
        return None
    return Untraced(function, sample.shape, bounds, time_scale, arguments == 2)
