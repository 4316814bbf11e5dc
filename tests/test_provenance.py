"""The commit of the package's own source, and whether it was changed."""

import subprocess

from tengbc.provenance import commit


def test_only_changes_of_the_package_make_a_commit_dirty(tmp_path):
    package = tmp_path / "src/package"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("one = 1\n")
    (tmp_path / "results.txt").write_text("1\n")
    assert commit(package) == "unknown"
    who = ["-c", "user.name=someone", "-c", "user.email=someone@example.org"]
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    assert commit(package) == "unknown"
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    subprocess.run(["git", *who, "commit", "-q", "-m", "first"], cwd=tmp_path, check=True)
    name = commit(package)
    assert len(name) == 12 and "dirty" not in name
    (tmp_path / "results.txt").write_text("2\n")
    assert commit(package) == name
    (package / "__init__.py").write_text("one = 2\n")
    assert commit(package) == f"{name}-dirty"
    elsewhere = tmp_path / "installed"
    elsewhere.mkdir()
    assert commit(elsewhere) == "unknown"  # the tree around it is not its own
