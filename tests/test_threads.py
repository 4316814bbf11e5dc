"""Threads of the BLAS: set for a while, and put back."""

import os

import jax.numpy as jnp
import numpy as np
import pytest

import tengbc as tb
from tengbc.threads import blas_threads, libraries, one_thread


def counts():
    return [ask() for ask, _, _ in libraries()]


bundled = pytest.mark.skipif(
    "openblas" not in np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"],
    reason="NumPy has another BLAS",
)


@bundled
def test_the_libraries_are_found_and_obey():
    assert len(libraries()) >= 1
    with blas_threads(2):
        assert set(counts()) <= {min(2, os.cpu_count() or 1), 2}
        with blas_threads(1):
            assert set(counts()) == {1}
        with blas_threads(None):
            assert counts() == [first for _, _, first in libraries()]
        assert set(counts()) != {1} or os.cpu_count() == 1


@bundled
def test_an_error_puts_them_back():
    before = counts()
    with pytest.raises(KeyError), blas_threads(3):
        raise KeyError
    assert counts() == before


@bundled
def test_local_features_run_on_one_thread_and_leave_the_rest_as_it_was():
    conditions = dict.fromkeys(("left", "right"), tb.Neumann(0.0))
    start = lambda x: jnp.cos(jnp.pi * x[0])
    problem = tb.Problem(tb.Interval(0.0, 1.0), tb.Heat(0.1), conditions, start, t_end=0.1)
    seen = []
    with blas_threads(2):
        before = counts()
        tb.solve(problem, rtol=1e-3, callbacks=[lambda record, state: bool(seen.append(counts()))])
        assert counts() == before
    assert seen and all(set(each) == {1} for each in seen)


def test_the_environment_of_one_thread_keeps_the_rest():
    given = {"HOME": "/here", "XLA_FLAGS": "--xla_flag=1", "OMP_NUM_THREADS": "8"}
    made = one_thread(given)
    assert made["HOME"] == "/here" and made["OMP_NUM_THREADS"] == "1" and len(made) == 5
    assert made["XLA_FLAGS"] == "--xla_flag=1 --xla_cpu_multi_thread_eigen=false"
