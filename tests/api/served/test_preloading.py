"""Test that the master imports the application once.

Whatever is secret or random is each worker's own.
"""

import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.api.served import preloading, serving
from tests.api.served.preloading import Inherited
from tests.api.served.serving import ASK, CONFIGURATION, serve_copy
from tests.databases.homes import Home, Homes
from tests.support.places import ROOT

WORKERS = 2
REPOSITORY = ROOT

pytestmark = [
    pytest.mark.only("sqlite"),
    pytest.mark.skipif(sys.platform != "linux", reason="/proc is of Linux"),
]

Forked = Callable[[str], list[Inherited]]


@pytest.fixture
def forked(
    furnished: tuple[Home, dict[str, str]],
    homes: Homes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Forked:
    """Return what the workers of a server inherit whose configuration has a text more."""

    def serve(more: str) -> list[Inherited]:
        place = tmp_path / "gunicorn.conf.py"
        place.write_text(preloading.configuration(CONFIGURATION, more))
        monkeypatch.setattr(serving, "CONFIGURATION", place)
        told = tmp_path / "told"
        told.mkdir()
        wanted = {preloading.FOLDER: str(told), "PYTHONPATH": str(REPOSITORY)}
        server = serve_copy(homes, furnished[0], tmp_path / "home", workers=WORKERS, **wanted)
        try:
            assert server.ask("POST", ASK, {})[0] == 200
        finally:
            ended = server.stop(signal.SIGTERM)
        assert ended == 0, (server.home / "log").read_text()
        found = preloading.told(told)
        assert len(found) >= WORKERS
        return found

    return serve


def test_workers_inherit_code_and_nothing_else(forked: Forked) -> None:
    found = forked(preloading.LOOKING)
    assert {one.imported for one in found} == {True}
    assert [one.held for one in found] == [[]] * len(found)
    assert {one.threads for one in found} == {1}
    assert [one.files for one in found] == [[]] * len(found)
    assert len({one.noise for one in found}) == len(found)


def test_a_master_that_opens_the_home_is_found_out(forked: Forked) -> None:
    """Its workers have its keys, its connections' pools, and one stream for all of them."""
    found = forked(preloading.OPENED)
    assert {"Server", "Secrets", "Database"} <= set(found[0].held)
    assert len({one.noise for one in found}) == 1


def test_a_master_that_imports_nothing_is_found_out(forked: Forked) -> None:
    assert {one.imported for one in forked(preloading.BARE)} == {False}
