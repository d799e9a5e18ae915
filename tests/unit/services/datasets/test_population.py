"""Test which datasets may be declared to hold the same people, and which may not."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.services.datasets.stays import register, written
from tests.unit.services.exposure.same_people_worlds import (
    declare,
    groups,
    problems,
    same_table_twice,
    shown,
    third,
)
from tests.unit.services.versions import new_file
from tests.unit.sites import SITES
from tests.unit.worlds import CopyWorld, World

from penstock.errors import Conflict, Forbidden, InvalidInput, NotFound
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import corrections, datasets
from penstock.services.exposure import same_people
from penstock.services.schemas.datasets import CorrectionRequest
from penstock.services.schemas.queries import DatasetRequest


@pytest.fixture
def twice(copy_world: CopyWorld, keep: Callable[[str, str], Path]) -> World:
    return copy_world("same-people", same_table_twice(keep))


def test_three_are_one_group_in_whatever_order(world: World, tmp_path: Path) -> None:
    names = ["a", "b", "c", "d"]
    for number, name in enumerate(names):
        register(world, new_file(tmp_path, number), name=name)
    declare(world, "a", "b")
    declare(world, "c", "d")
    assert groups(world) == [["a", "b"], ["c", "d"]]
    declare(world, "d", "a")
    assert groups(world) == [names]
    with pytest.raises(Conflict, match="declared already"):
        declare(world, "b", "c")
    assert shown(world, "c").together[-1].granted.epsilon == 32
    assert problems(world) == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"neighboring": "replace"}, "under replace, and in 'stays' under add_remove"),
        ({"privacy_unit": {"rows": 1}}, "of 'third' is a row, and that of 'stays' is somebody"),
    ],
)
def test_what_cannot_be_added_up_is_refused(
    world: World, tmp_path: Path, changes: dict[str, object], says: str
) -> None:
    register(world, written(tmp_path)[0])
    with pytest.raises(Conflict, match=says):
        third(world, tmp_path, **changes, same_people_as="stays")
    third(world, tmp_path, **changes)
    for act in (same_people.declare, same_people.preview):
        with pytest.raises(Conflict, match=says):
            act(world.server, OPERATOR, "third", "stays")
    assert groups(world) == []


def test_nor_is_a_declaration_corrected_to_what_cannot(world: World, tmp_path: Path) -> None:
    register(world, written(tmp_path)[0])
    third(world, tmp_path, same_people_as="stays")
    for changes in ({"neighboring": "replace"}, {"privacy_unit": {"rows": 1}}):
        wanted = CorrectionRequest.model_validate(changes)
        with pytest.raises(Conflict, match="cannot be added up"):
            corrections.correct(world.server, OPERATOR, "third", wanted)
    corrections.correct(world.server, OPERATOR, "third", CorrectionRequest(delta=1e-7))
    total = shown(world).together[-1].granted
    assert total.epsilon == 16
    assert total.delta == pytest.approx(1.1e-6)


def test_itself_and_what_is_not_there_are_refused(twice: World) -> None:
    for name, says in (("STAYS", "the dataset itself"), ("missing", "There is no dataset")):
        with pytest.raises(InvalidInput, match=says):
            declare(twice, "stays", name)
    with pytest.raises(NotFound):
        declare(twice, "missing", "stays")
    for name in ("ines", "otto"):
        with pytest.raises(Forbidden):
            same_people.declare(twice.server, twice.person(name), "stays", "again")


def test_events_are_not_people(twice: World) -> None:
    events = {**SITES, "name": "events", "privacy_unit": "event", "same_people_as": "stays"}
    with pytest.raises(Conflict, match="'events' is an event, and that of 'stays' is somebody"):
        datasets.register(twice.server, OPERATOR, DatasetRequest.model_validate(events))


def test_vectors_that_are_pushed_may_be_of_the_same_people(twice: World) -> None:
    pushed = {**SITES, "name": "pushed", "same_people_as": "stays"}
    datasets.register(twice.server, OPERATOR, DatasetRequest.model_validate(pushed))
    assert groups(twice) == [["pushed", "stays"]]
