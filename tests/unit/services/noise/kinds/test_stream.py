"""Test a stream as a kind of query: its newest total, and what none of its levels needs."""

import pytest
from tests.support.rows import row
from tests.unit.services.streams.streaming import furnish_stream
from tests.unit.worlds import CopyWorld, World

from penstock.errors import IntegrityViolation
from penstock.persistence.tables import Query
from penstock.services.noise.kinds.choice import stream_kind_of
from penstock.services.noise.kinds.stream import state_row
from penstock.services.repository.queries import stream_by_name


@pytest.fixture
def clicks(copy_world: CopyWorld) -> World:
    return copy_world("clicks", furnish_stream)


def test_no_level_of_a_stream_needs_its_elements_again(clicks: World) -> None:
    with clicks.server.database.read() as session:
        query = stream_by_name(session, "clicks")
        kind = stream_kind_of(query)
        assert kind.missing(session, query, [0, query.ceiling]) == []


def test_its_margin_of_error_is_that_of_the_newest_total(clicks: World) -> None:
    with clicks.server.database.read() as session:
        query = stream_by_name(session, "clicks")
        kind, rung = stream_kind_of(query), query.ceiling
        assert state_row(session, query).step == 3
        (newest,) = kind.shape.errors(kind, rung, [3])
        assert kind.current_error(session, query, rung) == newest != kind.error(rung)


def test_its_leaf_has_the_shape(clicks: World) -> None:
    with clicks.server.database.read() as session:
        leaf = stream_kind_of(stream_by_name(session, "clicks")).leaf()
    assert leaf["structure"]["length"] == 50


def test_a_stream_whose_state_is_gone_is_refused(clicks: World) -> None:
    with (
        clicks.server.database.read() as session,
        pytest.raises(IntegrityViolation, match="Stream"),
    ):
        state_row(session, row(Query, id=10**6, name="clicks"))
