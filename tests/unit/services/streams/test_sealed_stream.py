"""Test that altered, cut, moved or restored rows of a stream are refused and draw no noise."""

from typing import Any

import pytest
from sqlalchemy import text
from sqlmodel import col, select
from tests.unit.sites import SITES
from tests.unit.worlds import CopyWorld, World, fill_and_push

from penstock.errors import Conflict, IntegrityViolation, NotFound
from penstock.persistence.tables import Dataset, Leaf, StreamState
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.people import users
from penstock.services.repository.queries import stream_by_name
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.queries import (
    DatasetRequest,
)
from penstock.services.schemas.streams import ElementsRequest, StreamChange, StreamRequest
from penstock.services.streams import stream_elements, stream_totals, streams
from penstock.services.streams.sealed_stream import load, outputs_of


def execute(world: World, statement: str) -> None:
    named = statement.replace("HITS", HITS).replace("OTHER", OTHER)
    with world.server.database.write() as session:
        session.connection().execute(text(named))


@pytest.fixture
def hits(copy_world: CopyWorld) -> World:
    return copy_world("hits", furnish)


def furnish(world: World) -> None:
    """Add what ``fill_and_push`` adds, and two streams of three elements."""
    fill_and_push(world)
    for name in ("hits", "other"):
        request = {
            "name": name,
            "dataset": SITES["name"],
            "mechanism": "laplace",
            "length": 50,
            "max_steps_per_unit": 1,
            "levels": {"public": {"epsilon": 0.01}},
        }
        streams.open_stream(world.server, OPERATOR, StreamRequest.model_validate(request))
        push(world, name, 1, [1, 2, 3])


def push(world: World, name: str, first: int, values: list[Any]) -> None:
    sent = ElementsRequest.model_validate({"from": first, "values": values})
    stream_elements.push(world.server, OPERATOR, name, sent)


def last_of(world: World, name: str) -> Any:
    found = stream_totals.read(world.server, world.person("pia"), name)
    return [item.values.tolist() for item in found.items]


HITS = "(SELECT id FROM query WHERE name = 'hits')"
OTHER = "(SELECT id FROM query WHERE name = 'other')"


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE stream_state SET step = 2 WHERE query_id = HITS",
        (
            "UPDATE stream_state SET ciphertext = (SELECT ciphertext FROM stream_state"
            " WHERE query_id = OTHER) WHERE query_id = HITS"
        ),
        "DELETE FROM stream_state WHERE query_id = HITS",
        "UPDATE query SET structure = replace(structure, '50', '60') WHERE name = 'hits'",
        "UPDATE query SET structure = NULL WHERE name = 'hits'",
    ],
)
def test_an_altered_state_takes_no_element(hits: World, change: str) -> None:
    taken = hits.streams.taken
    execute(hits, change)
    with pytest.raises(IntegrityViolation):
        push(hits, "hits", 4, [1])
    with pytest.raises(IntegrityViolation):
        push(hits, "hits", 3, [1])
    assert hits.streams.taken == taken


def test_a_state_from_before_the_newest_outputs_is_found_out(hits: World) -> None:
    old = select(StreamState).order_by(col(StreamState.id))
    with hits.server.database.read() as session:
        row = session.exec(old).all()[0]
        step, ciphertext = row.step, row.ciphertext
    push(hits, "hits", 4, [1])
    with hits.server.database.write() as session:
        state = session.exec(select(StreamState).where(col(StreamState.step) == 4)).one()
        state.step, state.ciphertext = step, ciphertext
        session.add(state)
    taken = hits.streams.taken
    with pytest.raises(IntegrityViolation, match="at step 3, and gave totals up to 4"):
        push(hits, "hits", 4, [1])
    assert hits.streams.taken == taken


def test_elements_pushed_twice_at_once_are_taken_in_once(
    hits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another server takes the number in, after the first has drawn and before it stores."""
    done: list[bool] = []
    original = stream_elements.advanced

    def slow(*arguments: Any) -> Any:
        found = original(*arguments)
        if not done:
            done.append(True)
            push(hits, "hits", 4, [7])
        return found

    monkeypatch.setattr(stream_elements, "advanced", slow)
    with pytest.raises(Conflict, match="number 5, not 4"):
        push(hits, "hits", 4, [1])
    assert len(last_of(hits, "hits")) == 4


def test_no_total_is_handed_out_once_a_clearance_was_taken_away(
    hits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is taken away after the totals were read, and before their hand-out is recorded."""

    def slow(*arguments: Any) -> Any:
        found = outputs_of(*arguments)
        change = UserChange.model_validate({"clearance": None})
        users.change(hits.server, OPERATOR, "pia", change)
        return found

    monkeypatch.setattr(stream_totals, "outputs_of", slow)
    with pytest.raises(NotFound):
        stream_totals.read(hits.server, hits.person("pia"), "hits")
    with hits.server.database.read() as session:
        assert session.exec(select(Leaf).where(col(Leaf.kind) == "stream")).all() == []


def more_accurate(world: World) -> None:
    wanted = StreamChange.model_validate({"levels": {"internal": {"epsilon": 0.02}}})
    streams.change(world.server, OPERATOR, "hits", wanted)


def test_a_state_from_before_a_level_was_added_is_found_out(hits: World) -> None:
    mine = select(StreamState).order_by(col(StreamState.id))
    with hits.server.database.read() as session:
        before = session.exec(mine).all()[0].ciphertext
    more_accurate(hits)
    with hits.server.database.write() as session:
        state = session.exec(mine).all()[0]
        state.ciphertext = before
        session.add(state)
    taken = hits.streams.taken
    with pytest.raises(IntegrityViolation, match="other levels than those drawn"):
        push(hits, "hits", 4, [1])
    assert hits.streams.taken == taken


def test_the_ceiling_of_a_stream_is_the_most_accurate_level_that_it_ever_had(hits: World) -> None:
    """It stands in the row that is authenticated, and what is drawn is held to it."""

    def rungs() -> tuple[int, list[int]]:
        with hits.server.database.read() as session:
            query = stream_by_name(session, "hits")
            dataset = session.get_one(Dataset, query.dataset_id)
            return query.ceiling, sorted(load(session, hits.server, dataset, query).rungs)

    first, known = rungs()
    assert known == [first]
    more_accurate(hits)
    raised, known = rungs()
    assert raised < first
    assert known == [raised, first]
    # In between, and noisier than all: neither moves it.
    for tier, epsilon in (("partner", 0.015), ("public", 0.005)):
        wanted = StreamChange.model_validate({"levels": {tier: {"epsilon": epsilon}}})
        streams.change(hits.server, OPERATOR, "hits", wanted)
        ceiling, known = rungs()
        assert ceiling == raised == known[0]
    assert len(known) == 4


def test_elements_pushed_while_a_level_is_added_are_to_be_sent_again(
    hits: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = stream_elements.advanced

    def slow(*arguments: Any) -> Any:
        found = original(*arguments)
        monkeypatch.undo()
        more_accurate(hits)
        return found

    monkeypatch.setattr(stream_elements, "advanced", slow)
    with pytest.raises(Conflict, match="changed in the meantime"):
        push(hits, "hits", 4, [1])
    push(hits, "hits", 4, [1])
    assert len(last_of(hits, "hits")) == 4


def test_an_event_dataset_needs_no_word_on_steps(visits: World) -> None:
    clicks = {**SITES, "name": "clicks", "privacy_unit": "event"}
    datasets.register(visits.server, OPERATOR, DatasetRequest.model_validate(clicks))
    request = {"name": "e", "dataset": "clicks", "mechanism": "gaussian", "length": 9, "share": 0.1}
    shown = streams.open_stream(visits.server, OPERATOR, StreamRequest.model_validate(request))
    assert shown.max_steps_per_unit == 1


@pytest.mark.only("sqlite")
def test_no_total_of_a_stream_is_in_the_files_of_its_home(visits: World) -> None:
    request = {
        "name": "wide",
        "dataset": "sites",
        "mechanism": "laplace",
        "length": 50,
        "dimension": 4,
        "max_steps_per_unit": 1,
        "levels": {"public": {"epsilon": 0.01}},
    }
    server = visits.server
    streams.open_stream(server, OPERATOR, StreamRequest.model_validate(request))
    rows = [[1_000_003, 2_000_003, 3_000_017, 4_000_037]] * 2
    push(visits, "wide", 1, rows)
    with server.database.read() as session:
        query = stream_by_name(session, "wide")
        dataset = session.get_one(Dataset, query.dataset_id)
        running = load(session, server, dataset, query)
    exact = running.total.astype("<i8").tobytes()
    assert running.total[1] * 1_000_003 == running.total[0] * 2_000_003
    files = [path.read_bytes() for path in server.settings.home.rglob("*") if path.is_file()]
    assert files
    assert not any(exact in held or exact[:8] in held for held in files)
    assert not any(str(number).encode() in held for held in files for number in rows[0])
