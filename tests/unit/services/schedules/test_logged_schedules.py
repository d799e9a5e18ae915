"""Test that an audit finds schedules and occurrences that are gone, altered, or put back."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.unit.services.schedules.planning import (
    file_of,
    runner,
    spec_of,
    switched_on,
    with_stays,
)
from tests.unit.services.verification.tampered import alter, put_back, rows_of
from tests.unit.worlds import World

from penstock.services.access.principals import OPERATOR
from penstock.services.schedules import occurrences, schedules
from penstock.services.verification.verification import verify

pytestmark = pytest.mark.only("sqlite")

SCHEDULES = "the schedules are not those of the log"
OCCURRENCES = "the occurrences of schedules are not those of the log"


@pytest.fixture
def planned(world: World, tmp_path: Path) -> World:
    """Return a world in which two nights were missed, one was carried out, and one was refused."""
    with_stays(world, tmp_path)
    switched_on(world, tmp_path, refused="go_on")
    file_of(tmp_path, 3)
    for hours in (3 + 48, 24):
        world.clock.forward(hours=hours)
        occurrences.look(world.server, runner(world))
    assert states(world) == ["skipped", "skipped", "done", "refused"]
    return world


def states(world: World) -> list[str]:
    return [row["state"] for row in rows_of(world, "occurrence")]


def problems(world: World) -> list[str]:
    return verify(world.server, OPERATOR).problems


def test_what_a_server_wrote_of_schedules_agrees_with_its_log(
    planned: World, tmp_path: Path
) -> None:
    assert problems(planned) == []
    ada, server = planned.person("ada"), planned.server
    schedules.create(server, ada, spec_of(tmp_path, name="another"))
    schedules.switch(server, ada, "nightly", on=False)
    assert problems(planned) == []
    schedules.remove(server, ada, "nightly")
    schedules.create(server, ada, spec_of(tmp_path))
    assert problems(planned) == []


@pytest.mark.parametrize("gone", range(4))
def test_an_occurrence_that_is_gone_is_missed(planned: World, gone: int) -> None:
    rows = rows_of(planned, "occurrence")
    put_back(planned, "occurrence", [*rows[:gone], *rows[gone + 1 :]])
    assert problems(planned) == [OCCURRENCES]


def test_an_occurrence_that_is_put_back_as_it_was_is_found(planned: World, tmp_path: Path) -> None:
    before = [rows_of(planned, table) for table in ("schedule", "occurrence")]
    file_of(tmp_path, 5)
    planned.clock.forward(hours=24)
    occurrences.look(planned.server, runner(planned))
    after = [rows_of(planned, table) for table in ("schedule", "occurrence")]

    def stored(schedule: Sequence[Any], occurrence: Sequence[Any]) -> list[str]:
        put_back(planned, "occurrence", [])
        put_back(planned, "schedule", schedule)
        put_back(planned, "occurrence", occurrence)
        return problems(planned)

    assert stored(before[0], after[1]) == [SCHEDULES]
    assert stored(after[0], before[1]) == [OCCURRENCES]
    assert stored(*before) == [SCHEDULES]
    assert stored([], []) == [SCHEDULES]
    assert stored(*after) == []


@pytest.mark.parametrize(
    ("statement", "altered"),
    [
        ("UPDATE occurrence SET version = 7 WHERE state = 'done'", OCCURRENCES),
        ("UPDATE occurrence SET due_at = '2020-01-01 00:00:00' WHERE state = 'done'", OCCURRENCES),
        ("UPDATE schedule SET spec = replace(spec, '24.0', '99.0')", SCHEDULES),
        ("UPDATE schedule SET user_id = (SELECT id FROM user WHERE name = 'otto')", SCHEDULES),
    ],
)
def test_a_row_that_is_altered_disagrees_with_its_hmac_and_with_the_log(
    planned: World, statement: str, altered: str
) -> None:
    alter(planned, statement)
    found = problems(planned)
    assert any("was altered" in problem for problem in found), found
    assert altered in found
