"""What other programs read is what solution(x, t) gives, to the last bit."""

import csv
import json

import numpy as np
import pytest
import pyvista
import xarray

import tengbc as tb
from tengbc.errors import OutputError, OutsideError, UsageError
from tengbc.export.files import read_points
from tengbc.export.vtk import cells
from tests.given import given, monomials

TIMES = [0.0, 1 / 3, 1.0]


@pytest.fixture(scope="module")
def system():
    return given(tb.Annulus(0.5, 1.0), monomials, [[3.0, 0.0], [0.1, 1.0]], components=2)


def test_a_grid(robin):
    data = robin.to_xarray(21, TIMES)
    assert data.u.dims == ("time", "x", "y") and data.u.shape == (3, 21, 21)
    x = np.stack(np.meshgrid(data.x, data.y, indexing="ij"), axis=-1).reshape(-1, 2)
    inside = robin.problem.domain.contains(x)
    for index, t in enumerate(TIMES):
        values = data.u[index].values.ravel()
        np.testing.assert_array_equal(values[inside], robin(x[inside], t))
        assert np.isnan(values[~inside]).all()
    assert data.attrs["title"] == "heat-robin" and data.attrs["equation"] == "∂ₜu = 0.1·∇²u"
    assert data.attrs["relative_error_estimate"] == robin.error_estimate.max()
    assert data.u.units == "1" and data.u.sel(x=0, y=0, time=1, method="nearest").ndim == 0


def test_points_axes_and_systems(system):
    points = system.problem.domain.interior(7).x
    data = system.to_xarray(points, TIMES)
    assert data.u.dims == ("time", "point", "component")
    np.testing.assert_array_equal(data.u[1], system(points, 1 / 3))
    np.testing.assert_array_equal(data.y, points[:, 1])
    axes = (np.array([0.6, 0.7]), np.array([0.0, 0.1, 0.2]))
    data = system.to_xarray(axes)
    assert data.u.shape == (3, 2, 3, 2) and data.sizes["time"] == 3
    np.testing.assert_array_equal(data.u[2, 1, 2], system([[0.7, 0.2]], 1.0)[0])
    with pytest.raises(OutsideError):
        system.to_xarray(np.zeros((1, 2)))


@pytest.mark.usefixtures("wrong_types")
def test_what_is_neither_points_nor_axes(system):
    pairs = [(0.7, 0.1), (0.6, 0.5)]  # points, which must not pass for axes
    for wrong in (1, True, 3.0, "grid", [1.0, 2.0], (np.zeros(3),), np.zeros((2, 3)), pairs):
        with pytest.raises(UsageError):
            system.to_xarray(wrong)


@pytest.mark.parametrize("form", ["netcdf", "zarr"])
@pytest.mark.parametrize("which", ["robin", "system"])
def test_xarray_reads_what_was_written(form, which, tmp_path, request):
    u = request.getfixturevalue(which)
    path = u.export(tmp_path / "u.nc", form, where=11, times=TIMES)
    path = u.export(tmp_path / "u.nc", form, where=11, times=TIMES)  # and over the old one
    open_dataset = xarray.open_dataset if form == "netcdf" else xarray.open_zarr
    with open_dataset(path) as data:
        xarray.testing.assert_identical(data.load(), u.to_xarray(11, TIMES))
    assert [file.name for file in tmp_path.iterdir()] == ["u.nc"]


@pytest.mark.parametrize(
    "domain",
    [
        tb.Disk(),
        tb.Polygon([(0, 0), (3, 0), (3, 2), (0, 2)], holes=[[(1, 0.5), (2, 0.5), (1, 1.5)]]),
        tb.Rectangle().with_parts(door=("left", (0.2, 0.5))),
        tb.Interval(0.0, 1.0),
        tb.Box((0, 0, 0), (1, 2, 1)),
        tb.Ball(2.0),
        tb.PeriodicBox((0, 0), (1, 1)),
    ],
    ids=lambda domain: type(domain).__name__,
)
def test_vtk(domain, tmp_path):
    u = given(domain, monomials, [1.0, 0.3])
    path = u.export(tmp_path / "u.pvd", "vtk", where=12, times=TIMES)
    reader = pyvista.get_reader(path)
    assert reader.time_values == TIMES
    points, _ = cells(domain, 12)
    for index, t in enumerate(TIMES):
        reader.set_active_time_point(index)
        mesh = reader.read()[0]
        np.testing.assert_array_equal(mesh.points[:, : domain.dim], points)
        assert mesh.point_data["u"].dtype == np.float64
        np.testing.assert_array_equal(mesh.point_data["u"], u(points, t))
    sizes = mesh.compute_cell_sizes()
    measure = sum(np.abs(sizes[name]).sum() for name in ("Length", "Area", "Volume"))
    assert measure == pytest.approx(domain.measure, rel=0.05)
    assert measure <= domain.measure * (1 + 1e-9)  # cut at the boundary


def test_vtk_of_a_system(system, tmp_path):
    path = system.export(tmp_path / "u.pvd", "vtk", where=10, times=[0.5])
    mesh = pyvista.get_reader(path).read()[0]
    points = np.asarray(mesh.points)[:, :2]
    np.testing.assert_array_equal(mesh.point_data["u"], system(points, 0.5))


def test_csv_at_probe_points(system, tmp_path):
    points = system.problem.domain.interior(4).x
    path = system.export(tmp_path / "u.csv", "csv", where=points, times=TIMES)
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["time", "x", "y", "u1", "u2"] and len(rows) == 12
    found = np.array([[float(row[name]) for name in ("u1", "u2")] for row in rows])
    expected = np.concatenate([system(points, t) for t in TIMES])
    np.testing.assert_array_equal(found, expected)
    grid = system.export(tmp_path / "grid.csv", "csv", where=9, times=[0.0])
    assert "nan" not in grid.read_text()


def test_npz(robin, tmp_path):
    path = robin.export(tmp_path / "u.npz", "npz", where=9, times=TIMES)
    with np.load(path, allow_pickle=False) as data:
        np.testing.assert_array_equal(data["u"], robin.to_xarray(9, TIMES).u.values)
        np.testing.assert_array_equal(data["x"], np.linspace(-1, 1, 9))
        assert json.loads(str(data["attributes"]))["title"] == "heat-robin"


def test_points_from_a_file(tmp_path):
    path = tmp_path / "probes.csv"
    path.write_text("x,y\n0.1,0.2\n\n3e-1,-4\n")
    np.testing.assert_array_equal(read_points(path, 2), [[0.1, 0.2], [0.3, -4.0]])
    path.write_text("0.1,0.2\n0.3,oops\n")
    with pytest.raises(UsageError, match=r"Point 2 in .* is '0.3,oops', but a point"):
        read_points(path, 2)
    path.write_text("x,y\n")
    with pytest.raises(UsageError, match="holds no points"):
        read_points(path, 2)
    with pytest.raises(OutputError, match="cannot be read"):
        read_points(tmp_path, 2)


def test_a_directory_of_other_things_is_left_alone(system, tmp_path):
    """A Zarr store is a directory, and writing it again replaces it: only if it is one."""
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "thesis.tex").write_text("years of work")
    with pytest.raises(OutputError, match="holds other things"):
        system.export(tmp_path / "papers", "zarr", where=3)
    assert (tmp_path / "papers" / "thesis.tex").read_text() == "years of work"
    for _ in range(2):
        system.export(tmp_path / "u.zarr", "zarr", where=3)
    with pytest.raises(OutputError, match="is a directory"):
        system.save(".")


def test_what_cannot_be_written(system, tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="no format 'hdf'; choose one of netcdf"):
        system.export(tmp_path / "u", "hdf")
    with pytest.raises(UsageError, match="VTK files hold cells"):
        system.export(tmp_path / "u", "vtk", where=np.zeros((1, 2)))
    with pytest.raises(OutsideError):
        system.export(tmp_path / "u.nc", "netcdf", times=[2.0])
    for form in ("netcdf", "csv", "vtk"):
        with pytest.raises(OutputError, match="cannot be written"):
            system.export(tmp_path / "missing" / "u", form, where=3, times=[0.0])
    with pytest.raises(UsageError, match="export to netcdf or csv instead"):
        cells(tb.Box([0] * 4, [1] * 4))
    import sys

    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(UsageError, match=r"pip install 'tengbc\[export\]'"):
        system.to_xarray(3)
    assert list(tmp_path.iterdir()) == []
