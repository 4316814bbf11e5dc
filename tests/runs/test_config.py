"""Options from a TOML file: checked as on the command line, nothing evaluated, and back again."""

import subprocess
import sys

import pytest

from tengbc.errors import OutputError, UsageError
from tengbc.options import Options
from tengbc.runs.config import config, read_config, to_toml

GOOD = 'problem = "heat-robin"\n'
BAD = {
    'shceme = "rk4"': "There is no option 'shceme'; did you mean 'scheme'?",
    "[scheme]\nname = 3": "scheme is {'name': 3}",
    "dt = nan": "dt is nan",
    "dt = inf": "dt is inf",
    "dt = -inf": "dt is -inf",
    "dt = 0": "dt is 0",
    'dt = "0.1"': "dt is '0.1'",
    "dt = true": "not true or false",
    "seed = 1.5": "seed is 1.5",
    "seed = -1": "seed is -1",
    "widths = []": "widths is",
    "widths = 40": "widths is 40",
    'widths = ["__import__(1)"]': "widths is",
    "dt = 1\ndt = 2": "not valid TOML",
    "dt = ": "not valid TOML",
    "checkpoint_every = nan": "checkpoint_every is nan",
    "checkpoint_every = -1": "checkpoint_every is -1",
    'checkpoint_every = "often"': "checkpoint_every is 'often'",
    "checkpoint_every = true": "checkpoint_every is True",
    "out = 3": "out is 3",
    "seed = " + "9" * 5000: "not valid TOML",
    "dt = " + "[" * 3000: "not valid TOML",
    'preset = "paper"\nscheme = "radau9"': "the strategy paper cannot march with",
    "dt = 1979-05-27": "dt is",
}


@pytest.mark.parametrize("line", BAD, ids=lambda line: line[:24])
def test_refused_in_one_sentence(tmp_path, line):
    path = tmp_path / "study.toml"
    path.write_text(GOOD + line + "\n")
    with pytest.raises(UsageError) as error:
        config(read_config(path))
    message = str(error.value)
    assert BAD[line] in message and "\n" not in message and len(message) < 500
    assert error.value.exit_code == 2


def test_files_that_are_none(tmp_path):
    path = tmp_path / "study.toml"
    with pytest.raises(OutputError, match="No such file") as error:
        read_config(path)
    assert error.value.exit_code == 5
    path.write_bytes(b"problem = '\xff\xfe'")
    with pytest.raises(UsageError, match="not valid TOML"):
        read_config(path)
    path.write_bytes(b"#" * 2_000_000)
    with pytest.raises(UsageError, match="larger than a configuration can be"):
        read_config(path)
    path.write_bytes(b"")
    with pytest.raises(UsageError, match=r'problem is missing; add a line such as problem = "'):
        config(read_config(path))


def test_complete_and_back(tmp_path):
    """Every option is in the printed file, set or as a comment, and reading it gives the same."""
    given = {"problem": "heat-robin", "dt": 1e-3, "widths": (8, 9), "seed": 7, "out": 'a "b" é\x7f'}
    chosen = config(given)
    text = to_toml(chosen)
    for name in Options.model_fields:
        assert f"\n{name} = " in text or f"\n# {name} is left" in text
    path = tmp_path / "study.toml"
    path.write_text(text, encoding="utf-8")
    again = config(read_config(path))
    assert again == chosen and again.hash == chosen.hash


def test_a_problem_file_is_looked_for_beside_the_study(tmp_path):
    (tmp_path / "mine.py").write_text("problem = 1\n")
    path = tmp_path / "study.toml"
    path.write_text('problem = "mine.py:problem"\n')
    chosen = config(read_config(path))
    assert chosen.problem == f"{tmp_path}/mine.py:problem"
    before = chosen.hash
    (tmp_path / "mine.py").write_text("problem = 2\n")
    assert chosen.hash != before
    (tmp_path / "mine.py").unlink()
    with pytest.raises(OutputError, match="put it back"):
        _ = chosen.hash


def test_the_command_line_overrides_the_file(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(GOOD + "dt = 0.5\nseed = 4\n")
    done = subprocess.run(
        [sys.executable, "-m", "tengbc", "run", str(path), "--dt", "0.25", "--print-config"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and done.stderr == ""
    assert "dt = 0.25\n" in done.stdout and "seed = 4\n" in done.stdout
