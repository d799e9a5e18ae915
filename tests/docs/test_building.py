"""Test the time that a build of the documentation has, and where it looks for its programs."""

import os
from pathlib import Path

import pytest

from docs import build_hook, building


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """Return the times that builds had, with nothing built."""
    seen: list[str | None] = []
    monkeypatch.setattr(
        "mkdocs.commands.build.build", lambda _config: seen.append(os.environ.get(building.TIME))
    )
    return seen


def test_a_build_has_a_fixed_time_and_leaves_none_behind(
    times: list[str | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wheel that the same process builds later would have other bytes."""
    monkeypatch.delenv(building.TIME, raising=False)
    building.build(tmp_path)
    assert times == [building.EPOCH]
    assert building.TIME not in os.environ


def test_a_given_time_is_the_builds(
    times: list[str | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(building.TIME, "1000000000")
    building.build(tmp_path)
    assert times == ["1000000000"]
    assert os.environ[building.TIME] == "1000000000"


def test_a_build_reaches_what_pip_installed_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pip's environment of a build is on PYTHONPATH, and MkDocs is nowhere else."""
    monkeypatch.setenv("PYTHONPATH", "/pip-build-env/site")
    sources = [str(tmp_path / "server"), str(tmp_path / "clients/python/src")]
    assert build_hook.searched(tmp_path).split(os.pathsep) == [*sources, "/pip-build-env/site"]
    monkeypatch.delenv("PYTHONPATH")
    assert build_hook.searched(tmp_path).split(os.pathsep) == sources
