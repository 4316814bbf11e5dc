"""Large problems stay bounded: one iteration on 65,536 points with 768 columns."""

import os
import subprocess
import sys

SCRIPT = """
import numpy as np
import tengbc as tb
from tengbc.projection import Collocation, SubsetProjection
from tengbc.solver.sampling import boundary_points

domain = (problem := tb.problems.get("heat-dirichlet")).domain
rows = Collocation(problem, tb.mlp(domain), domain.interior(65_536), boundary_points(domain, 256))
target = problem.initial(rows.interior.x)[:, None]
rows.rates(rows.parameters.start, 0.0)
projection = SubsetProjection(iterations=1, subset=768, method="svd")
fit = projection.fit(rows.parameters.start, rows, target, 0.0, (0,))
assert fit.iterations == 1 and fit.residual < fit.start
jacobian = 8 * 768 * rows.rows
# VmHWM begins with the program; ru_maxrss would also count the parent it was forked from.
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(int(peak.split()[1]) * 1024, jacobian)
"""


def test_peak_memory():
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    peak, jacobian = map(int, done.stdout.split())
    assert jacobian > 400e6
    assert peak <= 3 * jacobian + 1e9
