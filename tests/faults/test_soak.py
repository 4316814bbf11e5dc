"""P20: a long march neither leaks nor slows down, and compiles nothing after its second step."""

import itertools
import time
from types import SimpleNamespace

import pytest

from tengbc.solver import march, solve
from tengbc.timing import compile_clock
from tests.faults.cases import FROZEN, PAPER, PROBLEMS


def resident() -> float:
    """Bytes of memory this process holds now."""
    with open("/proc/self/statm") as file:
        return 4096.0 * int(file.read().split()[1])


def soak(steps: int, problem: str = "plain") -> list[float]:
    """March, and give back the errors that were on display."""
    seen, shown = {}, []

    def show(phase, fraction, known):
        if phase == "march" and "error" in known:
            shown.append(known["error"])

    def look(record, state):
        if record.step in (2, 100, steps // 2, steps):
            seen[record.step] = (compile_clock.programs, resident(), time.process_time())

    t_end = 0.02
    solve(
        PROBLEMS(problem),
        t_end,
        strategy="frozen-features",
        features=12,
        dt=t_end / steps * (1 + 1e-9),
        rtol=0.5,
        callbacks=[look],
        progress=show,
    )
    compiled, memory, clock = zip(*(seen[k] for k in (2, 100, steps // 2, steps)), strict=True)
    assert compiled[-1] == compiled[0]
    assert memory[3] <= 1.02 * memory[1]
    first, second = clock[2] - clock[1], clock[3] - clock[2]
    assert first < 0.5 or second < 1.5 * first * (steps / 2) / (steps / 2 - 100)
    return shown


def ticking(monkeypatch, seconds):
    """The clock of those who watch: each look at it takes so many seconds."""
    ticks = itertools.count()
    clock = SimpleNamespace(monotonic=lambda: seconds * next(ticks))
    monkeypatch.setattr(march, "time", clock)


def test_ten_thousand_steps():
    soak(10_000)


def test_the_error_on_display_compiles_nothing_either(monkeypatch):
    """A step takes half a second of this clock; what a look takes is there by the second step."""
    ticking(monkeypatch, 0.5)
    shown = soak(1000, "heat")
    assert len(shown) == 999 and 0 < shown[-1] < 0.5


def test_a_march_of_a_moment_is_not_looked_at(monkeypatch):
    ticking(monkeypatch, 1e-6)
    assert soak(1000, "heat") == []


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        ("heat", PAPER | {"scheme": "ab3"}),
        ("logistic", FROZEN | {"scheme": "bdf3", "t_end": 0.2, "dt": 0.01}),
    ],
    ids=["paper, multistep", "fast, nonlinear"],
)
def test_other_marches_compile_nothing_after_their_second_step(problem, kind):
    compiled = []
    look = lambda record, state: compiled.append(compile_clock.programs)
    solve(PROBLEMS(problem), callbacks=[look], throw=False, **kind)
    assert len(compiled) > 10 and compiled[1] == compiled[-1]


@pytest.mark.long
def test_a_hundred_thousand_steps():
    soak(100_000)
