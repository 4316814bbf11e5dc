"""Are the intervals of `tb.fit` what they say? Synthetic data with 1 % noise, the truth known.

`python -m benchmarks.fit wall 100` looks for κ and h of a plate that cools through one side, in one
dimension, `python -m benchmarks.fit plate 100` through two sides in two: 200 values each. How often
each number lies in its 95 % interval, and how many seconds a fit takes.
"""

import sys
import time

import jax.numpy as jnp
import numpy as np

import tengbc as tb

TRUE, START = {"kappa": 0.1, "h": 0.05}, {"kappa": 0.3, "h": 0.2}
NOISE = 0.01


def wall(kappa, h):
    """A plate along its thickness, insulated on the left."""
    return tb.Problem(
        tb.Interval(0.0, 1.0),
        tb.Heat(kappa),
        {"left": tb.Neumann(0.0), "right": tb.Robin(h, kappa, 0.0)},
        lambda x: jnp.cos(0.5 * x[0]) + 0.5,
        t_end=1.0,
    )


def plate(kappa, h):
    """A square that two sides insulate."""
    cools, insulated = tb.Robin(h, kappa, 0.0), tb.Neumann(0.0)
    return tb.Problem(
        tb.Rectangle((0.0, 0.0), (1.0, 1.0)),
        tb.Heat(kappa),
        {"left": insulated, "bottom": insulated, "right": cools, "top": cools},
        lambda x: jnp.cos(0.5 * x[0]) * jnp.cos(0.5 * x[1]) + 0.5,
        t_end=1.0,
    )


PROBLEMS = {
    "wall": (wall, np.array([0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97])[:, None]),
    "plate": (
        plate,
        np.array(
            [
                *([0.1, 0.1], [0.9, 0.5], [0.5, 0.9], [0.95, 0.95]),
                *([0.5, 0.5], [0.3, 0.7], [0.7, 0.3], [0.05, 0.6]),
            ]
        ),
    ),
}
TIMES = np.linspace(0.04, 1.0, 25)


def measured(name: str, seed: int, exact: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points, times and noisy values."""
    noise = NOISE * np.random.default_rng(seed).normal(size=exact.shape)
    return PROBLEMS[name][1], TIMES, exact * (1 + noise)


def truth(name: str) -> np.ndarray:
    """The values without noise."""
    factory, x = PROBLEMS[name]
    return tb.solve(factory(**TRUE), rtol=1e-8, throw=False).at_times(x, TIMES)


def main() -> None:
    """Fit many data sets and count."""
    name, count = sys.argv[1], int(sys.argv[2])
    exact, inside, seconds, solves = truth(name), dict.fromkeys(TRUE, 0), [], []
    for seed in range(count):
        began = time.process_time()
        found = tb.fit(PROBLEMS[name][0], measured(name, seed, exact), START)
        seconds.append(time.process_time() - began)
        solves.append(found.solves)
        for number, (low, high) in found.intervals.items():
            inside[number] += low <= TRUE[number] <= high
        print(seed + 1, inside, f"{seconds[-1]:.1f} s, {solves[-1]} solutions", flush=True)
    for number, hits in inside.items():
        print(f"{number}: in its 95 % interval in {hits} of {count} data sets")
    print(
        f"CPU seconds for a fit: median {np.median(seconds):.1f}, most {max(seconds):.1f}; "
        f"solutions: median {np.median(solves):.0f}"
    )


if __name__ == "__main__":
    main()
