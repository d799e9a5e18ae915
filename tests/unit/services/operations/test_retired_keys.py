"""Test that retired keys are dropped by name, unless a backup that is kept still needs them."""

from pathlib import Path

import pytest
from tests.unit.worlds import World

from penstock.errors import Forbidden, InvalidInput
from penstock.services.access.principals import OPERATOR
from penstock.services.operations import backup, key_rotation, retired_keys


def rotated(world: World) -> list[str]:
    key_rotation.rotate(world.server, OPERATOR)
    return [key.key for key in key_rotation.show(world.server, OPERATOR).retired]


def test_a_key_that_was_retired_can_be_dropped_once(visits: World) -> None:
    names = rotated(visits)
    assert names
    wanted = retired_keys.droppable(visits.server, OPERATOR, [], [])
    assert [key.key for key in wanted] == names
    retired_keys.drop(visits.server, OPERATOR, wanted, lambda: None)
    assert retired_keys.droppable(visits.server, OPERATOR, [], []) == []
    # Once more drops what is still there, which is nothing.
    retired_keys.drop(visits.server, OPERATOR, wanted, lambda: None)


def test_only_those_that_are_named_are_dropped(visits: World) -> None:
    names = rotated(visits)
    (wanted,) = retired_keys.droppable(visits.server, OPERATOR, names[:1], [])
    assert wanted.key == names[0]
    with pytest.raises(InvalidInput, match="nothing is not a retired key"):
        retired_keys.droppable(visits.server, OPERATOR, ["nothing"], [])


def test_what_a_kept_backup_needs_stays(visits: World, tmp_path: Path) -> None:
    path = Path(backup.create(visits.server.settings, tmp_path / "copy").path)
    names = rotated(visits)
    assert retired_keys.droppable(visits.server, OPERATOR, [], [path]) == []
    assert retired_keys.droppable(visits.server, OPERATOR, names, [path]) == []
    assert retired_keys.droppable(visits.server, OPERATOR, names, []) != []


def test_the_pause_comes_before_anything_is_destroyed(visits: World) -> None:
    rotated(visits)
    wanted = retired_keys.droppable(visits.server, OPERATOR, [], [])

    def pause() -> None:
        assert key_rotation.show(visits.server, OPERATOR).retired

    retired_keys.drop(visits.server, OPERATOR, wanted, pause)
    assert not key_rotation.show(visits.server, OPERATOR).retired


def test_only_admins_drop_keys(visits: World) -> None:
    with pytest.raises(Forbidden):
        retired_keys.droppable(visits.server, visits.person("otto"), [], [])
