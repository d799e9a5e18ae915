"""Test how a checkout is named, and what a server of its home is told."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.benchmarks.served.compared.populated import LIMITS, Tree, created, tree_at

from penstock.settings import Settings


def with_python(folder: Path) -> Path:
    python = folder / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    return folder


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=n", "-c", "user.email=e@example.org")
    command = ["git", "-C", str(folder), *who, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_a_checkout_is_called_by_its_commit_and_marked_if_it_differs(tmp_path: Path) -> None:
    git(with_python(tmp_path), "init", "--quiet")
    (tmp_path / ".gitignore").write_text(".venv\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "Begin")
    commit = git(tmp_path, "rev-parse", "HEAD")[:8]
    python = str(tmp_path / ".venv" / "bin" / "python")
    assert tree_at(tmp_path) == Tree(commit, python)
    (tmp_path / "other").touch()
    assert tree_at(tmp_path) == Tree(f"{commit}+", python)


def test_a_folder_without_commits_is_called_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert tree_at(with_python(tmp_path)).name == tmp_path.name


def test_a_checkout_without_an_environment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"has no \.venv"):
        tree_at(tmp_path)


def test_limits_are_far_off_and_still_counted() -> None:
    for name, value in LIMITS.items():
        setting = name.removeprefix("PENSTOCK_").lower()
        default = getattr(Settings(), setting)
        assert 0 < 100 * default <= float(value)


@pytest.mark.nightly
def test_a_home_is_made_by_the_checkouts_own_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_TIME_QUANTUM", "none of a benchmark's business")
    home = created(Tree("now"), tmp_path / "one", {})
    assert home.environment["PENSTOCK_HOME"] == str(tmp_path / "one" / "home")
    assert "root" in home.run("user", "create", "root", "--role", "admin")
    with pytest.raises(RuntimeError, match="nobody"):
        home.run("token", "create", "nobody")
