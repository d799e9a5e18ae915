"""Test that a home is examined part by part: what is wrong with one is told of that one alone."""

import shutil

import pytest
from tests.unit.worlds import World

from penstock.errors import Unavailable
from penstock.services.operations.status import StatusView, examine


def by_part(status: StatusView) -> dict[str, bool]:
    return {part.part: part.good for part in status.parts}


@pytest.fixture
def closed(visits: World) -> World:
    visits.server.database.close()
    return visits


def test_a_home_that_works_is_good_in_all_parts(closed: World) -> None:
    status = examine(closed.server.settings)
    assert status.good
    assert by_part(status) == {"database": True, "keys": True, "witness": True}
    # Here all of it is on one disk.
    assert any("keys share a disk" in warning for warning in status.warnings)
    assert any("witness shares a disk" in warning for warning in status.warnings)


def test_a_missing_witness_is_told_of_the_witness(closed: World) -> None:
    shutil.rmtree(closed.server.settings.witness_path)
    status = examine(closed.server.settings)
    assert not status.good
    assert by_part(status) == {"database": True, "keys": True, "witness": False}
    (witness,) = [part for part in status.parts if part.part == "witness"]
    assert witness.state.startswith("The folder is missing")


def test_keys_that_others_can_read_are_told_of_the_keys(closed: World) -> None:
    settings = closed.server.settings
    for path in settings.keys_path.iterdir():
        path.chmod(0o644)
    status = examine(settings)
    assert by_part(status)["keys"] is False
    assert by_part(status)["database"] is True


@pytest.mark.only("sqlite")
def test_a_database_that_is_none_is_told_of_the_database(closed: World) -> None:
    settings = closed.server.settings
    for path in settings.database_path.glob("penstock.db*"):
        path.unlink()
    (settings.database_path / "penstock.db").write_bytes(b"no database" * 200)
    status = examine(settings)
    assert by_part(status)["database"] is False
    assert by_part(status)["keys"] is True


def test_a_folder_that_is_no_home_is_not_examined(closed: World) -> None:
    settings = closed.server.settings.model_copy(
        update={"home": closed.server.settings.home / "nothing"}
    )
    with pytest.raises(Unavailable):
        examine(settings)


def test_little_room_is_a_warning(closed: World) -> None:
    settings = closed.server.settings.model_copy(update={"room_reserve": 2**62})
    status = examine(settings)
    assert status.good
    assert any("MiB of room" in warning for warning in status.warnings)
