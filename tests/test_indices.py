"""An index past the end is found in a traced program; what is right passes."""

import jax
import jax.numpy as jnp
import pytest

from tengbc.indices import indices_past_the_end

X = jax.ShapeDtypeStruct((3,), jnp.float64)
TABLE = jnp.arange(12.0).reshape(4, 3)


def found(function):
    return list(indices_past_the_end(jax.make_jaxpr(function)(X).jaxpr))


@pytest.mark.parametrize(
    ("function", "index", "shape"),
    [
        (lambda x: x[3], 3, (3,)),
        (lambda x: x[-4], -1, (3,)),
        (lambda x: jnp.sin(x[0]) + jnp.exp(x)[7], 7, (3,)),
        (lambda x: jnp.outer(x, x)[1, 3], 3, (3, 3)),
        (jax.jit(lambda x: x[3]), 3, (3,)),
        (lambda x: jax.jvp(lambda y: y[3], (x,), (x,))[1], 3, (3,)),
    ],
)
def test_an_index_past_the_end_is_found(function, index, shape):
    assert (index, shape) in found(function)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[0] + x[2] + x[-3] + x[-1],
        lambda x: x[1:5],
        lambda x: jnp.outer(x, x)[2, 2],
        lambda x: TABLE[jnp.argmax(x), 1],
        lambda x: jnp.interp(x[0], TABLE[:, 0], TABLE[:, 1]),
        lambda x: jax.lax.dynamic_slice(x, (1,), (2,)),
        lambda x: jax.lax.fori_loop(0, 3, lambda k, total: total + x[k], 0.0),
        lambda x: jnp.linalg.det(jnp.outer(x, x)) + jnp.trace(jnp.diag(x)) + jnp.roll(x, 1)[0],
    ],
)
def test_what_is_right_passes(function):
    assert found(function) == []
