"""Test elements of a stream: taken in order, each once, or refused without a trace."""

from typing import Any

import pytest
from sqlmodel import select
from tests.unit.services.streams.streaming import furnish_stream, push
from tests.unit.worlds import CopyWorld, World

from penstock.errors import Conflict, InvalidInput
from penstock.persistence.tables import StreamState


@pytest.fixture
def clicks(copy_world: CopyWorld) -> World:
    return copy_world("clicks", furnish_stream)


def step(world: World) -> int:
    with world.server.database.read() as session:
        return session.exec(select(StreamState)).one().step


def test_elements_go_on_where_the_last_one_was(clicks: World) -> None:
    push(clicks, 4, [5])
    assert step(clicks) == 4
    for first in (3, 4, 6):
        with pytest.raises(Conflict, match="The next element of 'clicks' is number 5"):
            push(clicks, first, [1])
    assert step(clicks) == 4


@pytest.mark.parametrize("values", [["a"], [None], [[1]], [0.5], [10**9]], ids=str)
def test_what_was_not_declared_is_no_element(clicks: World, values: list[Any]) -> None:
    with pytest.raises(InvalidInput):
        push(clicks, 4, values)
    assert step(clicks) == 3


def test_a_stream_takes_no_more_than_its_length(clicks: World) -> None:
    with pytest.raises(InvalidInput, match="47 are left, and 48 were sent"):
        push(clicks, 4, [1] * 48)
    push(clicks, 4, [1] * 47)
    with pytest.raises(Conflict, match="has all of its 50 elements"):
        push(clicks, 51, [1])
