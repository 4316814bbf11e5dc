"""A sweep against a loop of `tengbc run`, over the same runs: `python -m benchmarks.sweep`.

    python -m benchmarks.sweep [--runs 12] [--kind short|long]

Wall-clock seconds of the two commands, each in processes of its own and in the environment of the
caller, so leave OPENBLAS_NUM_THREADS and its like unset. Short runs take about as long as their
imports, which a worker makes once; the matrices of long ones may use all cores in the loop, too.
The loop and the sweep take turns, so that what else the machine does meets both; its load average
is printed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

KINDS = {
    "short": {"rtol": 1e-6},
    "long": {"strategy": "frozen-features", "rtol": 1e-8},
}
RUNS = {"short": 12, "long": 6}
BAR = 1.7


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="A sweep against a loop of tengbc run.")
    parser.add_argument("--runs", type=int, help="how many runs both do")
    parser.add_argument("--kind", choices=KINDS, help="short or long runs alone")
    given = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    print(f"{'':24}{'loop':>9}{'sweep':>9}{'ratio':>8}   bar {BAR} on two cores; here {cores}")
    for kind in (given.kind,) if given.kind else KINDS:
        count = given.runs or RUNS[kind]
        load = os.getloadavg()[0]
        with tempfile.TemporaryDirectory() as place:
            loop, sweep = compared(Path(place), KINDS[kind], count)
        what = f"{count} {kind} runs"
        print(f"{what:24}{loop:8.1f}s{sweep:8.1f}s{loop / sweep:8.2f}   load average {load:.1f}")


def compared(place: Path, options: dict[str, object], count: int) -> tuple[float, float]:
    """Seconds of the loop and of the sweep, half of the runs of each at a time."""
    loop = sweep = 0.0
    for turn, seeds in enumerate((range(count // 2), range(count // 2, count))):
        line = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        for seed in seeds:
            out = ["--out", str(place / f"loop{seed}"), "--quiet"]
            loop += seconds("run", "heat-robin", *line, "--seed", str(seed), *out)
        study = place / f"study{turn}.toml"
        entries = [f"{name} = {value!r}" for name, value in options.items()]
        entries += [f"out = {str(place / f'sweep{turn}')!r}", f"grid = {{seed = {[*seeds]}}}"]
        study.write_text("\n".join(['problem = "heat-robin"', *entries]), "utf-8")
        sweep += seconds("sweep", str(study), "--quiet")
    return loop, sweep


def seconds(*line: str) -> float:
    """How long a command takes."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "tengbc", *line], check=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
