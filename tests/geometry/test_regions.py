"""Regions of a domain: what they are, where they meet, and what is refused."""

import numpy as np
import pytest

import tengbc as tb
from tengbc.errors import ProblemError, UsageError

CORE = tb.Disk(0.3, (0.5, 0.5))
WALL = tb.Rectangle((0.0, 0.0), (3.0, 1.0))
DOMAINS = {
    "disk": tb.Rectangle().with_regions(core=CORE),
    "rings": tb.Disk(1.0).with_regions(core=tb.Disk(0.5), ring=tb.Annulus(0.5, 0.7)),
    "layers": WALL.with_regions(
        first=tb.Rectangle((0.0, 0.0), (1.0, 1.0)), last=tb.Rectangle((2.5, 0.0), (3.0, 1.0))
    ),
    "steps": WALL.with_regions(
        low=tb.Rectangle((0.0, 0.0), (2.0, 0.5)), high=tb.Rectangle((0.5, 0.5), (1.0, 1.0))
    ),
    "line": tb.Interval(0.0, 3.0).with_regions(a=tb.Interval(0.0, 1.0), b=tb.Interval(2.0, 3.0)),
}
INTERFACES = {
    "disk": {"core|rest": 0.6 * np.pi},
    "rings": {"core|ring": np.pi, "ring|rest": 1.4 * np.pi},
    "layers": {"first|rest": 1.0, "last|rest": 1.0},
    "steps": {"low|high": 0.5, "low|rest": 2.0, "high|rest": 1.0},
    "line": {"a|rest": 1.0, "b|rest": 1.0},
}


@pytest.mark.parametrize("name", DOMAINS)
def test_interfaces_have_their_names_and_lengths(name):
    domain = DOMAINS[name]
    assert domain.interfaces == tuple(INTERFACES[name])
    for interface, length in INTERFACES[name].items():
        points = domain.interface_points(interface, rule="gauss", order=8)
        assert points.w.sum() == pytest.approx(length, rel=1e-12)
        first, second = (domain.region_names.index(part) for part in interface.split("|"))
        for side, number in ((-1.0, first), (1.0, second)):
            assert (domain.region_of(points.x + 1e-6 * side * points.normal) == number).all()


@pytest.mark.parametrize("name", DOMAINS)
def test_every_region_obeys_the_divergence_theorem(name):
    # ∫∂ₓ(x³) = ∮ x³n₁
    for part in DOMAINS[name].parts:
        inside, rim = part.interior(rule="gauss", order=8), 0.0
        for segment in part.segments:
            points = part.boundary(segment, rule="gauss", order=8)
            rim += points.w @ (points.x[:, 0] ** 3 * points.normal[:, 0])
        assert inside.w @ (3 * inside.x[:, 0] ** 2) == pytest.approx(rim, rel=1e-10)
        assert inside.w.sum() == pytest.approx(part.measure, rel=1e-10)


def test_the_whole_is_the_sum_of_its_regions():
    for domain in DOMAINS.values():
        assert sum(part.measure for part in domain.parts) == pytest.approx(domain.measure)
        assert domain.interior(rule="gauss", order=6).w.sum() == pytest.approx(domain.measure)


def test_an_interface_may_be_named_from_either_side():
    domain = DOMAINS["disk"]
    one, other = (domain.interface_points(name, 8) for name in ("core|rest", "rest|core"))
    assert np.array_equal(one.x, other.x) and np.array_equal(one.normal, -other.normal)


def test_regions_and_named_parts_of_the_boundary_go_together():
    domain = DOMAINS["disk"].with_parts(warm=("left", (0.0, 0.5)))
    assert domain.region_names == ("core", "rest") and "warm" in domain.segments


EDGES = dict.fromkeys(("left", "right", "bottom", "top"), tb.Dirichlet(0.0))


def stated(equation=None, interfaces=None, initial=0.0, domain=DOMAINS["disk"]):
    equation = tb.Heat(1.0) if equation is None else equation
    return lambda: tb.Problem(domain, equation, EDGES, initial, interfaces=interfaces)


REFUSED = {
    "leaves the domain": (lambda: tb.Rectangle().with_regions(a=tb.Disk(0.6)), "leaves the domain"),
    "overlap": (
        lambda: tb.Rectangle().with_regions(a=CORE, b=tb.Disk(0.2, (0.4, 0.5))),
        "'a' and 'b' overlap",
    ),
    "touches in a point": (
        lambda: tb.Rectangle().with_regions(a=tb.Disk(0.5, (0.5, 0.5))),
        "regions overlap, or cross the boundary",
    ),
    "no region": (lambda: tb.Rectangle().with_regions(), "There are no regions"),
    "no domain": (lambda: tb.Rectangle().with_regions(a=3), "must be a domain of dimension 2"),
    "other dimension": (
        lambda: tb.Rectangle().with_regions(a=tb.Interval(0.0, 1.0)),
        "must be a domain of dimension 2",
    ),
    "solid": (lambda: tb.Ball().with_regions(a=tb.Ball(0.5)), "has no regions"),
    "periodic": (
        lambda: tb.PeriodicBox((0.0,), (1.0,)).with_regions(a=tb.Interval(0.0, 0.5)),
        "has no regions",
    ),
    "name of the rest": (
        lambda: tb.Rectangle().with_regions(rest="core", core=CORE),
        "two regions 'core'",
    ),
    "regions twice": (lambda: DOMAINS["disk"].with_regions(b=CORE), "has regions already"),
    "unknown region of κ": (stated(tb.Diffusion({"core": 1.0, "hull": 2.0})), "'hull'"),
    "region without κ": (stated(tb.Diffusion({"core": 1.0})), "for the region rest"),
    "region without equation": (stated({"core": tb.Heat(1.0)}), "no equation for the region rest"),
    "unknown equation": (stated({"core": tb.Heat(1.0), "hull": tb.Heat(1.0)}), "'hull'"),
    "unknown interface": (
        stated(interfaces={"core|hull": tb.Contact(0.1)}),
        "the interfaces are: core|rest",
    ),
    "no law": (stated(interfaces={"core|rest": 0.1}), "must be one such as tb.Contact"),
    "interfaces no mapping": (stated(interfaces=tb.Contact(0.1)), "must name a law"),
    "unknown initial": (stated(initial={"core": 1.0}), "for the region rest"),
    "equations without regions": (
        stated({"core": tb.Heat(1.0)}, domain=tb.Rectangle()),
        "the domain has no regions",
    ),
    "κ without regions": (stated(tb.Diffusion({"core": 1.0}), domain=tb.Rectangle()), "has none"),
    "negative κ": (lambda: tb.Diffusion({"core": -1.0}), "ill-posed"),
    "κ not symmetric": (lambda: tb.Diffusion([[1.0, 0.5], [0.0, 1.0]]), "not symmetric"),
    "κ of u and t": (lambda: tb.Diffusion(lambda u, t: u), "a function of u takes"),
    "negative resistance": (lambda: tb.Contact(-0.1), "resistance ≥ 0"),
    "resistance in time": (lambda: tb.Contact(lambda x, t: t), "must not change in time"),
    "other strategy": (
        lambda: tb.solve(stated()(), t_end=0.1, strategy="frozen-features"),
        "knows no regions",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_refused_in_a_sentence(case):
    state, sentence = REFUSED[case]
    with pytest.raises((ProblemError, UsageError)) as error:
        state()
    assert sentence in str(error.value)
