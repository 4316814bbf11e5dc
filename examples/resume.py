"""Resume: a run is killed on its way, and goes on from its last checkpoint."""

import subprocess
import sys
import time
from pathlib import Path

import tengbc as tb

out = Path("resumed")
run = [sys.executable, "-m", "tengbc"]
# On the command line: tengbc run heat-robin --out resumed
first = subprocess.Popen(
    [*run, "run", "heat-robin", "--rtol", "1e-4", "--out", str(out), "--checkpoint-every", "0"]
)
while first.poll() is None and not list(out.glob("checkpoints/*")):
    time.sleep(0.01)
first.kill()
first.wait()
print("killed; there are", len(list(out.glob("checkpoints/*"))), "checkpoints")

# On the command line: tengbc resume resumed
if not (out / "summary.json").exists():
    subprocess.run([*run, "resume", str(out), "--quiet"], check=True)

solution = tb.load(out / "solution.safetensors")
print(f"{solution.problem.name}: {solution.result}")
print(f"relative error, at worst: {solution.error_estimate.max():.1e}")
