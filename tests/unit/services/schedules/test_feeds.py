"""Test schedules that feed streams: one element of each version, charged when it was opened."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import col, select
from tests.unit.services.schedules.feeding import (
    FEEDS,
    NORTH,
    SOUTH,
    UNITS_BY_TOWN,
    open_daily,
    total_of,
    with_daily,
)
from tests.unit.services.schedules.planning import (
    file_of,
    runner,
    shown,
    spec_of,
    switched_on,
)
from tests.unit.services.verification.tampered import alter
from tests.unit.worlds import World

from penstock.connectors.connector import ExactAnswer
from penstock.connectors.planning import prepare
from penstock.errors import InvalidInput
from penstock.persistence.tables import Charge
from penstock.persistence.tables.log import Leaf
from penstock.services.access.principals import OPERATOR
from penstock.services.jobs.runner import Run
from penstock.services.schedules import occurrences, schedules
from penstock.services.schedules.forecast import forecast
from penstock.services.streams import streams
from penstock.services.verification.verification import verify

ELEMENTS = "the elements that schedules fed streams with are not those of the log"


@pytest.fixture
def fed(world: World, tmp_path: Path) -> World:
    return with_daily(world, tmp_path)


def nights(world: World, folder: Path, *days: int) -> None:
    for day in days:
        file_of(folder, day)
        world.clock.forward(hours=3 if day == 1 else 24)
        for _ in range(2):
            occurrences.look(world.server, runner(world))


def charged(world: World) -> int:
    with world.server.database.read() as session:
        return len(session.exec(select(Charge)).all())


def read_states(world: World) -> list[str | None]:
    """Return what the leaves of fed elements say of the state that each was read from."""
    with world.server.database.read() as session:
        rows = session.exec(select(Leaf).where(col(Leaf.kind) == "schedule")).all()
    leaves = [json.loads(row.bytes) for row in rows]
    return [leaf.get("read_state") for leaf in leaves if leaf["act"] == "feed"]


def test_each_night_gives_a_stream_one_element_that_costs_nothing_more(
    fed: World, tmp_path: Path
) -> None:
    until = fed.clock() + timedelta(days=10)
    spec = spec_of(tmp_path, queries=[], streams=FEEDS)
    (stream,) = forecast(fed.server, OPERATOR, spec, until).streams
    # The schedule's total allows three versions.
    assert (stream.elements, stream.by_then, stream.ends_at) == (0, 3, None)
    before = charged(fed)
    switched_on(fed, tmp_path, queries=[], streams=FEEDS)
    nights(fed, tmp_path, 1, 2)
    step, total = total_of(fed)
    assert (step, total.tolist()) == (2, [2 * NORTH + 2, 2 * SOUTH, 0])
    done = [(each.state, each.version, each.elements) for each in shown(fed).occurrences]
    assert done == [("done", 3, {"daily": 2}), ("done", 2, {"daily": 1})]
    assert charged(fed) == before


def test_an_occurrence_that_is_stopped_before_its_stream_is_fed_is_gone_on_with(
    fed: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    switched_on(fed, tmp_path, streams=FEEDS)

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    file_of(tmp_path, 1)
    fed.clock.forward(hours=3)
    act = occurrences.act(fed.server, 1)
    occurrences._store_due(fed.server, 1)
    for place in ("feed_all", "_end"):
        with monkeypatch.context() as patch:
            patch.setattr(occurrences, place, crash)
            with pytest.raises(KeyboardInterrupt):
                act(Run("", 1))
    act(Run("", 1))
    assert total_of(fed)[0] == 1
    (done,) = shown(fed).occurrences
    assert (done.state, done.elements) == ("done", {"daily": 1})


def test_a_schedule_ends_when_its_stream_is_full_as_was_said(fed: World, tmp_path: Path) -> None:
    open_daily(fed, name="two", length=2)
    feeds = [{"stream": "two", "query": UNITS_BY_TOWN}]
    until = fed.clock() + timedelta(days=10)
    (stream,) = forecast(fed.server, OPERATOR, spec_of(tmp_path, streams=feeds), until).streams
    switched_on(fed, tmp_path, streams=feeds)
    nights(fed, tmp_path, 1, 2, 3)
    refused = shown(fed).occurrences[0]
    assert (refused.state, refused.version, refused.due_at) == ("refused", None, stream.ends_at)
    assert "has all of its 2 elements" in (refused.problem or "")
    assert not shown(fed).on


def test_an_occurrence_is_refused_as_a_whole_if_a_stream_takes_no_element(
    fed: World, tmp_path: Path
) -> None:
    feeds = [{"stream": "daily", "query": {**UNITS_BY_TOWN, "contribution": {"max_groups": 3}}}]
    until = fed.clock() + timedelta(days=1)
    refusal = forecast(fed.server, OPERATOR, spec_of(tmp_path, streams=feeds), until).refusal
    assert "was opened for 1" in (refusal or "")
    switched_on(fed, tmp_path, streams=feeds)
    nights(fed, tmp_path, 1)
    (refused,) = shown(fed).occurrences
    assert (refused.state, refused.version) == ("refused", None)
    assert refused.problem == refusal
    streams.retire(fed.server, OPERATOR, "daily")
    refusal = forecast(fed.server, OPERATOR, spec_of(tmp_path, streams=FEEDS), until).refusal
    assert "is retired" in (refusal or "")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"streams": FEEDS * 2}, "listed twice"),
        ({"streams": FEEDS, "disjoint": True}, "leave disjoint_units out"),
        ({"streams": [{"stream": "daily", "query": {"where": []}}]}, "aggregate"),
    ],
)
def test_what_cannot_feed_a_stream_is_refused_when_the_schedule_is_made(
    fed: World, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    version = {**spec_of(tmp_path).version, "disjoint_units": bool(changes.pop("disjoint", False))}
    with pytest.raises((InvalidInput, ValueError), match=message):
        schedules.create(
            fed.server, fed.person("ada"), spec_of(tmp_path, version=version, **changes)
        )


@pytest.mark.only("sqlite")
def test_an_audit_finds_elements_that_are_not_those_of_the_log(fed: World, tmp_path: Path) -> None:
    switched_on(fed, tmp_path, queries=[], streams=FEEDS)
    nights(fed, tmp_path, 1, 2)
    assert verify(fed.server, OPERATOR).problems == []
    schedules.switch(fed.server, fed.person("ada"), "nightly", on=False)
    schedules.remove(fed.server, fed.person("ada"), "nightly")
    assert verify(fed.server, OPERATOR).problems == []
    alter(fed, "UPDATE fed_element SET step = 7 WHERE step = 2")
    found = verify(fed.server, OPERATOR).problems
    assert ELEMENTS in found
    assert any("was altered" in problem for problem in found), found
    alter(fed, "DELETE FROM fed_element WHERE step = 7")
    assert verify(fed.server, OPERATOR).problems == [ELEMENTS]


def test_the_state_that_an_element_was_read_from_is_in_its_leaf(
    fed: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    switched_on(fed, tmp_path, queries=[], streams=FEEDS)
    nights(fed, tmp_path, 1)
    assert read_states(fed) == [None]  # a file is known by its fingerprint
    answer = prepare.answer

    def named(*args: Any, **options: Any) -> ExactAnswer:
        return answer(*args, **options)._replace(state="state-2")

    monkeypatch.setattr(prepare, "answer", named)
    nights(fed, tmp_path, 2)
    assert read_states(fed) == [None, "state-2"]
    assert verify(fed.server, OPERATOR).problems == []
