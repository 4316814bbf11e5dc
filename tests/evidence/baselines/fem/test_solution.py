"""Evaluation: exact for quadratics, on the boundary too, and only at stored times and points."""

import numpy as np
import pytest

import tengbc as tb

skfem = pytest.importorskip("skfem")

from tengbc.evidence.baselines.fem import FemSolution, solve_fem  # noqa: E402
from tengbc.evidence.baselines.fem.locate import interpolation, locate  # noqa: E402
from tengbc.evidence.baselines.fem.meshes import build_mesh  # noqa: E402
from tengbc.evidence.baselines.fem.solve import Outputs  # noqa: E402

HOLED = tb.Polygon([(0, 0), (3, 0), (2, 2)], holes=[[(1, 0.4), (1.9, 0.4), (1.8, 1.0)]])
DOMAINS = (
    tb.Disk(1.0),
    tb.Disk(100.0, (1e3, -50.0)),
    tb.Annulus(0.2, 1.0),
    tb.AnnularSector(0.5, 1.0, 0.3, 2.5),
    tb.Rectangle((0.0, 0.0), (2.0, 1.0)),
    HOLED,
)


def heat(domain, **more):
    conditions = {segment: tb.Neumann(0.0) for segment in domain.segments}
    return tb.Problem(domain, tb.Heat(0.1), conditions, initial=lambda x: x[0], t_end=1.0, **more)


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_linear_functions_are_evaluated_exactly_everywhere(domain):
    """Curved cells hold linear functions of x exactly, so any wrong cell or place would show."""
    mesh = build_mesh(domain, 9)
    boundary = [domain.boundary(name, 57).x for name in domain.segments]
    points = np.concatenate([domain.interior(n=500).x, domain.evaluation_grid(23), *boundary])
    linear = lambda x: 2 * x[:, 0] - 3 * x[:, 1] + 1
    found = interpolation(mesh, points) @ linear(mesh.nodes)
    np.testing.assert_allclose(found, linear(points), rtol=0, atol=1e-9 * domain.scale)


def test_quadratics_are_evaluated_exactly_in_straight_cells():
    mesh = build_mesh(HOLED, 7)
    points = HOLED.interior(n=300).x
    quadratic = lambda x: 2 * x[:, 0] ** 2 - x[:, 0] * x[:, 1] + x[:, 1]
    found = interpolation(mesh, points) @ quadratic(mesh.nodes)
    np.testing.assert_allclose(found, quadratic(points), rtol=0, atol=1e-12)


def test_points_on_the_boundary_find_a_cell_beside_it():
    """The curved cells cover the disk up to 4th order only: the rim lies a little outside them."""
    mesh = build_mesh(tb.Disk(), 12)
    rim = tb.Disk().boundary("circle", 1000).x
    _, places = locate(mesh, rim)
    assert places.min() > -1e-3 and places.sum(axis=1).max() < 1 + 1e-3
    values = interpolation(mesh, rim) @ np.sum(mesh.nodes**2, axis=1)
    np.testing.assert_allclose(values, 1.0, rtol=0, atol=2e-4)


def test_nodes_give_back_their_own_values():
    mesh = build_mesh(tb.AnnularSector(0.5, 1.0, 0.0, 2.0), 10)
    identity = interpolation(mesh, mesh.nodes).toarray()
    np.testing.assert_allclose(identity, np.eye(mesh.unknowns), rtol=0, atol=1e-9)


def test_periodic_points_are_wrapped():
    problem = tb.Problem(
        tb.PeriodicBox((0.0, 0.0), (2.0, 1.0)),
        tb.Heat(0.01),
        {},
        initial=lambda x: (x[0] - 1) ** 2,
        t_end=0.1,
    )
    solution = solve_fem(problem, resolution=8, dt=0.05, times=[0.0, 0.1])
    x = np.array([[0.3, 0.4], [2.0, 1.0], [0.0, 0.0]])
    for t in (0.0, 0.1):
        shifted = solution(x + np.array([4.0, -3.0]), t)
        np.testing.assert_allclose(shifted, solution(x, t), rtol=0, atol=1e-12)


@pytest.fixture(scope="module")
def solution() -> FemSolution:
    return solve_fem(heat(tb.Disk()), resolution=8, dt=0.1, times=[0.0, 0.25, 1.0])


def test_one_point_or_many(solution):
    x = np.array([[0.1, 0.2], [0.3, -0.4]])
    many = solution(x, 0.25)
    assert many.shape == (2,)
    assert solution(x[0], 0.25) == many[0]
    assert solution.unknowns == solution.values.shape[1] == 217
    assert set(solution.seconds) == {"compile", "mesh", "assemble", "factorise", "march"}
    assert solution.total_seconds > 0


def test_the_matrix_of_a_set_of_points_is_made_once(solution, monkeypatch):
    calls = []
    monkeypatch.setattr(
        "tengbc.evidence.baselines.fem.solution.interpolation",
        lambda mesh, x: calls.append(len(x)) or interpolation(mesh, x),
    )
    x = np.array([[0.5, 0.5], [0.0, 0.1]])
    for t in solution.times:
        solution(x.copy(), t)
    assert calls == [2]


def test_other_times_and_points_outside_are_refused(solution):
    with pytest.raises(tb.OutsideError, match=r"no values at t = 0\.3"):
        solution(np.zeros((1, 2)), 0.3)
    with pytest.raises(tb.OutsideError, match="outside the domain"):
        solution(np.array([[1.0, 0.1]]), 1.0)
    with pytest.raises(tb.UsageError, match="shape"):
        solution(np.zeros((1, 3)), 1.0)


def test_outputs_between_steps_are_interpolated():
    """A quintic in time passes through six steps exactly; outputs on steps are not touched."""
    curve = lambda t: np.array([t**5 - t, 1.0 + t])
    times = np.array([0.0, 0.03, 0.25, 0.3, 0.77, 0.99, 1.0])
    outputs = Outputs(times, 2)
    for n in range(11):
        outputs.take(n / 10, curve(n / 10), last=n == 10)
    np.testing.assert_allclose(outputs.values, np.stack([curve(t) for t in times]), atol=1e-13)
    assert (outputs.values[3] == curve(0.3)).all()


@pytest.mark.parametrize(
    "times", [[], [0.5, 0.2], [-0.1, 0.5], [0.5, 1.5], [0.1, 0.1], [0.0, np.nan]]
)
def test_times_must_ascend_within_the_march(times):
    with pytest.raises(tb.UsageError, match="times must ascend"):
        solve_fem(heat(tb.Disk()), resolution=4, dt=0.5, times=times)
