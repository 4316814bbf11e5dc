"""Tableaux: the order conditions, and a factorisation that serves every stage."""

import numpy as np
import pytest

from tengbc.errors import UsageError
from tengbc.evidence.baselines.fem.schemes import SCHEMES, FemScheme, choose_scheme


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_order_conditions(scheme):
    a, c = scheme.implicit, scheme.nodes
    b = a[-1]
    defects = {1: [b.sum() - 1], 2: [b @ c - 1 / 2], 3: [b @ c**2 - 1 / 3, b @ a @ c - 1 / 6]}
    defects[4] = [
        b @ c**3 - 1 / 4,
        (b * c) @ (a @ c) - 1 / 8,
        b @ a @ c**2 - 1 / 12,
        b @ a @ a @ c - 1 / 24,
    ]
    for order in range(1, scheme.order + 1):
        np.testing.assert_allclose(defects[order], 0.0, atol=1e-14)
    assert scheme.order == 4 or np.abs(defects[scheme.order + 1]).max() > 1e-3


@pytest.mark.parametrize("name", ["ars222", "ark4"])
def test_both_parts_of_a_pair_work_together(name):
    """Every order condition in which the implicit and the explicit coefficients can mix."""
    scheme = SCHEMES[name]
    a, c = (scheme.implicit, scheme.explicit), scheme.nodes
    weights = (scheme.implicit[-1], a[1][-1] if scheme.weights is None else scheme.weights)
    for b in weights:
        assert b @ c == pytest.approx(1 / 2, abs=1e-14)
        if scheme.order == 4:
            defects = [b @ c**2 - 1 / 3, b @ c**3 - 1 / 4]
            for first in a:
                defects += [b @ first @ c - 1 / 6, b @ first @ c**2 - 1 / 12]
                defects += [(b * c) @ first @ c - 1 / 8]
                defects += [b @ first @ second @ c - 1 / 24 for second in a]
            np.testing.assert_allclose(defects, 0.0, atol=1e-14)


@pytest.mark.parametrize("name", ["tr-bdf2", "ark4", "ars222"])
def test_stiff_modes_are_damped(name):
    """R(z) → 0 as z → −∞; Crank–Nicolson's tends to −1."""
    a = SCHEMES[name].implicit
    assert abs(_amplification(a, -1e8)) < 1e-6
    assert _amplification(SCHEMES["crank-nicolson"].implicit, -1e8) == pytest.approx(-1, abs=1e-6)


def _amplification(a, z):
    """The last stage of U = 1 + z A U."""
    return np.linalg.solve(np.eye(len(a)) - z * a, np.ones(len(a)))[-1]


def test_a_tableau_that_contradicts_itself_is_refused():
    with pytest.raises(AssertionError):
        FemScheme("wrong", 2, np.array([[0, 0], [0.4, 0.6]]))


def test_choice_of_scheme():
    assert choose_scheme(None, nonlinear=False).name == "tr-bdf2"
    assert choose_scheme(None, nonlinear=True).name == "ars222"
    with pytest.raises(UsageError, match="choose one of"):
        choose_scheme("rk4", nonlinear=False)
    with pytest.raises(UsageError, match="for linear problems"):
        choose_scheme("tr-bdf2", nonlinear=True)
