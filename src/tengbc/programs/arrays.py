"""Whole arrays: shapes, sums, products, sorting, and entries by index."""

from collections.abc import Callable

import numpy as np

from tengbc.programs.elementwise import Unknown, convert, integer_pow, round_


def _pad(x, value, *, padding_config):
    lows, highs, gaps = zip(*padding_config, strict=True) if padding_config else ((), (), ())
    spread = [size + max(size - 1, 0) * gap for size, gap in zip(x.shape, gaps, strict=True)]
    sizes = [low + size + high for low, size, high in zip(lows, spread, highs, strict=True)]
    # Negative margins are cut off afterwards.
    before = [max(low, 0) for low in lows]
    whole = [
        max(low, 0) + s + max(high, 0) for low, s, high in zip(lows, spread, highs, strict=True)
    ]
    result = np.full(whole, value, dtype=x.dtype)
    inner = zip(before, spread, gaps, strict=True)
    result[tuple(slice(b, b + s, gap + 1) for b, s, gap in inner)] = x
    cut = [max(-low, 0) for low in lows]
    return result[tuple(slice(c, c + max(size, 0)) for c, size in zip(cut, sizes, strict=True))]


def _iota(*, dtype, shape, dimension):
    along = [1] * len(shape)
    along[dimension] = shape[dimension]
    return np.broadcast_to(np.arange(shape[dimension], dtype=dtype).reshape(along), shape)


def _reduction(operation: Callable) -> Callable:
    return lambda x, *, axes: operation(x, axis=tuple(axes))


def _accumulation(operation: np.ufunc) -> Callable:
    """Sums and products keep the type of their terms, whatever NumPy thinks of small integers."""
    return lambda x, *, axes: operation.reduce(x, axis=tuple(axes), dtype=x.dtype)


def _position(operation: Callable) -> Callable:
    def found(x, *, axes, index_dtype):
        (axis,) = axes
        return operation(x, axis=axis).astype(index_dtype)

    return found


def _running(operation: np.ufunc) -> Callable:
    def along(x, *, axis, reverse):
        x = np.flip(x, axis) if reverse else x
        result = operation.accumulate(x, axis=axis, dtype=x.dtype)
        return np.flip(result, axis) if reverse else result

    return along


def _sort(*columns, dimension, is_stable, num_keys):
    if num_keys != 1:
        raise Unknown("sorting by several keys")
    if len(columns) == 1:
        return [np.sort(columns[0], axis=dimension, kind="stable")]
    order = np.argsort(columns[0], axis=dimension, kind="stable")
    return [np.take_along_axis(column, order, dimension) for column in columns]


def _unstack(x, *, axis):
    return list(np.moveaxis(x, axis, 0))


def _dynamic_slice(x, *starts, slice_sizes):
    first = [
        int(np.clip(start, 0, whole - size))
        for start, whole, size in zip(starts, x.shape, slice_sizes, strict=True)
    ]
    return x[tuple(slice(f, f + size) for f, size in zip(first, slice_sizes, strict=True))]


def _dynamic_update_slice(x, update, *starts):
    result = x.copy()
    _dynamic_slice(result, *starts, slice_sizes=update.shape)[...] = update
    return result


def _windows(indices, whole, sizes, along, batching, mode):
    """(an index array per axis, which windows lie inside) of windows that begin at `indices`.

    `indices` has one column for each axis of `along`; a pair of `batching` is an axis whose
    index is the position along an axis of `indices`. Arrays have the shape (*windows, *sizes).
    """
    name, count = mode.name, indices.shape[:-1]
    if name not in ("CLIP", "FILL_OR_DROP", "PROMISE_IN_BOUNDS"):
        raise Unknown(name)
    starts = [np.zeros(count, dtype=np.int64) for _ in whole]
    for column, axis in enumerate(along):
        starts[axis] = indices[..., column].astype(np.int64)
    for axis, of in batching:
        starts[axis] = _iota(dtype=np.int64, shape=count, dimension=of)
    inside, where = np.ones(count, dtype=bool), []
    for axis, (size, most) in enumerate(zip(sizes, whole, strict=True)):
        start = np.clip(starts[axis], 0, most - size)
        inside &= start == starts[axis]
        steps = np.arange(size).reshape([size if a == axis else 1 for a in range(len(whole))])
        where.append(start.reshape(*count, *[1] * len(whole)) + steps)
    return tuple(where), inside if name == "FILL_OR_DROP" else np.ones_like(inside)


def _gather(x, indices, *, dimension_numbers, slice_sizes, mode, fill_value):
    numbers = dimension_numbers
    batching = tuple(
        zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True)
    )
    where, inside = _windows(indices, x.shape, slice_sizes, numbers.start_index_map, batching, mode)
    found = x[where]  # (*windows, *slice_sizes)
    count = indices.ndim - 1
    if not inside.all():
        if fill_value is None:
            fill_value = np.nan
            if x.dtype.kind != "f":
                info = None if x.dtype == bool else np.iinfo(x.dtype)
                fill_value = True if info is None else info.min if info.min else info.max
        shown = inside.reshape(*inside.shape, *[1] * x.ndim)
        found = np.where(shown, found, np.asarray(fill_value, dtype=x.dtype))
    dropped = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
    found = np.squeeze(found, tuple(count + int(axis) for axis in dropped))
    return np.moveaxis(found, range(count, found.ndim), numbers.offset_dims)


def _scatter(combine: Callable) -> Callable:
    def scattered(x, indices, updates, *, dimension_numbers, mode, update_jaxpr, update_consts):
        numbers = dimension_numbers
        batching = tuple(
            zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims, strict=True)
        )
        windows, count = tuple(map(int, numbers.update_window_dims)), indices.ndim - 1
        dropped = {int(a) for a in (*numbers.inserted_window_dims, *numbers.operand_batching_dims)}
        # Updates as (*windows, *sizes), with the axes that they do without put back.
        updates = np.moveaxis(updates, windows, range(count, count + len(windows)))
        sizes = iter(updates.shape[count:])
        sizes = [1 if axis in dropped else next(sizes) for axis in range(x.ndim)]
        updates = updates.reshape(*updates.shape[:count], *sizes)
        along = numbers.scatter_dims_to_operand_dims
        where, inside = _windows(indices, x.shape, sizes, along, batching, mode)
        kept = np.broadcast_to(inside.reshape(*inside.shape, *[1] * x.ndim), updates.shape)
        result = x.copy()
        combine(result, tuple(np.broadcast_to(w, kept.shape)[kept] for w in where), updates[kept])
        return result

    return scattered


def _put(result, where, updates):
    result[where] = updates


ARRAYS: dict[str, Callable] = {
    "integer_pow": integer_pow,
    "round": round_,
    "convert_element_type": convert,
    "transpose": lambda x, *, permutation: np.transpose(x, permutation),
    "tile": lambda x, *, reps: np.tile(x, reps),
    "rev": lambda x, *, dimensions: np.flip(x, tuple(dimensions)),
    "pad": _pad,
    "iota": _iota,
    "concatenate": lambda *parts, dimension: np.concatenate(parts, axis=dimension),
    "stack": lambda *parts, axis: np.stack(parts, axis=axis),
    "reduce_sum": _accumulation(np.add),
    "reduce_prod": _accumulation(np.multiply),
    "reduce_max": _reduction(np.max),
    "reduce_min": _reduction(np.min),
    "reduce_and": _reduction(np.bitwise_and.reduce),
    "reduce_or": _reduction(np.bitwise_or.reduce),
    "argmax": _position(np.argmax),
    "argmin": _position(np.argmin),
    "cumsum": _running(np.add),
    "cumprod": _running(np.multiply),
    "cummax": _running(np.maximum),
    "cummin": _running(np.minimum),
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "gather": _gather,
    "scatter": _scatter(_put),
    "scatter-add": _scatter(np.add.at),
    "sort": _sort,
    "unstack": _unstack,
}
"""Operations with parameters; those of SEVERAL give a list."""
SEVERAL = ("sort", "split", "unstack")
