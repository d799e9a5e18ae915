"""Test that a stream of a database that was put back to an older state takes no more elements."""

import pytest
from tests.unit.sites import SITES
from tests.unit.worlds import Restore, World

from penstock.errors import Conflict, InvalidInput
from penstock.services.access.principals import OPERATOR
from penstock.services.audit import restores
from penstock.services.schemas.streams import ElementsRequest, StreamRequest
from penstock.services.streams import stream_elements, stream_totals, streams


@pytest.fixture
def hits(visits: World) -> World:
    """Return a stream of three elements, before anything is kept."""
    request = {
        "name": "hits",
        "dataset": SITES["name"],
        "mechanism": "laplace",
        "length": 50,
        "max_steps_per_unit": 1,
        "levels": {"public": {"epsilon": 0.01}},
    }
    streams.open_stream(visits.server, OPERATOR, StreamRequest.model_validate(request))
    push(visits, 1, [1, 2, 3])
    return visits


def push(world: World, first: int, values: list[int]) -> None:
    sent = ElementsRequest.model_validate({"from": first, "values": values})
    stream_elements.push(world.server, OPERATOR, "hits", sent)


def totals(world: World) -> list[list[float]]:
    found = stream_totals.read(world.server, world.person("pia"), "hits", first=1, last=3)
    return [item.values.tolist() for item in found.items]


def test_an_older_stream_gives_what_it_gave_and_draws_nothing_more(
    hits: World, restore: Restore
) -> None:
    given = totals(hits)
    push(hits, 4, [4])
    old = restore()
    assert restores.acknowledge(old.server, OPERATOR).frozen == 2
    with pytest.raises(Conflict, match="older state"):
        push(old, 4, [5])
    assert totals(old) == given
    with pytest.raises(InvalidInput, match="3 elements"):
        stream_totals.read(old.server, old.person("pia"), "hits", last=4)
