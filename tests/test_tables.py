"""Initial values from tables: they are interpolated, and by how much that is off is known."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import tengbc as tb
from tengbc.errors import ProblemError
from tengbc.options import options
from tengbc.solver.examine import examine

LINE, SQUARE = tb.Interval(0.0, 1.0), tb.Rectangle((0.0, 0.0), (2.0, 1.0))
RNG = np.random.default_rng(3)


def stated(domain, initial, **more):
    conditions = {name: tb.Dirichlet(0.0) for name in domain.segments}
    return tb.Problem(domain, tb.Heat(0.1), conditions, initial, t_end=0.2, **more)


def wave(x):
    """sin πx, in the plane sin (πx/2) sin πy; it decays as an exponential."""
    x = np.asarray(x, float)
    if x.shape[-1] == 1:
        return np.sin(np.pi * x[..., 0])
    return np.sin(np.pi * x[..., 0] / 2) * np.sin(np.pi * x[..., 1])


def grid(domain, *counts):
    axes = [np.linspace(a, b, n) for a, b, n in zip(*domain.bounds, counts, strict=True)]
    return axes, np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)


def some_points(domain, count):
    return domain.bounds[0] + (domain.bounds[1] - domain.bounds[0]) * RNG.random(
        (count, domain.dim)
    )


def as_array(domain, *counts):
    return wave(grid(domain, *counts)[1])


def as_pairs(domain, *counts):
    x = grid(domain, *counts)[1].reshape(-1, domain.dim)
    order = RNG.permutation(len(x))
    return x[order], wave(x[order])


def as_data_array(domain, *counts):
    xarray = pytest.importorskip("xarray")
    axes, x = grid(domain, *counts)
    names = ["x", "y"][: domain.dim]
    data = xarray.DataArray(wave(x), dict(zip(names, axes, strict=True)), names)
    return data.transpose(*reversed(names)).isel({names[-1]: slice(None, None, -1)})


@pytest.mark.parametrize("form", [as_array, as_pairs, as_data_array])
@pytest.mark.parametrize(("domain", "counts"), [(LINE, (41,)), (SQUARE, (41, 31))])
def test_every_form_gives_the_same_values_within_the_stated_error(form, domain, counts):
    problem = stated(domain, form(domain, *counts))
    x = some_points(domain, 200)
    off = np.sqrt(np.mean((problem.initial(x) - wave(x)) ** 2) / np.mean(wave(x) ** 2))
    assert problem.initial_table is not None
    assert off < 3 * problem.initial_table.error < 100 * off + 1e-12
    assert off < 1e-6


@pytest.mark.parametrize("domain", [LINE, SQUARE])
def test_splines_have_order_six(domain):
    x = some_points(domain, 300)
    offs = []
    for count in (13, 25, 49):
        problem = stated(domain, as_array(domain, *[count] * domain.dim))
        offs.append(np.abs(problem.initial(x) - wave(x)).max())
    rates = np.log2(np.array(offs[:-1]) / offs[1:])
    assert (rates > 5.3).all()


def test_a_table_that_jumps_is_not_said_to_be_known():
    values = (np.linspace(0, 1, 41) > 0.5).astype(float)
    table = stated(LINE, values).initial_table
    assert table is not None and 0.03 < table.error < 0.3


def test_scattered_points():
    x = np.concatenate([some_points(SQUARE, 400), SQUARE.boundary("left", 40).x])
    problem = stated(SQUARE, (x, wave(x)))
    inside = some_points(SQUARE, 300)
    off = np.sqrt(np.mean((problem.initial(inside) - wave(inside)) ** 2) / np.mean(wave(x) ** 2))
    assert off < 0.01 and problem.initial_table is not None
    assert off < problem.initial_table.error < 30 * off
    assert "440 values at points" in problem.explain()


def test_a_table_is_solved():
    problem = stated(SQUARE, as_array(SQUARE, 41, 31))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solution = tb.solve(problem, rtol=1e-5)
    x = some_points(SQUARE, 100)
    decay = np.exp(-0.1 * np.pi**2 * 1.25 * 0.2)
    assert np.abs(solution(x, 0.2) - decay * wave(x)).max() < 1e-5


def test_a_solution_begins_where_another_ended():
    """What one solution exports another takes, NaN outside the domain too."""
    pytest.importorskip("xarray")
    disk = tb.Disk(1.0)
    first = tb.solve(
        tb.Problem(
            disk,
            tb.Heat(0.1),
            {"circle": tb.Neumann(0.0)},
            lambda x: x[0] * (1 - x[0] ** 2 - x[1] ** 2) ** 2,
        ),
        0.1,
        rtol=1e-3,
        throw=False,
    )
    field = first.to_xarray(81, [0.1]).u
    again = tb.Problem(disk, tb.Heat(0.1), {"circle": tb.Neumann(0.0)}, field)
    x = disk.interior(200).x
    assert np.abs(again.initial(x) - first(x, 0.1)).max() < 1e-3


def test_systems_and_periodic_boxes():
    values = np.stack([as_array(LINE, 31), 2 * as_array(LINE, 31)], axis=1)
    problem = stated(LINE, values)
    assert problem.shape == (2,)
    np.testing.assert_allclose(
        problem.initial([0.3]), np.array([1, 2]) * np.sin(0.3 * np.pi), atol=1e-7
    )
    assert problem.initial(np.full((40, 1), 0.3)).shape == (40, 2)
    box = tb.PeriodicBox((0.0,), (1.0,))
    x = np.linspace(0, 1, 33)
    for given in (np.cos(2 * np.pi * x), np.cos(2 * np.pi * x)[:-1]):  # with its end or without
        around = tb.Problem(box, tb.Heat(0.1), {}, given)
        for at in (0.0, 0.01, 0.99, 0.5):
            assert around.initial([at]) == pytest.approx(np.cos(2 * np.pi * at), abs=1e-6)


def test_numbers_are_still_numbers():
    assert stated(LINE, [1.0, 2.0]).shape == (2,)
    assert stated(LINE, (1.0, 2.0)).initial_table is None
    assert stated(SQUARE, np.ones(3)).shape == (3,)


def test_copies_have_the_table():
    problem = stated(LINE, as_array(LINE, 41))
    for other in (copy.deepcopy(problem), pickle.loads(pickle.dumps(problem))):
        assert other.initial([0.3]) == problem.initial([0.3])
        assert other.initial_table is not None


def test_what_a_table_leaves_open_is_said():
    coarse = stated(LINE, as_array(LINE, 13))
    said = {finding.level: finding.text for finding in examine(coarse, options(rtol=1e-9))}
    assert "initial is a table of 13 values on a grid" in said["warning"]
    assert "where 1e-09 is asked for" in said["warning"]
    fine = [f.text for f in examine(coarse, options(rtol=1e-2)) if f.level == "note"]
    assert any("known to about" in text for text in fine)
    assert not any("not written with jax.numpy" in text for text in fine)


@pytest.mark.parametrize(
    ("domain", "initial", "words"),
    [
        (SQUARE, np.ones((5, 5, 2, 2)), "has 2 axes"),
        (SQUARE, np.ones((2, 9)), "say too little"),
        (LINE, np.where(np.arange(20) == 7, np.nan, 1.0), "not finite"),
        (LINE, (np.linspace(0, 0.5, 20), np.ones(20)), "known from 0 to 0.5"),
        (LINE, (np.linspace(0, 1, 20), np.ones(19)), "one value"),
        (LINE, (np.array([0.0, 0.5, 0.5, 1.0, 0.7]), np.ones(5)), "two values at one point"),
        (SQUARE, (np.array([[0.0, 0.0], [1.0, 0.7], [2.0, 1.0]]), np.ones(3)), "say too little"),
    ],
)
def test_tables_that_cannot_be(domain, initial, words):
    with pytest.raises(ProblemError, match=words):
        stated(domain, initial)


def test_data_arrays_that_cannot_be():
    xarray = pytest.importorskip("xarray")
    data = xarray.DataArray(np.ones((3, 20)), {"x": np.linspace(0, 1, 20)}, ("time", "x"))
    with pytest.raises(ProblemError, match="choose one time"):
        stated(LINE, data)
    with pytest.raises(ProblemError, match="choose one variable"):
        stated(LINE, data.to_dataset(name="u"))
    assert stated(LINE, data.isel(time=0)).initial([0.5]) == pytest.approx(1.0)
