"""P20: a long march neither leaks nor slows down, and compiles nothing after its second step."""

import time

import pytest

from tengbc.solver import solve
from tengbc.solver.compile_clock import compile_clock
from tests.faults.cases import PROBLEMS


def resident() -> float:
    """Bytes of memory this process holds now."""
    with open("/proc/self/statm") as file:
        return 4096.0 * int(file.read().split()[1])


def soak(steps: int) -> None:
    seen = {}

    def look(record, state):
        if record.step in (2, 100, steps // 2, steps):
            seen[record.step] = (compile_clock.programs, resident(), time.process_time())

    t_end = 0.02
    solve(
        PROBLEMS("plain"),  # without an exact solution, whose error would be shown now and then
        t_end,
        features=12,
        dt=t_end / steps * (1 + 1e-9),
        rtol=0.5,
        callbacks=[look],
    )
    compiled, memory, clock = zip(*(seen[k] for k in (2, 100, steps // 2, steps)), strict=True)
    assert compiled[-1] == compiled[0]
    assert memory[3] <= 1.02 * memory[1]
    first, second = clock[2] - clock[1], clock[3] - clock[2]
    assert second < 1.5 * first * (steps / 2) / (steps / 2 - 100)


def test_ten_thousand_steps():
    soak(10_000)


@pytest.mark.long
def test_a_hundred_thousand_steps():
    soak(100_000)
