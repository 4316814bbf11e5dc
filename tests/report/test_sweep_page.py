"""sweep.html: one safe file; a dot for every run that has a number, which leads to its report."""

import json
import re

import pytest

from tengbc.report.sweep_page import sweep_page
from tests.report.test_browser import LOOKS, opened  # noqa: F401
from tests.report.test_pages import NASTY


def rows(**changes):
    """Six runs over a number and a word; the last was refused."""
    found = []
    for run, (kappa, scheme) in enumerate([(k, s) for k in (0.1, 1.0, 10.0) for s in "ab"], 1):
        done = run < 6
        found.append(
            {
                "run": run,
                "kappa": kappa,
                "scheme": scheme,
                "outcome": "done" if done else "refused",
                "message": "" if done else "no such thing; take another.",
                "error": 1e-6 * kappa if done else None,
                "seconds": 2.0 * run if done else None,
                "integral@0.5": 3.0 + kappa if done else None,
                "report": f"runs/{run}/report.html" if done else None,
                **changes,
            }
        )
    return found


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "sweep.html"
    path.write_text(sweep_page("study", ["kappa", "scheme"], rows()), "utf-8")
    for run in range(1, 6):
        (tmp_path / f"runs/{run}").mkdir(parents=True)
        (tmp_path / f"runs/{run}/report.html").write_text("<html class=ready>")
    return path


def test_what_it_says(page):
    text = page.read_text()
    assert "5 of 6 runs solved" in text and "The others: 1 refused." in text
    assert "Together they took 30 s of one core, 10 s the longest." in text
    assert "Run 6, refused: no such thing; take another." in text
    assert text.count('<a href="runs/') == 5 and "integral at t = 0.5" in text
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert [axis["log"] for axis in data["axes"]] == [True, False]
    assert [out["key"] for out in data["outputs"]] == ["error", "seconds", "integral@0.5"]
    assert data["outputs"][2]["values"] == [3.1, 3.1, 4.0, 4.0, 13.0, None]
    assert set(re.findall(r"https?://[^\"' )]+", text)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(script|img|iframe|link)[^>]*\b(src|href)=\"(?!data:)", text)


def test_names_are_text_not_code():
    text = sweep_page(NASTY, ["kappa", "scheme"], rows(scheme=NASTY, message=NASTY))
    assert NASTY not in text and "<img" not in text
    assert text.count("<script") == 2 == text.count("</script>")


@pytest.mark.parametrize("look", LOOKS)
def test_dots_lead_to_reports(opened, page, look):  # noqa: F811
    shown = opened(page, **LOOKS[look])
    assert shown.locator(".chart").count() == 3 and shown.locator("circle.run").count() == 15
    assert shown.locator("[name=across]").input_value() == "0"
    first = shown.locator(".chart").nth(1)  # seconds: all runs at different heights
    heights = [float(dot.get_attribute("cy")) for dot in first.locator("circle.run").all()]
    assert heights == sorted(heights, reverse=True) and len(set(heights)) == 5
    across = {dot.get_attribute("cx") for dot in first.locator("circle.run").all()}
    assert len(across) == 3
    shown.locator("[name=across]").select_option("1")
    across = {dot.get_attribute("cx") for dot in first.locator("circle.run").all()}
    assert len(across) == 2
    dot = first.locator("svg a").nth(2)
    dot.hover()
    assert "run 3" in first.locator(".tip").inner_text()
    assert shown.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    dot.click()
    shown.wait_for_url("**/runs/3/report.html")
