"""Every option × everything that can be wrong with it: one sentence that names the option."""

import math
import re

import numpy as np
import pytest

from tengbc.errors import UsageError
from tengbc.options import SCHEMES, Options, options

COUNTS = {
    "embedding_size",
    "features",
    "per_axis",
    "interior_points",
    "boundary_points",
    "iterations",
    "subset",
    "first_iterations",
    "first_subset",
    "fit_iterations",
    "devices",
    "blocks",
}
REALS = {"dt", "t_end", "rtol", "cutoff", "max_seconds"}
NAMES = {"preset", "scheme", "activation", "lstsq", "stage_data"}
FREE_NAMES = {"strategy"}  # which ones there are is known only where they are
OTHERS = {"seed", "widths"}

BAD = {
    "a boolean": True,
    "NaN": math.nan,
    "infinity": math.inf,
    "minus infinity": -math.inf,
    "a word": "many",
    "a list": [3.0],
    "a mapping": {"a": 1},
    "a complex number": 1j,
    "a negative number": -3,
}
BAD_REAL = BAD | {"zero": 0.0, "huge": 1e300, "a number as text": "0.5", "negative": -0.5}
BAD_COUNT = BAD | {"zero": 0, "huge": 10**9, "a fraction": 2.5, "whole but real": 2.0, "text": "3"}
BAD_NAME = BAD | {"unknown": "ruk4", "empty": "", "a number": 4}
BAD_WIDTHS = BAD | {
    "empty": (),
    "a zero": (8, 0),
    "negative inside": (8, -8),
    "a boolean inside": (8, True),
    "huge": (8, 10**9),
    "a fraction": (8.5,),
    "a number": 8,
    "text": "8,8",
}
CASES = [
    *((name, kind, bad) for name in sorted(REALS) for kind, bad in BAD_REAL.items()),
    *((name, kind, bad) for name in sorted(COUNTS) for kind, bad in BAD_COUNT.items()),
    *((name, kind, bad) for name in sorted(NAMES) for kind, bad in BAD_NAME.items()),
    *(("widths", kind, bad) for kind, bad in BAD_WIDTHS.items()),
    *(("seed", kind, bad) for kind, bad in BAD_COUNT.items() if kind not in ("zero", "huge")),
    ("seed", "too large", 2**31),
    ("rtol", "one", 1.0),
    ("rtol", "below round-off", 1e-14),
    ("cutoff", "one", 1.0),
]


def test_every_option_is_in_a_table():
    assert set(Options.model_fields) == COUNTS | REALS | NAMES | FREE_NAMES | OTHERS


@pytest.mark.parametrize(("name", "kind", "bad"), CASES, ids=lambda v: v if type(v) is str else "")
def test_refused_in_one_sentence(name, kind, bad):
    with pytest.raises(UsageError) as error:
        options(**{name: bad})
    message = str(error.value)
    assert re.search(rf"\b{name}\b", message), message
    assert "\n" not in message and message.endswith(".") and ";" in message
    assert "Input" not in message and "input" not in message and "pydantic" not in message
    assert len(message) < 250
    if bad is True:
        assert "not true or false" in message


@pytest.mark.parametrize("name", sorted(Options.model_fields))
def test_a_misspelt_option_is_told_its_name(name):
    misspelt = name + name[-1]
    with pytest.raises(UsageError, match=rf"no option '{misspelt}'; did you mean '{name}'\?"):
        options(**{misspelt: 1})


def test_an_option_unlike_any_other():
    with pytest.raises(
        UsageError, match=r"no option 'zzzzzz'; choose one of preset, strategy, scheme, dt"
    ):
        options(zzzzzz=1)


def test_schemes_are_known_by_name():
    for scheme in SCHEMES:
        assert options(scheme=scheme).scheme == scheme
    with pytest.raises(UsageError, match=r"no scheme 'rk5'.*did you mean 'rk4'\?.*euler, heun"):
        options(scheme="rk5")


def test_the_preset_paper_is_a_strategy():
    assert options(preset="paper", strategy="paper").strategy == "paper"
    with pytest.raises(UsageError, match="strategy is 'frozen-features'; leave one of them out"):
        options(preset="paper", strategy="frozen-features")


def test_more_steps_than_anyone_can_wait_for():
    with pytest.raises(UsageError, match=r"dt is 1e-12, which makes 1e\+12 steps"):
        options(dt=1e-12, t_end=1.0)
    assert options(dt=1e-7, t_end=1.0).dt == 1e-7


def test_what_is_good_passes():
    checked = options(
        dt=1, t_end=np.float32(0.5), seed=np.int64(3), widths=[8, 9], subset=5, rtol=None
    )
    assert (checked.dt, checked.t_end, checked.seed) == (1.0, 0.5, 3)
    assert type(checked.dt) is float and type(checked.seed) is int
    assert checked.widths == (8, 9) and checked.subset == 5 and checked.rtol is None
    assert options() == Options() and options(seed=0).seed == 0


def test_options_do_not_change():
    with pytest.raises(ValueError, match="frozen"):
        options().seed = 3
