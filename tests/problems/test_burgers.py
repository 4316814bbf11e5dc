"""The Burgers problem and its packaged reference values."""

import numpy as np
import pytest

from tengbc import problems
from tengbc.errors import UsageError


@pytest.fixture(scope="module")
def problem():
    return problems.get("burgers")


@pytest.fixture(scope="module")
def grids(problem):
    """Reference values by time on the 256 × 256 grid of [0, 2π)²."""
    return {t: problem.reference.values_at(t).reshape(256, 256) for t in problem.reference.times}


def test_initial_values_are_the_paper_s(problem):
    x = np.random.default_rng(0).uniform(0, 2 * np.pi, (1000, 2))
    a, b = 3 * np.sin(x[:, 0]), np.sin(x[:, 1])
    expected = (np.exp(a + b) + np.exp(-a + b) - np.exp(a - b) - np.exp(-a - b)) / 100
    np.testing.assert_allclose(problem.initial(x), expected, rtol=0, atol=1e-15)


def test_reference_starts_from_the_initial_values(problem):
    found = problem.reference.values_at(0.0)
    np.testing.assert_allclose(found, problem.initial(problem.reference.points), atol=1e-11)


def test_reference_covers_the_square_and_the_times(problem):
    reference = problem.reference
    assert reference.points.shape == (65536, 2)
    assert problem.domain.contains(reference.points).all()
    assert {0.0, 1.0, 2.0, 3.0, 4.0} <= set(reference.times)
    assert np.isfinite(reference.samples).all()
    assert "4096" in reference.source


def test_reference_has_the_symmetries_of_the_solution(grids):
    for u in grids.values():
        np.testing.assert_array_equal(u[128:], u[:128])
        np.testing.assert_array_equal(np.roll(u[::-1, ::-1], 1, axis=(0, 1)), -u)


def test_reference_solves_the_equation(problem, grids):
    """A small Fourier solver, written here, goes from the initial values to the same numbers.

    One period, 128 × 256 points, suffices while the solution is smooth.
    """
    wave1 = 2j * np.fft.fftfreq(128, 1 / 128)[:, None]  # the period along x₁ is π
    wave2 = 1j * np.arange(129)[None]
    kept = (np.abs(wave1) < 2 * 128 / 3) & (np.abs(wave2) < 256 / 3)

    def rate(modes):
        u, slope = np.fft.irfft2(modes), np.fft.irfft2((wave1 + wave2) * modes)
        return kept * -np.fft.rfft2(u * slope) + 1e-3 * (wave1**2 + wave2**2) * modes

    modes, dt = np.fft.rfft2(grids[0.0][:128]), 0.0125
    for _ in range(40):
        k1 = rate(modes)
        k2 = rate(modes + dt / 2 * k1)
        k3 = rate(modes + dt / 2 * k2)
        k4 = rate(modes + dt * k3)
        modes = modes + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    expected, found = np.fft.irfft2(modes), grids[0.5][:128]
    assert np.linalg.norm(found - expected) <= 1e-8 * np.linalg.norm(expected)


def test_energy_falls(grids):
    energies = [np.mean(u**2) for u in grids.values()]
    assert np.all(np.diff(energies) < 0)


def test_there_is_no_formula_for_the_solution(problem):
    with pytest.raises(UsageError, match="reference"):
        problem.exact(np.zeros(2), 1.0)
