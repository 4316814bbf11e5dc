"""P9: any finite matrix and any right-hand side, and an answer that is one."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tengbc.lstsq import ConjugateGradients, RegularisedQR, spectrum

# Numbers of every size, and those that make trouble: equal ones, zeros, the largest, the smallest.
LARGEST = np.finfo(float).max
numbers = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 1e-300, 5e-324, 1e300, LARGEST]),
    st.floats(-1e3, 1e3),
    st.floats(allow_nan=False, allow_infinity=False),
)
usual = st.sampled_from([0.0, 1.0, -1.0, 2.0, 1e-9, 1e9, 1e-160, 1e160])
EQUAL = (np.zeros((3, 3)), np.ones(3))
TINY = (np.full((2, 2), 5e-324), np.full(2, 1e308))
HUGE = (np.full((4, 2), 1e308), np.full(4, 1e308))


@st.composite
def systems(draw, imaginary=False):
    """A and b; entries from few values make many dependent columns."""
    m, n = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    entries = draw(st.sampled_from([numbers, usual]))

    def array(*shape):
        real = draw(arrays.arrays(float, shape, elements=entries))
        return (
            real + 1j * draw(arrays.arrays(float, shape, elements=entries)) if imaginary else real
        )

    return array(m, n), array(m)


def shift(array, exponent):
    """array · 2ᵏ, real or complex."""
    real = np.ldexp(array.real, exponent)
    return real + 1j * np.ldexp(array.imag, exponent) if np.iscomplexobj(array) else real


def exponent_of(array):
    return int(np.frexp(max(np.abs(array.real).max(), np.abs(array.imag).max()))[1])


def check(system, solve):
    """No NaN, nothing changed, and never worse than x = 0, which is always to be had."""
    matrix, b = system
    kept = matrix.copy(), b.copy()
    x = solve(matrix, b)
    np.testing.assert_array_equal(matrix, kept[0])
    np.testing.assert_array_equal(b, kept[1])
    assert x.shape == (matrix.shape[1],) and not np.isnan(x).any()
    # Sizes are taken out as powers of two, so that this test cannot overflow.
    e, e_right = exponent_of(matrix), exponent_of(b)
    with np.errstate(all="ignore"):
        y = shift(x, e - e_right)
    if np.isfinite(y).all() and np.isfinite(x).all() and np.abs(x).min() > 1e-290:
        right = shift(b, -e_right)
        left = np.linalg.norm(right - shift(matrix, -e) @ y)
        # A rounding of x, of size up to |b|/λ, may show in the residual.
        assert left <= np.linalg.norm(right) * (1 + 1e-1) + 1e-300


@given(
    systems(),
    st.sampled_from([spectrum, ConjugateGradients]),
    st.sampled_from([1e-9, 1e-6, 0.5, 1.0, 2.0]),
)
@example(EQUAL, ConjugateGradients, 1e-6)
@example(TINY, spectrum, 1e-6)
@example(HUGE, ConjugateGradients, 1e-6)
def test_any_system_cut_off(system, method, cutoff):
    def solve(matrix, b):
        found = method(np.ascontiguousarray(matrix.T), b).solve(cutoff)
        assert not np.isnan(found.residual) and 0 <= found.rank <= matrix.shape[1]
        assert found.condition >= 1
        return found.x

    check(system, solve)


@given(systems() | systems(imaginary=True), st.sampled_from([1e-13, 1e-9, 1.0]), st.booleans())
@example(EQUAL, 1e-13, False)
@example(TINY, 1e-13, True)
@example(HUGE, 1e-13, False)
def test_any_system_damped(system, damping, explicit):
    check(system, lambda matrix, b: RegularisedQR(matrix, damping, explicit).solve(b))
