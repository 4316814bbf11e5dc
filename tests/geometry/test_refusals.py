"""What a domain refuses, and the sentence it says."""

import subprocess
import sys

import numpy as np
import pytest

from tengbc.errors import ProblemError, UsageError
from tengbc.geometry import (
    AnnularSector,
    Annulus,
    Ball,
    Box,
    Disk,
    Interval,
    Parted,
    PeriodicBox,
    Polygon,
    Rectangle,
)

TRIANGLE = [(0, 0), (1, 0), (0, 1)]
SQUARE = [(0, 0), (1, 0), (1, 1), (0, 1)]
INSCRIBED = (0.35 + 0.4 / np.hypot(1, 0.7), 0.5 + 0.28 / np.hypot(1, 0.7))
"""0.4 from the middle of the edge from (0, 1) to (0.7, 0)."""
ROOM = Rectangle()
NAN, INFINITE = float("nan"), float("inf")

IMPOSSIBLE = {
    "interval reversed": (lambda: Interval(1, 0), "below upper"),
    "interval empty": (lambda: Interval(1, 1), "below upper"),
    "interval nan": (lambda: Interval(NAN, 1), "start must be a finite number"),
    "interval text": (lambda: Interval("0", 1), "start must be a finite number"),
    "box corners differ": (lambda: Box((0, 0), (1,)), "same dimension"),
    "box of no dimension": (lambda: Box((), ()), "one or more coordinates"),
    "box scalar": (lambda: Box(0, 1), "lower must be a list"),
    "box flat": (lambda: Box((0, 0), (1, 0)), "below upper"),
    "rectangle in space": (lambda: Rectangle((0, 0, 0), (1, 1, 1)), "2 coordinates"),
    "periodic reversed": (lambda: PeriodicBox([1], [0]), "below upper"),
    "disk of no size": (lambda: Disk(0), "radius must be greater than zero"),
    "disk negative": (lambda: Disk(-1), "radius must be greater than zero"),
    "disk bool": (lambda: Disk(True), "radius must be a finite number"),
    "disk infinite": (lambda: Disk(INFINITE), "radius must be a finite number"),
    "disk immense": (lambda: Disk(1e160), "choose larger units"),
    "disk center": (lambda: Disk(1, (0, 0, 0)), "center must hold 2 coordinates"),
    "ball center": (lambda: Ball(1, (0, 0)), "center must hold 3 coordinates"),
    "annulus swapped": (lambda: Annulus(2, 1), "smaller than outer"),
    "annulus without hole": (lambda: Annulus(0, 1), "inner must be greater than zero"),
    "sector full turn": (lambda: AnnularSector(1, 2, 0, 2 * np.pi), "take Annulus"),
    "sector reversed": (lambda: AnnularSector(1, 2, 1, 0), "must open by more than 0"),
    "polygon of two": (lambda: Polygon(TRIANGLE[:2]), "three or more vertices"),
    "polygon on a line": (lambda: Polygon([(0, 0), (1, 1), (3, 3)]), "zero area"),
    "polygon bow tie": (lambda: Polygon([(0, 0), (1, 1), (1, 0), (0, 1)]), "self-intersection"),
    "polygon crossing": (lambda: Polygon([(0, 0), (3, 0), (1, 1), (2, 1)]), "self-intersection"),
    "polygon repeated vertex": (lambda: Polygon([(0, 0), *TRIANGLE]), "twice in a row"),
    "polygon nan": (lambda: Polygon([(0, 0), (1, NAN), (0, 1)]), "vertex 1 of Polygon"),
    "polygon in space": (lambda: Polygon([(0, 0, 0)] * 3), "2 coordinates"),
    "polygon number": (lambda: Polygon(3), "must be a list"),
    "hole outside": (lambda: Polygon(TRIANGLE, [[(5, 5), (6, 5), (5, 6)]]), "hole lies outside"),
    "hole across": (lambda: Polygon(TRIANGLE, [[(0.1, 0.1), (2, 0.1), (0.1, 0.3)]]), "not valid"),
    "hole on a line": (lambda: Polygon(TRIANGLE, [[(0.1, 0.1), (0.2, 0.2), (0.3, 0.3)]]), "hole0"),
    "holes not rings": (lambda: Polygon(TRIANGLE, [(0.1, 0.1), (0.2, 0.3)]), "hole0"),
    "hole on an edge": (
        lambda: Polygon(TRIANGLE, [[(0.1, 0), (0.2, 0.1), (0.1, 0.1)]]),
        "hole0 touches the outer edge",
    ),
    "holes that touch": (
        lambda: Polygon(
            SQUARE, [[(0.1, 0.1), (0.5, 0.5), (0.1, 0.2)], [(0.5, 0.5), (0.9, 0.9), (0.8, 0.9)]]
        ),
        "hole1 touches hole0",
    ),
    "round hole on an edge": (
        lambda: Polygon([(0, 1), (0.7, 0), (2, 2)], [Disk(0.4, INSCRIBED)]),
        "hole0 touches the outer edge",
    ),
    "round holes that touch": (
        lambda: Polygon(SQUARE, [Disk(0.2, (0.3, 0.3)), Disk(0.05, (0.45, 0.5))]),
        "hole1 touches hole0",
    ),
    "round hole across": (lambda: Polygon(SQUARE, [Disk(0.3, (0.9, 0.5))]), "not valid"),
    "round hole outside": (lambda: Polygon(SQUARE, [Disk(0.3, (3, 0))]), "hole lies outside"),
    "round holes overlap": (
        lambda: Polygon(SQUARE, [Disk(0.2, (0.3, 0.3)), Disk(0.2, (0.5, 0.5))]),
        "not valid",
    ),
    "round hole in a hole": (
        lambda: Polygon(SQUARE, [Disk(0.3, (0.5, 0.5)), Disk(0.1, (0.5, 0.5))]),
        "not valid",
    ),
    "hole with a hole": (lambda: Polygon(SQUARE, [Annulus(0.1, 0.2, (0.5, 0.5))]), "one closed"),
    "hole in space": (lambda: Polygon(SQUARE, [Ball(0.1, (0.5, 0.5, 0))]), "one closed curve"),
    "hole periodic": (lambda: Polygon(SQUARE, [PeriodicBox((0, 0), (1, 1))]), "one closed curve"),
    "part of a ball": (lambda: Ball().with_parts(a=("sphere", lambda x: x[0] > 0)), "dimension 3"),
    "part of a box": (lambda: Box([0] * 4, [1] * 4).with_parts(a=("left", (0, 1))), "dimension 4"),
    "part empty": (lambda: ROOM.with_parts(a=("left", lambda x: x[1] > 2)), "true nowhere"),
    "part of no length": (lambda: ROOM.with_parts(a=("left", lambda x: x[1] == 0)), "true nowhere"),
    "part not where": (lambda: ROOM.with_parts(a="left"), "must be a list"),
    "part without a place": (lambda: ROOM.with_parts(a=("left",)), "a segment and where on it"),
    "part a number": (lambda: ROOM.with_parts(a=("left", lambda x: x[1])), "True or False"),
    "part of all at once": (lambda: ROOM.with_parts(a=("left", lambda x: x > 0)), "True or False"),
    "part reversed": (lambda: ROOM.with_parts(a=("left", (0.5, 0.2))), "must grow"),
    "part too long": (lambda: ROOM.with_parts(a=("left", (0.5, 1.2))), "between 0 and 1"),
    "part of three numbers": (lambda: ROOM.with_parts(a=("left", (0, 0.2, 0.5))), "2 coordinates"),
    "part of an end": (lambda: Interval(0, 1).with_parts(a=("left", (0, 0.5))), "single point"),
    "part named twice": (lambda: ROOM.with_parts(right=("left", (0, 0.5))), "'right' already"),
    "parts overlap": (
        lambda: ROOM.with_parts(a=("left", (0, 0.5)), b=("left", lambda x: x[1] > 0.4)),
        "'a' and 'b' overlap on 'left'",
    ),
    "parts of no domain": (lambda: Parted(3, ()), "only a domain has parts"),
    "parts in no form": (lambda: Parted(ROOM, (("a", "left"),)), "a segment and its pieces"),
    "parts of no pieces": (lambda: Parted(ROOM, (("a", "left", ()),)), "no pieces"),
    "parts of a missing face": (lambda: Parted(ROOM, (("a", "left", ((1, 0, 1),)),)), "1 faces"),
    "parts beyond a face": (
        lambda: Parted(ROOM, (("a", "left", ((0, 0, 2),)),)),
        "between 0 and 1",
    ),
    "half an end": (lambda: Parted(Interval(0, 1), (("a", "left", ((0, 0, 0.5),)),)), "all of it"),
    "same part twice": (
        lambda: Parted(ROOM, (("a", "left", ((0, 0, 0.1),)), ("a", "top", ((0, 0, 1),)))),
        "'a' already",
    ),
    "names too few": (lambda: Polygon(TRIANGLE, names=["a"]), "each of the 3 outer edges"),
    "names a text": (lambda: Polygon(TRIANGLE, names="abc"), "names must be a list"),
    "names not texts": (lambda: Polygon(TRIANGLE, names=[1, 2, 3]), "names must hold one name"),
    "name of a hole": (
        lambda: Polygon(
            TRIANGLE, [[(0.1, 0.1), (0.2, 0.1), (0.1, 0.2)]], names=["hole0", "a", "b"]
        ),
        "belongs to a hole",
    ),
}


@pytest.mark.usefixtures("wrong_types")
@pytest.mark.parametrize("build, sentence", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_an_impossible_domain_says_why(build, sentence):
    with pytest.raises(ProblemError, match=sentence) as caught:
        build()
    assert_one_sentence(caught.value)


WRONG = {
    "no count": (lambda d: d.interior(), "needs a number of points"),
    "count zero": (lambda d: d.interior(0), "n must be a whole number from 1"),
    "count negative": (lambda d: d.interior(-5), "n must be a whole number from 1"),
    "count fraction": (lambda d: d.interior(10.0), "n must be a whole number"),
    "count bool": (lambda d: d.interior(True), "n must be a whole number"),
    "count huge": (lambda d: d.interior(10**12), "n must be a whole number"),
    "cells zero": (lambda d: d.interior(rule="uniform", per_axis=0), "per_axis must be"),
    "cells too few": (
        lambda d: Annulus(0.9, 1).interior(rule="uniform", per_axis=2),
        "no centre inside",
    ),
    "count and cells": (lambda d: d.interior(9, rule="uniform", per_axis=3), "only one of"),
    "cells unused": (lambda d: d.interior(9, per_axis=3), "no use for per_axis"),
    "order unused": (lambda d: d.boundary("circle", 9, order=3), "no use for order; give n"),
    "count unused": (lambda d: d.interior(9, rule="gauss"), "no use for n; give order"),
    "order negative": (lambda d: d.interior(rule="gauss", order=-1), "order must be"),
    "seed negative": (lambda d: d.interior(9, seed=-1), "seed must be a whole number"),
    "rule unknown": (
        lambda d: d.interior(9, rule="sobol"),
        "'sobol'; choose one of 'uniform', 'low-discrepancy', 'random', 'gauss'",
    ),
    "rule a list": (lambda d: d.boundary("circle", 9, rule=["uniform"]), "choose one of 'uniform'"),
    "segment unknown": (lambda d: d.boundary("rim", 9), "'rim'; choose one of 'circle'"),
    "segment of sector": (
        lambda d: AnnularSector(1, 2, 0, 1).boundary("top", 9),
        "choose one of 'inner', 'outer', 'start', 'end'",
    ),
    "part of nothing": (lambda d: d.with_parts(a=("rim", (0, 1))), "'rim'; choose one of 'circle'"),
    "part of periodic": (
        lambda d: PeriodicBox([0], [1]).with_parts(a=("left", (0, 1))),
        "no boundary",
    ),
    "length unknown": (lambda d: d.segment_measure("rim"), "choose one of 'circle'"),
    "segment of periodic": (lambda d: PeriodicBox([0], [1]).boundary("left"), "no boundary"),
    "boundary no count": (lambda d: d.boundary("circle"), "needs a number of points"),
    "boundary zero": (lambda d: d.boundary("circle", 0), "n must be a whole number"),
    "grid too large": (lambda d: Box([0] * 6, [1] * 6).evaluation_grid(), "too large"),
    "rule too large": (lambda d: Box([0] * 9, [1] * 9).interior(rule="gauss"), "too large"),
    "points a text": (lambda d: d.contains("here"), "array of numbers"),
    "points ragged": (lambda d: d.contains([[1, 2], [3]]), "array of numbers"),
    "wrap dimension": (lambda d: PeriodicBox([0], [1]).wrap([[1, 2]]), r"shape \(n, 1\)"),
    "outline too coarse": (lambda d: d.outline(1), "n must be a whole number from 2"),
}


@pytest.mark.usefixtures("wrong_types")
@pytest.mark.parametrize("use, sentence", WRONG.values(), ids=WRONG)
def test_a_wrong_argument_says_why(use, sentence):
    with pytest.raises(UsageError, match=sentence) as caught:
        use(Disk())
    assert_one_sentence(caught.value)


def assert_one_sentence(error):
    text = str(error)
    assert text.endswith(".") and ". " not in text and "\n" not in text and len(text) < 250


def test_importing_the_geometry_loads_neither_jax_nor_shapely():
    code = (
        "import sys, tengbc.geometry as g; g.Disk().interior(10); "
        "print([m for m in ('jax', 'shapely', 'scipy') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
