"""Operations that are thought out once, since shapes are known: what is left to do is one call."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tengbc.programs.elementwise import Unknown

Shape = tuple[int, ...]
SMALL_PRODUCT = 64
"""Products of a batch with fewer terms per entry are summed by einsum, which BLAS cannot beat."""


def _reshaped(shapes: list[Shape], made: Shape, **_: Any) -> Callable:
    return lambda x: x.reshape(made)


def _reshape(shapes: list[Shape], made: Shape, *, new_sizes, dimensions) -> Callable:
    if dimensions is not None:
        raise Unknown("reshape in another order")
    return _reshaped(shapes, made)


def _broadcast(shapes: list[Shape], made: Shape, *, shape, broadcast_dimensions) -> Callable:
    spread = [1] * len(shape)
    for axis, size in zip(broadcast_dimensions, shapes[0], strict=True):
        spread[axis] = size
    if tuple(spread) == made:
        return _reshaped(shapes, made)
    return lambda x: np.broadcast_to(x.reshape(spread), made)


def _slice(shapes: list[Shape], made: Shape, *, start_indices, limit_indices, strides) -> Callable:
    where = tuple(map(slice, start_indices, limit_indices, strides or (1,) * len(made)))
    return lambda x: x[where]


def _split(shapes: list[Shape], made: Shape, *, sizes, axis) -> Callable:
    ends = np.cumsum(sizes).tolist()
    where = [
        (*[slice(None)] * axis, slice(end - size, end))
        for size, end in zip(sizes, ends, strict=True)
    ]
    return lambda x: [x[part] for part in where]


def _dot_general(
    shapes: list[Shape], made: Shape, *, dimension_numbers, preferred_element_type
) -> Callable:
    """Batches of matrices (…, rows, terms) and (…, terms, columns)."""
    (a_sum, b_sum), (a_batch, b_batch) = dimension_numbers
    a_shape, b_shape = shapes
    a_free = [i for i in range(len(a_shape)) if i not in (*a_sum, *a_batch)]
    b_free = [j for j in range(len(b_shape)) if j not in (*b_sum, *b_batch)]
    batch = [a_shape[i] for i in a_batch]
    rows, columns = math.prod(a_shape[i] for i in a_free), math.prod(b_shape[j] for j in b_free)
    terms = math.prod(a_shape[i] for i in a_sum)
    order_a, order_b = (*a_batch, *a_free, *a_sum), (*b_batch, *b_sum, *b_free)
    matrix_a, matrix_b = (*batch, rows, terms), (*batch, terms, columns)
    if terms == 1:
        product = np.multiply
    elif batch and rows * terms * columns < SMALL_PRODUCT:
        product = _summed
    else:
        product = np.matmul
    kind = None if preferred_element_type is None else np.dtype(preferred_element_type)

    def multiplied(a, b):
        if kind is not None and not a.dtype == b.dtype == kind:
            a, b = a.astype(kind), b.astype(kind)
        a, b = a.transpose(order_a).reshape(matrix_a), b.transpose(order_b).reshape(matrix_b)
        return product(a, b).reshape(made)

    return multiplied


def _summed(a, b):
    return np.einsum("...ij,...jk->...ik", a, b)


PLANNED: dict[str, Callable] = {
    "reshape": _reshape,
    "squeeze": _reshaped,
    "expand_dims": _reshaped,
    "broadcast_in_dim": _broadcast,
    "slice": _slice,
    "split": _split,
    "dot_general": _dot_general,
}
"""From the shapes that go in, that of the first that comes out, and the parameters."""
