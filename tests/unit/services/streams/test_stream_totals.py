"""Test running totals: the same whenever they are read, of steps that there are."""

import pytest
from tests.unit.services.streams.streaming import furnish_stream, push
from tests.unit.worlds import CopyWorld, World

from penstock.errors import ClearanceTooLow, Conflict, InvalidInput, NotFound
from penstock.services.access.principals import OPERATOR
from penstock.services.streams import streams
from penstock.services.streams.stream_totals import read


@pytest.fixture
def clicks(copy_world: CopyWorld) -> World:
    return copy_world("clicks", furnish_stream)


def totals(world: World, first: int | None = None, last: int | None = None) -> list[float]:
    view = read(world.server, world.person("pia"), "clicks", first=first, last=last)
    return [item.values.tolist()[0] for item in view.items]


def test_a_range_is_the_same_for_ever(clicks: World) -> None:
    before = totals(clicks)
    push(clicks, 4, [9, 9])
    assert totals(clicks)[:3] == before
    assert totals(clicks, 2, 3) == before[1:]


@pytest.mark.parametrize(("first", "last"), [(0, 2), (1, 4), (3, 2)])
def test_steps_that_there_are_not_are_refused(clicks: World, first: int, last: int) -> None:
    with pytest.raises(InvalidInput):
        totals(clicks, first, last)


def test_no_tier_above_ones_own_is_read(clicks: World) -> None:
    with pytest.raises(ClearanceTooLow, match="above the clearance 'public'"):
        read(clicks.server, clicks.person("pia"), "clicks", tier="internal")
    with pytest.raises(NotFound):
        read(clicks.server, clicks.person("pia"), "absent")


def test_a_retired_stream_gives_what_it_gave(clicks: World) -> None:
    given = totals(clicks, 1, 2)
    streams.retire(clicks.server, OPERATOR, "clicks")
    assert totals(clicks, 1, 2) == given
    with pytest.raises(Conflict, match="releases no new totals"):
        totals(clicks, 1, 3)
