"""Any matrix and any right-hand side: an answer that is one, or an error of ours."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tengbc.lstsq import least_squares, method_names
from tests.fuzz.allowed import bounded

EPS = np.finfo(float).eps
# Numbers of every size, and those that make trouble: equal ones, zeros, NaN, infinity.
numbers = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 1e-300, 5e-324, 1e300, np.finfo(float).max, np.nan, np.inf]),
    st.floats(-1e3, 1e3),
    st.floats(),
)
usual = st.sampled_from([0.0, 1.0, -1.0, 2.0, 1e-9, 1e9, 1e-160, 1e160])


@st.composite
def systems(draw):
    """A and b, mostly of shapes that fit; entries from few values make many dependent columns."""
    m, n = draw(st.integers(0, 9)), draw(st.integers(0, 9))
    entries = draw(st.sampled_from([numbers, usual]))
    matrix = draw(arrays.arrays(float, (m, n), elements=entries))
    rows = m if draw(st.integers(0, 9)) else draw(st.integers(0, 9))
    return matrix, draw(arrays.arrays(float, (rows,), elements=entries))


cutoffs = st.none() | st.sampled_from([0.0, 1e-15, 1e-6, 0.5, 1.0, 2.0])


@given(systems(), st.sampled_from([*method_names(), "lu"]), cutoffs)
@example((np.zeros((3, 3)), np.ones(3)), "cholesky", None)
@example((np.full((2, 2), 5e-324), np.full(2, 1e308)), "svd", None)
@example((np.full((4, 2), 1e308), np.full(4, 1e308)), "qr", 0.0)
def test_any_system(system, method, cutoff):
    matrix, b = system
    kept = matrix.copy(), b.copy()
    with np.errstate(all="ignore"):
        found = bounded(lambda: least_squares(matrix, b, method=method, cutoff=cutoff))
    np.testing.assert_array_equal(matrix, kept[0])
    np.testing.assert_array_equal(b, kept[1])
    if found is None:
        return
    assert np.isfinite(found.x).all() and found.x.shape == (matrix.shape[1],)
    assert np.isfinite(found.residual) and 0 <= found.rank <= min(matrix.shape)
    assert found.outcome == "solved" or found.outcome.startswith("fell back to ")
    # No answer is worse than x = 0, which is always to be had.
    size = np.abs(b).max(initial=0.0) or 1.0
    assert found.residual / size <= np.linalg.norm(b / size) * (1 + 1e-6) + 1e-300


@given(st.one_of(st.none(), st.text(), st.lists(numbers, max_size=3), st.integers(), numbers))
def test_what_is_no_matrix(thing):
    bounded(lambda: least_squares(thing, np.ones(2)))
    bounded(lambda: least_squares(np.eye(2), thing))
