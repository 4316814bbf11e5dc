"""Patches in three dimensions: cut cells, the weak form, and whole solutions."""

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg as sla

import tengbc as tb
from tengbc.patches.refinement import singular_points
from tests.geometry.test_polyhedron import NOTCHED, PRISM, TETRAHEDRON
from tests.patches.spaces import even, space, uneven
from tests.solver.manufactured_problems import manufactured, worst_error

BOX = tb.Box((0.0, 0.0, 0.0), (np.pi, np.pi, np.pi))
SOLIDS = {"box": BOX, "notched": NOTCHED, "tetrahedron": TETRAHEDRON, "prism": PRISM}


def patches_of(name):
    return uneven(SOLIDS[name], (3, 4), ((0.3, 0.4, 0.2), (0.12, 0.13, 0.6)))


@pytest.mark.parametrize("name", SOLIDS)
def test_volumes_and_surfaces_of_cut_cells(name):
    """All of the domain, all of its segments; and each patch's outline is closed."""
    domain, patches = SOLIDS[name], patches_of(name)
    volumes = np.zeros(len(patches))
    for batch in patches.batches:
        assert (batch.w >= 0).all()
        volumes[batch.members] = batch.w.sum(axis=1)
    assert volumes.sum() == pytest.approx(domain.measure, rel=1e-12)
    outline, cones = np.zeros((len(patches), 3)), np.zeros(len(patches))
    areas = dict.fromkeys(domain.segments, 0.0)
    for faces in (*patches.inner_faces, *patches.outer_faces):
        flux = np.sum(faces.w[..., None] * faces.normal, axis=1)
        cone = np.sum(faces.w * np.sum(faces.x * faces.normal, axis=2), axis=1) / 3
        for which, sign in ((faces.inner, 1.0), (faces.outer, -1.0)):
            if which is not None:
                np.add.at(outline, which, sign * flux)
                np.add.at(cones, which, sign * cone)
        for segment, size in zip(faces.segments, faces.w.sum(axis=1), strict=False):
            areas[segment] += size
    assert np.abs(outline).max() <= 1e-12 * domain.measure
    np.testing.assert_allclose(cones, volumes, rtol=1e-10)
    for segment, size in areas.items():
        assert size == pytest.approx(domain.segment_measure(segment), rel=1e-12)


@pytest.mark.parametrize("condition", [tb.Dirichlet(0.0), tb.Neumann(0.0)])
def test_eigenvalues_of_a_cube_converge_with_twice_the_degree(condition):
    """Of −Δ on (0, π)³: the lowest is 3 with Dirichlet's, 1 after 0 with Neumann's condition."""
    problem = tb.Problem(BOX, tb.Heat(1.0), dict.fromkeys(BOX.segments, condition), 0.0)
    which, exact = (0, 3.0) if condition.prescribes_value else (1, 1.0)
    errors = []
    for level in (1, 2):
        matrix = space(problem, even(BOX, 3, level)).stiffness.toarray()
        assert np.abs(matrix - matrix.T).max() <= 1e-11 * np.abs(matrix).max()
        errors.append(abs(sla.eigvalsh(matrix)[which] - exact))
    assert errors[1] < errors[0] / 2**4.5


LAWS = {"Dirichlet": (1.0, 0.0), "Neumann": (0.0, 1.0), "Robin": (2.0, 0.5)}


def polynomial(x, t):
    return x[0] ** 2 * x[2] - x[1] ** 3 + x[1] * x[2] + 1.0 + 0.0 * t


@pytest.mark.parametrize("name", SOLIDS)
@pytest.mark.parametrize("law", LAWS)
def test_a_polynomial_solution_leaves_no_residual(name, law):
    domain = SOLIDS[name]
    equation = tb.Heat(0.7) + tb.Transport([0.3, -0.2, 0.5])
    problem = manufactured(domain, equation, dict.fromkeys(domain.segments, LAWS[law]), polynomial)
    found = space(problem, patches_of(name))
    c = found.form.load(problem.initial(found.form.within.x)[:, None])
    rest = found.load(0.0) - found.stiffness @ c
    assert np.abs(rest).max() <= 1e-10 * np.abs(found.stiffness @ c).max()


def test_singular_edges_of_a_notch():
    walls = dict.fromkeys(NOTCHED.segments, tb.Dirichlet(0.0))
    found = singular_points(tb.Problem(NOTCHED, tb.Heat(1.0), walls, 0.0))
    assert [corner.exponent for corner in found] == pytest.approx([2 / 3] * 3)
    corner = np.array([0.0, 0.2, -0.3])
    for edge in found:
        away = np.sort(np.linalg.norm(edge.ends - corner, axis=1))
        assert away[0] <= 1e-12 and away[1] > 0.5
    mixed = walls | {"left": tb.Neumann(0.0)}
    more = singular_points(tb.Problem(NOTCHED, tb.Heat(1.0), mixed, 0.0))
    assert len(more) == 7 and min(corner.exponent for corner in more) == pytest.approx(2 / 3)


def growing(x, t):
    return jnp.exp(-0.4 * t) * jnp.cos(x[0] + 0.5 * x[1]) * jnp.exp(0.5 * x[2])


@pytest.mark.parametrize("name", ["box", "prism"])
def test_solved_saved_and_loaded(name, tmp_path):
    domain = tb.Box((0.0, 0.0, 0.0), (1.0, 0.5, 1.0)) if name == "box" else PRISM
    laws = dict(zip(domain.segments, [*LAWS.values()] * 2, strict=False))
    problem = manufactured(domain, tb.Heat(0.2) + tb.Transport([0.2, 0.1, 0.0]), laws, growing)
    solution = tb.solve(problem, t_end=0.5, rtol=1e-3, strategy="local-features")
    error = worst_error(solution)
    assert error <= 1e-3
    assert error / 10 <= solution.error_estimate.max() or error < 1e-6
    x = domain.interior(50).x
    loaded = tb.load(solution.save(tmp_path / "solution.npz"))
    np.testing.assert_array_equal(loaded(x, 0.3), solution(x, 0.3))
    assert solution.integral(0.5) == pytest.approx(
        float(
            domain.interior(rule="gauss").w @ problem.exact(domain.interior(rule="gauss").x, 0.5)
        ),
        rel=2e-3,
    )


def test_a_ball_is_one_patch():
    def exact(x, t):
        return jnp.exp(-0.5 * t) * (x[0] * x[1] + jnp.cos(x[2]))

    problem = manufactured(tb.Ball(1.0), tb.Heat(0.3), {"sphere": (1.0, 0.3)}, exact)
    solution = tb.solve(problem, t_end=1.0, rtol=1e-4, strategy="local-features")
    assert solution.facts["patches"] == 1
    assert worst_error(solution) <= 1e-4
