"""Test gunicorn's reload, which first checks settings and home in another process."""

import subprocess
import sys
from typing import Any

import pytest
from gunicorn.arbiter import Arbiter

from penstock.cli.home import launch


class Log:
    """Keep errors in place of gunicorn's log."""

    def __init__(self) -> None:
        self.errors: list[str] = []

    def error(self, message: str, *arguments: object) -> None:
        self.errors.append(message % arguments)


@pytest.fixture
def reloads(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return the masters whose workers were replaced."""
    masters: list[object] = []
    monkeypatch.setattr(Arbiter, "reload", lambda master: masters.append(master))
    return masters


def master_after_check(monkeypatch: pytest.MonkeyPatch, code: int, error: str) -> Any:
    """Return a master after a reload whose check exits with ``code``."""

    def run(command: tuple[str, ...], **_: object) -> subprocess.CompletedProcess[str]:
        assert command == (sys.executable, "-P", "-m", "penstock", "status")
        return subprocess.CompletedProcess(command, code, "", error)

    monkeypatch.setattr(subprocess, "run", run)
    master = launch.Master.__new__(launch.Master)
    master.log = Log()
    master.reload()
    return master


def test_workers_are_replaced_where_new_ones_can_start(
    monkeypatch: pytest.MonkeyPatch, reloads: list[object]
) -> None:
    master = master_after_check(monkeypatch, 0, "a warning")
    assert reloads == [master]
    assert master.log.errors == []


@pytest.mark.parametrize(
    ("error", "says"),
    [
        ("noise\nError: The key is missing.\nmore", "Error: The key is missing."),
        ("Traceback", "run `penstock status`"),
    ],
)
def test_workers_stay_where_new_ones_could_not_start(
    monkeypatch: pytest.MonkeyPatch, reloads: list[object], error: str, says: str
) -> None:
    master = master_after_check(monkeypatch, 1, error)
    assert reloads == []
    assert len(master.log.errors) == 1
    assert says in master.log.errors[0]
    assert "Traceback" not in master.log.errors[0]


def test_gunicorn_stays_in_its_folder_and_leaves_the_import_path_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = list(sys.path)
    monkeypatch.setattr("os.chdir", lambda _: pytest.fail("it changed its folder"))
    launch.Program.__new__(launch.Program).chdir()
    assert sys.path == before
