"""A browser for the tests that need one: the Chromium of the system, headless."""

import os
import shutil

import pytest

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NAMES = ("chromium", "chromium-browser", "google-chrome")


def _without(reason):
    """Skip, unless the browser was promised: then its absence is a failure."""
    if os.environ.get("TENGBC_REQUIRE_BROWSER") == "1":
        pytest.fail(f"{reason}, though TENGBC_REQUIRE_BROWSER=1 promises a browser")
    pytest.skip(f"{reason}; `apt-get install chromium` brings one, .ci/run does so by itself")


@pytest.fixture(scope="module")
def browser():
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        _without("no Chromium is installed")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _without("playwright is not installed")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield started
        started.close()
