"""The report in a real browser: it loads in silence, the slider and the play button work."""

import io
import json

import numpy as np
import pytest
from PIL import Image

import tengbc as tb
from tengbc.report.comparison import write_comparison
from tengbc.report.run_report import leave_report
from tengbc.solution.summary import measure, summary
from tests.report.cases import SECTOR, made_up

LOOKS = {
    "light": {"viewport": {"width": 1200, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1200, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 800}},
}


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    place = tmp_path_factory.mktemp("run")
    solution = made_up(SECTOR)
    leave_report(place, solution, summary(solution, measure(solution), {"total": 5.0}))
    return place


@pytest.fixture
def opened(browser):
    """`opened(path, …)`: the page, checked at the end for having kept quiet and offline."""
    complaints, requests, contexts = [], [], []

    def call(path, **look):
        context = browser.new_context(**look)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("html.ready", state="attached")
        return page

    yield call
    for context in contexts:
        context.close()
    assert complaints == []
    assert all(url.startswith(("file:", "data:")) for url in requests)


def pixels(picture):
    return np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"), dtype=float)


def canvas(page, panel="solution"):
    return pixels(page.locator(f"[data-panel={panel}] canvas").screenshot())


def move(page, index):
    page.locator("input[type=range]").evaluate(
        "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }",
        index,
    )


@pytest.mark.parametrize("look", LOOKS)
def test_it_is_not_blank(opened, directory, look):
    page = opened(directory / "report.html", **LOOKS[look])
    shot = pixels(page.screenshot(full_page=True))
    background = np.median(shot.reshape(-1, 3), axis=0)
    assert (background.mean() < 60) == (look == "dark")
    differs = np.abs(shot - background).max(axis=2) > 24
    assert differs.mean() > 0.03
    # No band of 700 pixels is empty, and nothing sticks out at the side.
    bands = np.array_split(differs, max(1, len(differs) // 700))
    assert all(band.any() for band in bands)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    for panel in ("solution", "exact", "error"):
        colours = canvas(page, panel)
        assert colours.reshape(-1, 3).std(axis=0).max() > 15, panel


def test_the_slider_changes_the_picture(opened, directory):
    page = opened(directory / "report.html", **LOOKS["light"])
    first, time = canvas(page), page.locator("output").inner_text()
    move(page, 40)
    assert page.locator("output").inner_text() == "t = 1" != time == "t = 0"
    assert np.abs(canvas(page) - first).max() > 40
    move(page, 0)
    assert np.abs(canvas(page) - first).max() < 3


def test_the_play_button_runs_and_stops(opened, directory):
    page = opened(directory / "report.html", **LOOKS["light"])
    button, slider = page.locator("button.play"), page.locator("input[type=range]")
    button.click()
    assert button.get_attribute("aria-label") == "Pause"
    page.wait_for_function("document.querySelector('input[type=range]').value >= 3")
    button.click()
    assert button.get_attribute("aria-label") == "Play"
    there = slider.input_value()
    page.wait_for_timeout(400)
    assert slider.input_value() == there
    move(page, 39)
    button.click()
    page.wait_for_function("document.querySelector('.play').ariaLabel === 'Play'")
    assert slider.input_value() == "40"  # it stops at the end


def test_values_under_the_pointer_are_those_of_the_solution(opened, directory):
    page = opened(directory / "report.html", **LOOKS["light"])
    move(page, 20)
    picture = page.locator("[data-panel=solution] canvas")
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    x, y = 0.6, 0.5  # inside the quarter annulus; a picture's y runs downwards
    page.mouse.move(box["x"] + x * box["width"], box["y"] + (1 - y) * box["height"])
    lines = page.locator("[data-panel=solution] .tip").inner_text().replace("−", "-").split("\n")
    expected = made_up(SECTOR)(np.array([x, y]), 0.5)
    assert float(lines[1].split("=")[1]) == pytest.approx(expected, rel=0.02, abs=0.01)
    assert lines[2].startswith("exact") and lines[3].startswith("error")
    page.mouse.move(box["x"] + 0.05 * box["width"], box["y"] + 0.95 * box["height"])
    assert page.locator("[data-panel=solution] .tip").is_hidden()  # in the hole there is no u


def test_curves_tell_their_values(opened, directory):
    page = opened(directory / "report.html", **LOOKS["light"])
    chart = page.locator("[data-chart='0']")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 3)
    text = chart.locator(".tip").inner_text()
    assert "measured error" in text and "estimated error: 0.002" in text


def test_on_paper(opened, directory):
    page = opened(directory / "report.html", **LOOKS["dark"])
    page.emulate_media(media="print")
    assert page.locator(".controls").is_hidden()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert len(page.pdf()) > 30_000


@pytest.mark.parametrize(
    ("domain", "components", "chosen"),
    [
        (tb.Interval(0.0, 1.0), 0, None),
        (tb.Rectangle(), 2, "component"),
        (tb.Ball(1.0), 0, "plane"),
    ],
    ids=["line", "system", "solid"],
)
def test_other_kinds_of_problems(opened, tmp_path, domain, components, chosen):
    path = tb.write_report(made_up(domain, components), tmp_path / "page.html")
    page = opened(path, **LOOKS["light"])
    if chosen is None:
        curve = page.locator("[data-panel=curves] .chart > svg path.s0")
        before = curve.get_attribute("d")
        move(page, 40)
        assert curve.get_attribute("d") != before
        return
    before = canvas(page)
    page.locator(f"select[name={chosen}]").select_option("1")
    page.locator("input[name=follow]").check()
    move(page, 40)
    assert np.abs(canvas(page) - before).max() > 20


def test_comparison(opened, directory, tmp_path):
    path = write_comparison([directory, directory], tmp_path / "comparison.html")
    page = opened(path, **LOOKS["phone"])
    first = page.locator("[data-panel=solution] canvas").first.screenshot()
    move(page, 40)
    assert page.locator("[data-panel=solution] canvas").first.screenshot() != first
    assert page.locator("[data-panel=solution]").count() == 2
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_patches_are_drawn_on_request_and_it_opens_where_there_is_something(opened, tmp_path):
    domain = tb.Polygon([(0, 0), (1, 0), (1, 0.5), (0.5, 0.5), (0.5, 1), (0, 1)])
    laws = {name: tb.Dirichlet(0.0) for name in domain.segments}
    equation = tb.Heat(0.1) + tb.Source(1.0)
    solution = tb.solve(tb.Problem(domain, equation, laws, 0.0, t_end=0.5), rtol=1e-2)
    page = opened(tb.write_report(solution, tmp_path, keep_data=True))
    pictures = json.loads((tmp_path / "report-data.json").read_text())["pictures"]
    assert page.locator(".time input").input_value() == str(pictures["opening"]) != "0"
    assert page.locator("path.patches").count() == 0
    page.locator("[name=patches]").check()
    drawn = page.locator("[data-panel=solution] path.patches")
    assert drawn.get_attribute("d").count("Z") == len(pictures["boxes"]) // 4
    page.locator("[name=patches]").uncheck()
    assert page.locator("path.patches").count() == 0
