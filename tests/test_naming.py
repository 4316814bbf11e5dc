"""Components have names and units, wherever they are shown."""

import csv
import pickle

import jax.numpy as jnp
import matplotlib
import numpy as np
import pytest

import tengbc as tb
from tengbc.errors import ProblemError, UsageError
from tengbc.naming import naming

matplotlib.use("Agg")
NAMES, UNITS = ("temperature", "concentration"), {"temperature": "K", "x": "m", "t": "s"}


def stated(**more):
    """Two fields that decay at their own speeds, e⁻ᵗ and e⁻²ᵗ."""
    return tb.Problem(
        tb.Interval(0.0, 1.0),
        tb.Equation(lambda u, x, t: jnp.array([0.1, 0.2]) * tb.laplacian(u)(x) - u(x)),
        {"left": tb.Neumann(0.0), "right": tb.Neumann(0.0)},
        [2.0, 3.0],
        **more,
    )


@pytest.fixture(scope="module")
def solution():
    return tb.solve(stated(names=NAMES, units=UNITS), 0.5, rtol=1e-6)


def test_a_component_by_its_name(solution):
    x = np.linspace(0, 1, 5)
    both, second = solution(x, 0.5), solution["concentration"]
    np.testing.assert_array_equal(second(x, 0.5), both[:, 1])
    np.testing.assert_array_equal(solution[0](x, 0.5), both[:, 0])
    np.testing.assert_array_equal(
        second.at_times(x, [0.1, 0.5]), solution.at_times(x, [0.1, 0.5])[..., 1]
    )
    assert second(x) == pytest.approx(3 * np.exp(-0.5), rel=1e-5)  # without a time: the end
    assert second.integral([0.0, 0.5]) == pytest.approx([3.0, 3 * np.exp(-0.5)], rel=1e-5)
    assert second.gradient(x, 0.5).shape == (5, 1) and np.abs(second.gradient(x, 0.5)).max() < 1e-5
    assert second.flux("left", 0.5, diffusivity=[1.0, 5.0]) == pytest.approx(0.0, abs=1e-4)
    assert "concentration of" in repr(second)
    with pytest.raises(UsageError, match="its names are temperature, concentration"):
        solution["pressure"]
    with pytest.raises(UsageError, match="the field has 2"):
        solution[2]


def test_pictures_say_names_and_units(solution):
    axes = solution.plot(0.5)
    assert axes.get_xlabel() == "x₁ [m]"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "temperature [K], t = 0.5 s",
        "concentration, t = 0.5 s",
    ]
    alone = solution["temperature"].plot(0.5)
    assert alone.get_ylabel() == "temperature [K]" and alone.get_title() == "t = 0.5 s"
    assert solution.plot(0.5, component="concentration").get_ylabel() == "concentration"


def test_files_have_names_and_units(solution, tmp_path):
    data = solution.to_xarray(11, [0.5])
    assert set(data.data_vars) == set(NAMES) and data.temperature.attrs["units"] == "K"
    assert (data.x.attrs["units"], data.time.attrs["units"]) == ("m", "s")
    x = np.linspace(0, 1, 11)
    np.testing.assert_array_equal(data.concentration[0], solution["concentration"](x, 0.5))
    solution.export(tmp_path / "u.csv", "csv", where=3)
    rows = list(csv.DictReader((tmp_path / "u.csv").read_text().splitlines()))
    assert list(rows[0]) == ["time", "x", *NAMES]
    solution.export(tmp_path / "u.npz", "npz", where=3)
    assert set(NAMES) < set(np.load(tmp_path / "u.npz"))
    solution.export(tmp_path / "u.nc", "netcdf", where=3)


def test_vtk_has_names(solution, tmp_path):
    pyvista = pytest.importorskip("pyvista")
    solution.export(tmp_path / "u.pvd", "vtk", times=[0.5])
    (file,) = (tmp_path / "u").glob("*.vtu")
    assert set(pyvista.read(file).point_data.keys()) == set(NAMES)


def test_names_outlive_a_file_and_a_copy(solution, tmp_path):
    solution.save(tmp_path / "u.safetensors")
    back = tb.load(tmp_path / "u.safetensors")
    assert back.problem.naming == solution.problem.naming
    assert back["temperature"]([0.5], 0.5) == solution["temperature"]([0.5], 0.5)
    whole = tb.Problem(
        tb.Interval(0.0, 1.0),
        tb.Heat(0.1),
        {"left": tb.Neumann(0.0), "right": tb.Neumann(0.0)},
        1.0,
        names="temperature",
        units={"temperature": "K"},
    )
    assert pickle.loads(pickle.dumps(whole)).naming == whole.naming
    assert "temperature [K]" in whole.explain()


def test_the_balance_says_names(solution):
    assert "stored, temperature" in str(solution.balance())


def test_a_report_says_names(solution, tmp_path):
    text = tb.write_report(solution, tmp_path).read_text("utf-8")
    assert ">temperature [K]</option>" in text and '"x [m]"' in text and "time t [s]" in text


@pytest.mark.usefixtures("wrong_types")
@pytest.mark.parametrize(
    ("names", "units", "words"),
    [
        (("a",), None, "names has 1 entries, but the field has 2 components"),
        (("a", "a"), None, "one name twice"),
        (("a", "time"), None, "stands for something else"),
        (("a", ""), None, "a name is a word"),
        (("a", "b"), {"c": "m"}, "units says 'm' for 'c'"),
        (None, {"x": 1.0}, "it is text"),
    ],
)
def test_names_that_cannot_be(names, units, words):
    with pytest.raises(ProblemError, match=words):
        naming(names, units, 2)
