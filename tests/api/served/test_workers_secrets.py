"""Test that a worker lacks what it does not need.

That is the URL of the database's owner, and memory that others can read.
"""

import ctypes
import json
import os
import runpy
import sys
from pathlib import Path
from typing import NoReturn

import pytest
from tests.api.served.serving import CONFIGURATION
from tests.databases.homes import Homes

from penstock import application
from penstock.cli.home import serving
from penstock.services.context import Server
from penstock.settings import Settings

OWNER = "postgresql://owner:canary@127.0.0.1/penstock"
NAMES = ("PENSTOCK_MIGRATION_DATABASE_URL", "PENSTOCK_MIGRATION_DATABASE_URL_FILE")
GET_DUMPABLE = 3  # of prctl(2)


class Execed(Exception):  # no error: a program took the place of this one
    """Report that the program would have become another one."""


@pytest.mark.only("sqlite")
def test_the_server_that_is_started_does_not_get_the_owners_url(
    homes: Homes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = homes.empty(tmp_path / "home")
    given: list[dict[str, str]] = []

    def execed(_: str, __: list[str], environment: dict[str, str]) -> NoReturn:
        given.append(environment)
        raise Execed

    monkeypatch.setattr(os, "execve", execed)
    environment = {**made.environment, "KEPT": "1", **dict.fromkeys(NAMES, OWNER)}
    with pytest.raises(Execed):
        serving.start(made.settings(port=0), environment)
    assert given[0]["KEPT"] == "1"
    assert "canary" not in json.dumps(given)


def test_the_application_forgets_the_owners_url(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Settings] = []

    def opened(settings: Settings) -> Server:
        seen.append(settings)
        raise Execed

    monkeypatch.setattr(application, "open_server", opened)
    with pytest.raises(Execed):
        application.create_app(Settings(migration_database_url=OWNER))
    assert seen[0].migration_database_url == ""


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is of Linux")
def test_a_worker_cannot_be_dumped_and_lacks_the_owners_url(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    read = runpy.run_path(str(CONFIGURATION))
    for name in NAMES:
        monkeypatch.setenv(name, OWNER)
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        found = b"failed"
        try:
            read["post_fork"](None, None)
            dumpable = ctypes.CDLL(None).prctl(GET_DUMPABLE)
            found = json.dumps([dumpable, [name in os.environ for name in NAMES]]).encode()
        finally:
            os.write(there, found)
            os._exit(0)
    os.close(there)
    os.waitpid(child, 0)
    with os.fdopen(here) as answer:
        assert json.loads(answer.read()) == [0, [False, False]]
