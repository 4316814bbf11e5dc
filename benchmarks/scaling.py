"""One least-squares problem on several processes: seconds, memory and bytes that pass.

`python -m benchmarks.scaling POINTS FEATURES PROCESSES DEVICES [REPEATS]` fits the initial values
of heat-robin with as many features on as many points, rows in eight blocks. It starts its own
processes on the loopback and prints a line for each. docs/scaling.md holds what came out, and
`python -m benchmarks.scaling model` what follows from it.
"""

from __future__ import annotations

import resource
import socket
import subprocess
import sys
import time

SPEED = 26e9
"""Operations of LAPACK's QR in a second of one core, measured with one process."""
BANDWIDTH = 8e7
"""Bytes in a processor second of an exchange on the loopback, copies included."""


def main(*words: str) -> None:
    """Start the processes, or be one of them, or print the model."""
    if words[:1] == ("model",):
        print_model()
    elif words[:1] == ("worker",):
        worker(*map(int, words[1:]))
    else:
        points, features, processes, devices, *more = map(int, words)
        repeats = more[0] if more else 3
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        started = [
            subprocess.Popen(
                [
                    *(sys.executable, "-m", "benchmarks.scaling", "worker"),
                    *map(str, (points, features, processes, devices, repeats, port, k)),
                ]
            )
            for k in range(processes)
        ]
        for process in started:
            process.wait()


def worker(
    points: int, features: int, processes: int, devices: int, repeats: int, port: int, k: int
) -> None:
    """Factorise, multiply, fit; the largest memory and the bytes received."""
    from tengbc.runs.processes import goodbye, join, use_devices

    use_devices(devices, processes)
    if processes > 1:
        join(f"127.0.0.1:{port}", processes, k)
    import numpy as np

    import tengbc as tb
    from tengbc.lstsq.blocks import TRAFFIC, RowBlocks
    from tengbc.networks.waves import FeatureFamily
    from tengbc.projection import BlockedCollocation
    from tengbc.solver.sampling import boundary_points, initial_values
    from tengbc.threads import blas_threads

    problem, family = tb.problems.get("heat-robin"), FeatureFamily()
    network = family.network(problem.domain, problem.components, features, 0)
    interior = problem.domain.interior(points)
    boundary = boundary_points(problem.domain, max(64, points // 64))
    with blas_threads(1):
        rows = BlockedCollocation(RowBlocks(8, devices), problem, network, interior, boundary)
        target = rows.sampled(lambda some: initial_values(problem, some))
        theta, head = rows.parameters.start, np.arange(len(rows.parameters))[rows.parameters.head]
        residual = rows.residual(theta, target, 0.0)
        rows.size(residual)  # whoever was late has come
        factoring, working, before = [], [], TRAFFIC["bytes"]
        for _ in range(repeats):
            began, worked = time.perf_counter(), time.process_time()
            lengths, factored = rows.linearised(theta, 0.0, head, residual, "svd")
            factoring.append(time.perf_counter() - began)
            working.append(time.process_time() - worked)
        factor_bytes, before = (TRAFFIC["bytes"] - before) / repeats, TRAFFIC["bytes"]
        products = []
        for _ in range(5):
            began = time.perf_counter()
            factored.adjoint(residual)
            products.append(time.perf_counter() - began)
        product_bytes = (TRAFFIC["bytes"] - before) / 5
        fitted = theta.copy()
        fitted[head] += factored.solve(1e-12).x / lengths
        left = rows.size(rows.residual(fitted, target, 0.0)) / rows.size(residual)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(
        f"process {k} of {processes}, {devices} devices, {points:,} points × {features:,}: "
        f"factorisation {min(factoring):.2f} s "
        f"({min(working):.2f} s of a processor), a product {min(products):.3f} s, "
        f"left of u₀ {left:.1e}, peak {peak / 1e9:.2f} GB, received {factor_bytes / 1e6:.2f} MB by "
        f"a factorisation and {product_bytes / 1e3:.2f} kB by a product",
        flush=True,
    )
    goodbye(lost=processes == 1)


def seconds(points: float, columns: float, devices: int, blocks: int = 8) -> tuple[float, float]:
    """(what is shared out, what everybody does) of a factorisation, as docs/scaling.md has it."""
    blocks = max(blocks, devices)
    own = 2 * points * columns**2 / devices / SPEED
    stack = 2 * blocks * columns**3 / SPEED
    return own, stack + 8 * blocks * columns**2 * (1 - 1 / devices) / BANDWIDTH


def print_model() -> None:
    """Seconds of a factorisation on 1, 8, 64 and 1,024 devices, 1,000 columns."""
    print("| points | devices | factorisation, s | of it shared out |")
    print("| --- | --- | --- | --- |")
    for points in (1e5, 1e6, 1e7, 1e8):
        for devices in (1, 8, 64, 1024):
            own, rest = seconds(points, 1000, devices)
            part = own / (own + rest)
            print(
                f"| 10^{len(f'{points:.0f}') - 1} | {devices:,} | {own + rest:.3g} | {part:.0%} |"
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
