"""Initial values from a table: on a grid, at points, or an xarray DataArray.

Between values on a grid there are splines of degree five or less, between scattered points radial
functions. What that is off by is estimated by leaving values out: from every second value, and from
every fourth, the others are predicted with errors e₂ and e₄, so that all values of a grid are
expected to predict with e₂·e₂/e₄. Of scattered ones e₂ is stated: near a rim they may be sparse.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from tengbc.errors import ProblemError
from tengbc.geometry.grids import axis_names, tensor

if TYPE_CHECKING:
    from tengbc.geometry.domain import Domain

Array = np.ndarray
DEGREE = 5
"""Of splines."""
NEIGHBOURS = 60
"""Scattered points that a value rests on, if there are more of them."""
FEWEST = 12
"""An array of fewer numbers on an interval is one number for each component."""
MOST_LEFT_OUT = 2000
"""Values that are predicted, for the estimate."""


def is_table(given: Any, dim: int) -> bool:
    """Whether initial values are given as a table rather than as a function or numbers."""
    if hasattr(given, "dims") and hasattr(given, "coords"):  # an xarray DataArray
        return True
    if isinstance(given, tuple) and len(given) == 2 and all(np.ndim(part) for part in given):
        return True
    if not isinstance(given, list | np.ndarray):
        return False
    shape = np.shape(given)
    return len(shape) > 1 or (dim == 1 and len(shape) == 1 and shape[0] >= FEWEST)


def table(given: Any, domain: Domain) -> Table:
    """A table as a user gave it, over a domain."""
    if hasattr(given, "dims") and hasattr(given, "coords"):
        return _from_xarray(given, domain)
    if isinstance(given, tuple):
        points, values = given
        return _from_points(points, values, domain)
    values = _numbers(given)
    if values.ndim not in (domain.dim, domain.dim + 1):
        raise ProblemError(
            f"initial is an array of shape {values.shape}, but a grid over a domain of dimension "
            f"{domain.dim} has {domain.dim} axes, and one more for the components of a system; "
            f"reshape it."
        )
    lower, upper = domain.bounds
    counts = values.shape[: domain.dim]
    ends = domain.periodic and not _closes(values, domain.dim)
    axes = [np.linspace(a, b, n + ends)[:n] for a, b, n in zip(lower, upper, counts, strict=True)]
    return _on_grid(axes, values, domain)


class Table:
    """u(x) between values of a table, for one point (d,) or, as x[0], x[1], …, many (d, n).

    `axes` are those of a grid, or empty for scattered `points`; `values` has a row for each point.
    """

    def __init__(
        self,
        axes: Sequence[Float[Array, " _"]],
        points: Float[Array, "n d"],
        values: Float[Array, "n *m"],
        period: Float[Array, " d"] | None = None,
    ):
        self.axes, self.points, self.values, self.period = list(axes), points, values, period

    def __call__(self, x: Any) -> Array:
        point = np.asarray(x, dtype=float)  # a trace ends here: numbers are wanted
        found = self._between(np.atleast_2d(point.T))
        return np.asarray(found[0]) if point.ndim == 1 else np.moveaxis(found, 0, -1)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_between"}

    @property
    def described(self) -> str:
        """A table of so many values, and how well it is known between them."""
        counts = " × ".join(str(len(axis)) for axis in self.axes) or str(len(self.points))
        where = "on a grid" if self.axes else "at points"
        return f"{counts} values {where}, between them known to about {self.error:.0e}"

    @cached_property
    def error(self) -> float:
        """What values between those given are off by, relative to their size, root mean square."""
        second = self._predicted(2)
        fourth = self._predicted(4) if self.axes else 0.0
        size = float(np.sqrt(np.mean(self.values**2))) or 1.0
        if not np.isfinite(second):
            return 1.0
        gain = min(second / fourth, 1.0) if fourth > 0 and np.isfinite(fourth) else 1.0
        return max(second * gain / size, np.finfo(float).eps)

    @cached_property
    def _between(self) -> Callable[[Float[Array, "k d"]], Array]:
        if self.axes:
            grid = self.values.reshape(*map(len, self.axes), *self.values.shape[1:])
            return _spline(self.axes, grid, self.period)
        return _radial(self.points, self.values)

    def _predicted(self, stride: int) -> float:
        """The error, root mean square, of what every stride-th value says about the others."""
        if self.axes:
            grid = self.values.reshape(*map(len, self.axes), *self.values.shape[1:])
            kept = [slice(None, None, stride)] * len(self.axes)
            axes = [axis[::stride] for axis in self.axes]
            if min(map(len, axes)) < 2:
                return np.inf
            # Past the last value that is kept would be extrapolation, and counts for nothing.
            inside = [axis <= coarse[-1] for axis, coarse in zip(self.axes, axes, strict=True)]
            left_out = np.ix_(*inside)
            between = _spline(axes, grid[tuple(kept)], None)
            points = tensor([axis[i] for axis, i in zip(self.axes, inside, strict=True)])
            values = grid[left_out].reshape(len(points), *self.values.shape[1:])
        else:
            order = np.random.default_rng(0).permutation(len(self.points))
            chosen, others = order[::stride], np.setdiff1d(order, order[::stride])
            if len(chosen) < 2 * (self.points.shape[1] + 1):
                return np.inf
            between = _radial(self.points[chosen], self.values[chosen])
            points, values = self.points[others], self.values[others]
        rows = np.unique(np.linspace(0, len(points) - 1, MOST_LEFT_OUT).astype(int))
        return float(np.sqrt(np.mean((between(points[rows]) - values[rows]) ** 2)))


def _spline(
    axes: Sequence[Float[Array, " _"]], values: Array, period: Float[Array, " d"] | None
) -> Callable[[Float[Array, "k d"]], Array]:
    """The tensor product of splines through values on a grid; periodic ones where asked for."""
    from scipy.interpolate import NdBSpline, make_interp_spline

    knots, degrees, coefficients = [], [], values
    for k, axis in enumerate(axes):
        if period is not None:  # the upper end is the lower one again
            axis = np.append(axis, axis[0] + period[k])
            coefficients = np.concatenate(
                [coefficients, np.take(coefficients, [0], axis=k)], axis=k
            )
        degree = min(DEGREE, len(axis) - 1)
        degree -= degree % 2 == 0  # odd degrees have knots at the values
        kind = "periodic" if period is not None and degree > 1 else None
        spline = make_interp_spline(axis, coefficients, k=degree, axis=k, bc_type=kind)
        knots.append(spline.t)
        degrees.append(degree)
        coefficients = np.moveaxis(spline.c, 0, k)
    found = NdBSpline(tuple(knots), np.ascontiguousarray(coefficients), tuple(degrees))
    return lambda x: found(np.ascontiguousarray(x))


def _radial(
    points: Float[Array, "n d"], values: Float[Array, "n *m"]
) -> Callable[[Float[Array, "k d"]], Array]:
    """Through scattered values: a spline on an interval, else r⁵ and a quadratic."""
    if points.shape[1] == 1:
        order = np.argsort(points[:, 0])
        return _spline([points[order, 0]], values[order], None)
    from scipy.interpolate import RBFInterpolator

    degree = 2 if len(points) >= 2 * (points.shape[1] + 1) * (points.shape[1] + 2) // 2 else 1
    near = NEIGHBOURS if len(points) > NEIGHBOURS else None
    kernel = "quintic" if degree == 2 else "thin_plate_spline"
    return RBFInterpolator(points, values, neighbors=near, kernel=kernel, degree=degree)


def _on_grid(axes: list[Array], values: Array, domain: Domain) -> Table:
    """A table on a grid; where values are missing, as outside a domain, one of the others."""
    dim, lower, upper = domain.dim, *domain.bounds
    for k, axis in enumerate(axes):
        if len(axis) < 4:
            raise ProblemError(
                f"initial has {len(axis)} values along an axis, which say too little; give four or "
                f"more, or a function."
            )
        spacing = np.diff(axis)
        if (spacing <= 0).any():
            raise ProblemError("initial has coordinates that do not increase; sort them.")
        reach = 0.0 if domain.periodic else 1.001 * spacing.max()
        if not domain.periodic and (axis[0] > lower[k] + reach or axis[-1] < upper[k] - reach):
            raise ProblemError(
                f"initial is known from {axis[0]:g} to {axis[-1]:g} along an axis on which the "
                f"domain reaches from {lower[k]:g} to {upper[k]:g}; give values on all of it."
            )
    rows = values.reshape(-1, *values.shape[dim:])
    points = tensor(axes)
    known = np.asarray(np.isfinite(rows).reshape(len(rows), -1).all(axis=1))
    if domain.periodic:
        period = upper - lower
        for k, axis in enumerate(axes):  # the end is the beginning: once is enough
            if axis[-1] >= axis[0] + period[k] * (1 - 1e-9):
                axes[k], values = axis[:-1], np.delete(values, -1, axis=k)
        rows = values.reshape(-1, *values.shape[dim:])
        _check_known(np.isfinite(rows).all(), domain)
        return Table(axes, tensor(axes), rows, period)
    if known.all():
        return Table(axes, points, rows)
    near = domain._inside(points, -1e-9 * domain.scale)
    _check_known(known[near].all(), domain)
    return Table([], points[known], rows[known])


def _from_points(x: Any, values: Any, domain: Domain) -> Table:
    points, rows = _numbers(x), _numbers(values)
    points = points[:, None] if points.ndim == 1 and domain.dim == 1 else points
    if points.ndim != 2 or points.shape[1] != domain.dim or len(rows) != len(points):
        raise ProblemError(
            f"initial is given as points of shape {points.shape} and values of shape {rows.shape}, "
            f"but n points have shape (n, {domain.dim}), and there is one value, or one row of "
            f"them, for each."
        )
    _check_known(np.isfinite(points).all() and np.isfinite(rows).all(), domain)
    if len(np.unique(points, axis=0)) < len(points):
        raise ProblemError("initial has two values at one point; leave one of them out.")
    axes = [np.unique(column) for column in points.T]
    if np.prod([len(axis) for axis in axes]) == len(points):  # a grid, in whatever order
        order = np.lexsort(points.T[::-1])
        grid = rows[order].reshape(*map(len, axes), *rows.shape[1:])
        return _on_grid(axes, grid, domain)
    if len(points) < 4 * (domain.dim + 1):
        raise ProblemError(
            f"initial has values at {len(points)} points, which say too little; give "
            f"{4 * (domain.dim + 1)} or more, or a function."
        )
    return Table([], points, rows)


def _from_xarray(data: Any, domain: Domain) -> Table:
    names = axis_names(domain.dim)
    if "data_vars" in dir(data):
        raise ProblemError("initial is an xarray Dataset; choose one variable of it, such as .u.")
    data = data.squeeze(drop=True)
    if set(names) <= set(data.dims):
        rest = [name for name in data.dims if name not in names]
        data = data.transpose(*names, *rest)
    elif len(data.dims) >= domain.dim:
        names = list(data.dims[: domain.dim])
        rest = list(data.dims[domain.dim :])
    else:
        rest = [None, None]
    if len(rest) > 1 or (rest and rest[0] in ("time", "t")):
        raise ProblemError(
            f"initial is an xarray DataArray over {', '.join(map(str, data.dims))}, but it must be "
            f"over {', '.join(names)} alone, and the components of a system; choose one time."
        )
    lower, upper = domain.bounds
    axes, values = [], _numbers(data.values)
    for k, name in enumerate(names):
        plain = np.linspace(lower[k], upper[k], values.shape[k])
        axis = np.asarray(data.coords[name].values, float) if name in data.coords else plain
        if len(axis) > 1 and axis[0] > axis[-1]:
            axis, values = axis[::-1], np.flip(values, axis=k)
        axes.append(axis)
    return _on_grid(axes, values, domain)


def _numbers(given: Any) -> Array:
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ProblemError(
            "initial is a table whose entries are not all numbers, or not of one length; give "
            "an array, (points, values), or a function of x."
        ) from None


def _check_known(known: Any, domain: Domain) -> None:
    if not known:
        raise ProblemError(
            f"initial is not finite at points of {domain!r}; give a number at each of them."
        )


def _closes(values: Array, dim: int) -> bool:
    """Whether the last values along each axis are the first ones again."""
    pairs = ((values.take(0, axis=k), values.take(-1, axis=k)) for k in range(dim))
    return all(np.allclose(first, last, rtol=1e-12, atol=1e-12) for first, last in pairs)
