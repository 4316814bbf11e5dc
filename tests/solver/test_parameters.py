"""Numbers of problems: families of solutions, and numbers found from measurements."""

import matplotlib
import numpy as np
import pytest

import tengbc as tb
from benchmarks.fit import START, TIMES, TRUE, measured, truth, wall
from tengbc.errors import DivergedError, UsageError
from tengbc.solver.parameters import _standard_errors
from tengbc.timing import compile_clock

pytestmark = pytest.mark.filterwarnings("ignore:initial values")
X = np.array([[0.2], [0.7]])


@pytest.fixture(scope="module")
def exact():
    with pytest.warns(UserWarning, match="initial values"):
        return truth("wall")


@pytest.fixture(scope="module")
def found(exact):
    return tb.fit(wall, measured("wall", 3, exact), {"kappa": 0.15, "h": 0.07})


def test_a_family_is_solved_and_nothing_is_compiled_twice():
    sets = [{"kappa": 0.1, "h": 0.05}, {"h": 0.1, "kappa": 0.2}, (0.3, 0.05)]
    first, *others = tb.solve_many(wall, sets[:1], 0.2, rtol=1e-3)
    before = compile_clock.programs
    others = tb.solve_many(wall, sets[1:], 0.2, rtol=1e-3)
    assert compile_clock.programs == before
    alone = tb.solve(wall(0.3, 0.05), 0.2, rtol=1e-3)
    np.testing.assert_array_equal(others[1](X, 0.2), alone(X, 0.2))
    assert not np.allclose(others[0](X, 0.2), first(X, 0.2), rtol=1e-3)


def test_numbers_are_found_with_their_intervals(found, exact):
    for name, (low, high) in found.intervals.items():
        assert low < TRUE[name] < high and high - low < 0.25 * TRUE[name]
        assert low < found.values[name] < high
    assert found.noise == pytest.approx(0.01 * np.sqrt(np.mean(exact**2)), rel=0.15)
    assert all(found.solver_errors[name] < 0.2 * found.errors[name] for name in TRUE)
    assert not found.undetermined and "kappa = " in str(found) and "± " in str(found)
    assert found.solution.problem.equation.kappa.value == found.values["kappa"]


@pytest.mark.long
def test_the_standard_errors_are_those_of_the_linear_theory(found):
    """s²(JᵀJ)⁻¹ with J from differences three times as large, of finer solutions."""
    best, columns = found.values, []
    values = lambda numbers: tb.solve(wall(**numbers), rtol=1e-8, throw=False).at_times(
        np.array([0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97]), TIMES
    )
    for name in best:
        step = 0.03 * best[name]
        ends = [values({**best, name: best[name] + side * step}) for side in (1, -1)]
        columns.append((ends[0] - ends[1]).ravel() / (2 * step))
    slopes = np.stack(columns, axis=1)
    s2 = found.residual @ found.residual / (len(found.residual) - 2)
    errors = np.sqrt(np.diagonal(s2 * np.linalg.inv(slopes.T @ slopes)))
    np.testing.assert_allclose(list(found.errors.values()), errors, rtol=5e-3)


@pytest.mark.long
def test_without_noise_the_numbers_are_exact(exact):
    found = tb.fit(wall, (X_SENSORS, TIMES, exact), {"kappa": 0.12, "h": 0.04}, rtol=1e-6)
    for name, value in TRUE.items():
        assert found.values[name] == pytest.approx(value, rel=1e-4)


X_SENSORS = np.array([0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97])


def test_what_the_data_cannot_determine_is_said(exact):
    """Only the product a·b is seen."""
    found = tb.fit(
        lambda a, b: wall(a * b, 0.05),
        measured("wall", 0, exact),
        {"a": 0.5, "b": 0.25},
        rtol=1e-3,
    )
    assert "a, b one by one" in found.undetermined and found.undetermined in str(found)
    assert found.values["a"] * found.values["b"] == pytest.approx(0.1, rel=0.1)


def test_the_picture(found):
    matplotlib.use("Agg")
    left, right = found.plot()
    assert left.get_xlabel() == "computed" and right.get_xlabel() == "t"
    np.testing.assert_array_equal(right.lines[-1].get_ydata(), found.residual)


@pytest.mark.usefixtures("wrong_types")
@pytest.mark.parametrize(
    "data, message",
    [
        ((X, [0.1, 0.2, 0.3], [1.0, 2.0]), "as many of each"),
        ((X, [0.1, 0.2], [1.0, np.nan]), "not finite"),
        ((X, [0.1, 0.2], [1.0, 2.0]), "cannot tell 2 numbers"),
        (X, "points, times, values"),
    ],
)
def test_data_that_do_not_fit_are_refused(data, message):
    with pytest.raises(UsageError, match=message):
        tb.fit(wall, data, START)


def test_numbers_that_nothing_holds_back_are_not_given_an_interval(exact):
    """Early, and far from the cooled side, nobody can tell how it is cooled."""
    x, times, values = measured("wall", 1, exact)
    with pytest.raises(DivergedError, match="The data do not determine h"):
        tb.fit(wall, (x[:2], times[:4], values[:4, :2]), {"kappa": 0.2, "h": 0.1}, rtol=1e-4)


def test_standard_errors_bear_any_scale():
    """s² (JᵀJ)⁻¹ changes with the units of a number, and is infinite where it is not seen."""
    rng = np.random.default_rng(5)
    slopes, left = rng.normal(size=(30, 2)), rng.normal(size=30)
    plain = np.sqrt(left @ left / 28 * np.diagonal(np.linalg.inv(slopes.T @ slopes)))
    np.testing.assert_allclose(_standard_errors(slopes, left), plain, rtol=1e-12)
    units = np.array([1.0, 1e-12])
    np.testing.assert_allclose(_standard_errors(slopes * units, left), plain / units, rtol=1e-9)
    blind = _standard_errors(slopes * np.array([1.0, 0.0]), left)
    assert np.isfinite(blind[0]) and np.isinf(blind[1])
