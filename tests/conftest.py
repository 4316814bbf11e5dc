"""What every test shares: float64, the `long` marker, and repeatable property tests."""

import os

import jax
import jaxtyping
import pytest
from hypothesis import settings

jax.config.update("jax_enable_x64", True)


def absolute(path: str) -> str:
    """A search path that means the same from every directory."""
    return os.pathsep.join(os.path.abspath(part) for part in path.split(os.pathsep) if part)


if "PYTHONPATH" in os.environ:  # tests start programs and notebooks in directories of their own
    os.environ["PYTHONPATH"] = absolute(os.environ["PYTHONPATH"])

# Compilation makes the first example slow, so no deadline; `make test` draws the same examples
# every time, a long run draws new ones.
settings.register_profile("short", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("long", deadline=None, max_examples=200)


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="also run the tests marked `long`")


def pytest_configure(config):
    settings.load_profile("long" if config.getoption("--long") else "short")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--long"):
        return
    skip = pytest.mark.skip(reason="long: runs with --long (make test-long)")
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(skip)


@pytest.fixture
def wrong_types():
    """For arguments of a wrong type, given on purpose: the package's own sentence is wanted."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(scope="session")
def robin():
    """heat-robin, solved once for all tests that need a real solution."""
    import tengbc

    return tengbc.solve(tengbc.problems.get("heat-robin"), rtol=1e-6)
