"""Test streams: opened and charged at once, moved to other levels, and retired."""

import pytest
from tests.unit.services.streams.streaming import CLICKS, furnish_stream
from tests.unit.worlds import CopyWorld, World

from penstock.errors import Conflict, InvalidInput, NameTaken, NotFound
from penstock.services.access.principals import OPERATOR
from penstock.services.pagination import Window
from penstock.services.schemas.streams import StreamChange, StreamRequest
from penstock.services.streams import streams


@pytest.fixture
def clicks(copy_world: CopyWorld) -> World:
    return copy_world("clicks", furnish_stream)


def test_a_name_is_taken_once(clicks: World) -> None:
    with pytest.raises(NameTaken):
        streams.open_stream(clicks.server, OPERATOR, StreamRequest.model_validate(CLICKS))


def test_how_often_a_unit_comes_has_to_be_said(clicks: World) -> None:
    unsaid = {**CLICKS, "name": "other", "max_steps_per_unit": None}
    with pytest.raises(InvalidInput, match="privacy unit of sites is not the event"):
        streams.open_stream(clicks.server, OPERATOR, StreamRequest.model_validate(unsaid))


def test_a_new_level_begins_with_the_next_element(clicks: World) -> None:
    change = StreamChange.model_validate({"levels": {"internal": {"epsilon": 0.02}}})
    shown = streams.change(clicks.server, OPERATOR, "clicks", change)
    firsts = {tier.tier: tier.first for tier in shown.tiers}
    assert (firsts["public"], firsts["internal"]) == (1, 4)


def test_a_retired_stream_is_shown_and_its_levels_stay(clicks: World) -> None:
    assert streams.retire(clicks.server, OPERATOR, "clicks").status == "retired"
    assert streams.retire(clicks.server, OPERATOR, "clicks").status == "retired"
    change = StreamChange.model_validate({"levels": {"internal": {"epsilon": 0.02}}})
    with pytest.raises(Conflict, match="is retired"):
        streams.change(clicks.server, OPERATOR, "clicks", change)


def test_a_listing_has_streams_and_a_query_is_none(clicks: World) -> None:
    clicks.push()
    listed = streams.listing(clicks.server, OPERATOR, Window(limit=10))
    assert [stream.name for stream in listed.items] == ["clicks"]
    with pytest.raises(NotFound):
        streams.show(clicks.server, OPERATOR, "visits")
