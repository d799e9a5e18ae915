"""Provide a world with one stream of three elements, for tests of what streams do."""

from typing import Any

from tests.unit.sites import SITES
from tests.unit.worlds import World, fill

from penstock.services.access.principals import OPERATOR
from penstock.services.schemas.streams import ElementsRequest, StreamRequest
from penstock.services.streams import stream_elements, streams

CLICKS: dict[str, Any] = {
    "name": "clicks",
    "dataset": SITES["name"],
    "mechanism": "laplace",
    "bound": 100,
    "length": 50,
    "max_steps_per_unit": 1,
    "levels": {"public": {"epsilon": 0.01}},
}


def furnish_stream(world: World) -> None:
    """Add what ``fill`` adds, and the stream ``clicks`` with the elements 1, 2 and 3."""
    fill(world)
    streams.open_stream(world.server, OPERATOR, StreamRequest.model_validate(CLICKS))
    push(world, 1, [1, 2, 3])


def push(world: World, first: int, values: list[Any], name: str = "clicks") -> None:
    """Push ``values`` as the elements from number ``first`` on."""
    sent = ElementsRequest.model_validate({"from": first, "values": values})
    stream_elements.push(world.server, OPERATOR, name, sent)
