"""Pictures: what is in them, where it ends, and what comes back."""

import jax.numpy as jnp
import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.axes import Axes
from PIL import Image

import tengbc as tb
from tengbc.errors import OutputError, UsageError
from tests.given import given, monomials

HOLED = tb.Polygon([(0, 0), (3, 0), (3, 2), (0, 2)], holes=[[(1, 0.5), (2, 0.5), (1, 1.5)]])
ROUND = tb.Polygon([(0, 0), (3, 0), (3, 2), (0, 2)], holes=[tb.Disk(0.5, (1, 1))])


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def plane(domain=None, **changes):
    return given(domain or tb.Disk(), monomials, [1.0, 2.0], **changes)


def test_a_line_has_the_solution_s_values():
    u = given(tb.Interval(0.0, 2.0), monomials, [1.0, 0.0])
    axes = u.plot([0.0, 1.0])
    assert isinstance(axes, Axes)
    for line, t in zip(axes.get_lines(), (0.0, 1.0), strict=True):
        x, y = line.get_data()
        np.testing.assert_allclose(y, (1 + t) * x**2, atol=1e-12)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["t = 0", "t = 1"]
    assert len({line.get_color() for line in axes.get_lines()}) == 2


def test_a_map_has_the_solution_s_values():
    u = plane()
    axes = u.plot(0.5)
    (picture,) = axes.collections
    x = picture._triangulation.x, picture._triangulation.y
    np.testing.assert_allclose(picture.get_array(), 1.5 * (x[0] ** 2 + 2 * x[0] * x[1]), atol=1e-12)
    assert axes.get_title() == "t = 0.5" and axes.get_xlabel() == "x₁"


@pytest.mark.parametrize("domain", [tb.Disk(), HOLED, ROUND], ids=["disk", "hole", "round hole"])
def test_the_picture_ends_where_the_domain_ends(domain):
    """Every pixel well inside is coloured, every pixel well outside is white."""
    figure, axes = pyplot.subplots(figsize=(4, 4), dpi=100)
    given(domain, lambda x: 1 + jnp.stack([x[0] ** 2, x[1]]), [1.0, 1.0]).plot(0.0, ax=axes)
    axes.set_axis_off()
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[::-1, :, :3]
    lower, upper = domain.bounds
    points = np.random.default_rng(0).uniform(lower - 0.05, upper + 0.05, (4000, 2))
    places = axes.transData.transform(points).astype(int)
    coloured = (pixels[places[:, 1], places[:, 0]] < 250).any(axis=1)
    size = 2 / 100 * domain.scale
    near = domain._inside(points, size) & ~domain._inside(points, -size)
    np.testing.assert_array_equal(coloured[~near], domain.contains(points)[~near])


def test_times_and_components_side_by_side():
    u = given(tb.Rectangle(), monomials, np.eye(2), components=2)
    grid = u.plot([0.0, 1.0])
    assert grid.shape == (2, 2) and grid[1, 0].get_title() == "u₂, t = 0"
    assert u.plot([0.0, 1.0], component=1).shape == (2,)
    for axes in grid[0]:  # one scale for all times
        assert axes.collections[0].get_clim() == (0.0, 2.0)
    with pytest.raises(UsageError, match="component is 2, but the field has 2"):
        u.plot(0.0, component=2)
    with pytest.raises(UsageError, match="One Axes holds one map, but there are 2"):
        u.plot(0.0, ax=grid[0, 0])


@pytest.mark.usefixtures("wrong_types")
def test_a_component_has_a_name_or_a_number():
    u = given(tb.Rectangle(), monomials, np.eye(2), components=2)
    with pytest.raises(UsageError, match="no component called 'u'; its names are"):
        u.plot(0.0, component="u")


def test_slices_of_three_dimensions():
    u = given(tb.Ball(2.0, (1.0, 0.0, 0.0)), monomials, [1.0, 0.0])
    grid = u.plot(0.0)
    titles = [axes.get_title() for axes in grid]
    assert titles == ["t = 0, x₃ = 0", "t = 0, x₂ = 0", "t = 0, x₁ = 1"]
    assert grid[2].collections[0].get_array().max() == pytest.approx(1.0)
    assert given(tb.Box((0, 0, 0), (1, 2, 3)), monomials, [1.0, 0.0]).plot(0.0).shape == (3,)
    with pytest.raises(UsageError, match="dimension 4 cannot be drawn"):
        given(tb.Box([0] * 4, [1] * 4), monomials, [1.0, 0.0]).plot(0.0)


def test_the_error_is_symmetric_about_zero():
    u = plane(exact=lambda x, t: (1 + t) * (x[0] ** 2 + 2 * x[0] * x[1]) - 0.1 * x[0])
    (picture,) = u.plot_error(0.3).collections
    assert picture.get_clim() == pytest.approx((-0.1, 0.1), rel=1e-3)
    np.testing.assert_allclose(picture.get_array(), 0.1 * picture._triangulation.x, atol=1e-12)
    with pytest.raises(UsageError, match="no exact solution is known"):
        plane().plot_error(0.3)


@pytest.mark.parametrize("domain", [tb.Disk(), tb.Interval(0.0, 1.0)], ids=["map", "line"])
def test_a_gif_moves(domain, tmp_path, monkeypatch):
    told, solution = [], given(domain, monomials, [1.0, 0.0])
    hear = lambda phase, fraction, known: told.append((phase, fraction))
    drawn = count_draws(monkeypatch)
    path = solution.animate(tmp_path / "u.gif", frames=3, dpi=40, progress=hear)
    with Image.open(tmp_path / "u.gif") as picture:
        assert picture.n_frames == 3
        first = np.asarray(picture.convert("RGB"))
        picture.seek(2)
        assert (np.asarray(picture.convert("RGB")) != first).any()
    assert path == tmp_path / "u.gif"
    assert told == [("drawing", pytest.approx(k / 3)) for k in (1, 2, 3)]
    assert len(drawn) <= 2 + 2 * 3  # a frame asks for a renderer and draws; never once more


def count_draws(monkeypatch):
    """A list that grows whenever Agg draws a figure: what an animation's seconds go into."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    drawn, draw = [], FigureCanvasAgg.draw
    monkeypatch.setattr(FigureCanvasAgg, "draw", lambda self: (drawn.append(1), draw(self))[1])
    return drawn


@pytest.mark.usefixtures("wrong_types")
def test_animations_that_cannot_be(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="ffmpeg is not installed"):
        plane().animate(tmp_path / "u.mp4")
    with pytest.raises(UsageError, match=r"only .gif and .mp4"):
        plane().animate(tmp_path / "u.mov")
    for choice in ({"frames": 0}, {"frames": "ten"}, {"fps": 0}, {"fps": 2.5}, {"dpi": 0}):
        with pytest.raises(UsageError, match=f"{next(iter(choice))} must be a whole number"):
            plane().animate(tmp_path / "u.gif", **choice)
    for times in ("now", [], [[0.5]]):
        with pytest.raises(UsageError, match=r"one number|no time to draw"):
            plane().plot(times)
    with pytest.raises(OutputError, match="cannot be written"):
        plane().animate(tmp_path / "missing" / "u.gif", frames=2)


def test_without_matplotlib(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(UsageError, match=r"pip install 'tengbc\[plot\]'"):
        plane().plot(0.0)
