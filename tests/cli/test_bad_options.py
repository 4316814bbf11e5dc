"""Bad options: one sentence, exit code 2, before JAX is imported, in less than a second."""

import json
import subprocess
import sys

import pytest

BAD = {
    "--dt nan": "dt is nan",
    "--dt inf": "dt is inf",
    "--dt -1": "dt is -1",
    "--dt 0": "dt is 0",
    "--dt 1e300": "dt is 1e+300",
    "--dt abc": "--dt",
    "--dt 1e-12 --t-end 1": "dt is 1e-12",
    "--t-end nan": "t_end is nan",
    "--t-end -2": "t_end is -2",
    "--rtol 2": "rtol is 2",
    "--rtol 0": "rtol is 0",
    "--seed -1": "seed is -1",
    "--seed 1.5": "--seed",
    "--seed 99999999999": "seed is 99999999999",
    "--preset papr": "preset is 'papr', but it should be 'fast' or 'paper'",
    "--scheme ruk4": "did you mean 'rk4'",
    "--preset paper --scheme radau9": "the strategy paper cannot march with",
    "--widths 8,x": "widths is '8,x'",
    "--widths 8,0": "widths is 0",
    "--widths 1000000000": "widths is 1000000000",
    "--features 0": "features is 0",
    "--per-axis -3": "per_axis is -3",
    "--per-axis 1000000": "per_axis is 1000000",
    "--interior-points 0": "interior_points is 0",
    "--boundary-points 0": "boundary_points is 0",
    "--cutoff 1": "cutoff is 1",
    "--cutoff nan": "cutoff is nan",
    "--iterations 0": "iterations is 0",
    "--subset 0": "subset is 0",
    "--lstsq lu": "lstsq is 'lu'",
    "--fit-iterations 0": "fit_iterations is 0",
    "--shceme euler": "--scheme",
    "--dt": "--dt",
}
BAD_PROBLEMS = {
    "heat-robbin": "There is no problem called 'heat-robbin'; did you mean heat-robin?",
    "nowhere.py:problem": "There is no file nowhere.py",
    "nowhere.py": "such as nowhere.py:problem",
    "": "There is no problem called ''",
}
BAD_LINES = {
    "rnu heat-robin": "Did you mean 'run'?",
    "run": "Missing argument 'problem'",
    "run heat-robin twice": "extra argument",
    "resume": "Missing argument 'directory'",
    "resume /nowhere/at/all": "holds no run",
    "run heat-robin --checkpoint-every nan": "checkpoint_every is nan",
    "run heat-robin --checkpoint-every -1": "checkpoint_every is -1",
}

# All bad command lines in one process: how each ends, what it costs, and that JAX stays out.
SCRIPT = """
import contextlib, io, json, sys, time
from tengbc.cli import main
found = []
for line in json.load(sys.stdin):
    sys.argv = ["tengbc", *line]
    out, err, began = io.StringIO(), io.StringIO(), time.process_time()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = ended.code
    found.append([code, out.getvalue(), err.getvalue(), time.process_time() - began])
json.dump([found, [name for name in ("jax", "jaxlib", "scipy") if name in sys.modules]], sys.stdout)
"""
LINES = {
    **{options: ["run", "heat-robin", *options.split()] for options in BAD},
    **{f"problem {name}": ["run", name] for name in BAD_PROBLEMS},
    **{f"line {line}": line.split() for line in BAD_LINES},
}
EXPECTED = (
    BAD
    | {f"problem {name}": text for name, text in BAD_PROBLEMS.items()}
    | {f"line {line}": text for line, text in BAD_LINES.items()}
)


@pytest.fixture(scope="module")
def ended():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=json.dumps(list(LINES.values())),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found, heavy = json.loads(done.stdout)
    return dict(zip(LINES, found, strict=True)), heavy


@pytest.mark.parametrize("line", LINES)
def test_one_sentence_and_exit_code_two(ended, line):
    code, out, err, seconds = ended[0][line]
    assert code == 2 and out == "" and seconds < 1
    assert err.startswith("tengbc: ") and err.count("\n") == 1 and err.strip()[-1] in ".?"
    assert EXPECTED[line] in err


def test_nothing_heavy_was_imported(ended):
    assert ended[1] == []


def test_as_a_process_of_its_own():
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "tengbc", "run", "heat-robin", "--dt", "nan"],
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert done.returncode == 2
    imported = [line.split("|") for line in done.stderr.splitlines() if "|" in line]
    names = {parts[-1].strip() for parts in imported}
    assert "tengbc.options" in names and not names & {"jax", "equinox", "scipy", "numpy"}
    # Microseconds spent importing, all of it: what a user waits for beside the interpreter.
    total = sum(int(parts[0].split(":")[-1]) for parts in imported[1:])
    assert total < 1_500_000
    assert done.stderr.strip().endswith(
        "tengbc: dt is nan, but it should be a finite number; change it."
    )
