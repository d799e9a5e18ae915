"""Provide a stream of the stays, and a schedule that feeds it every night."""

from pathlib import Path
from typing import Any

from tests.unit.services.schedules.planning import with_stays
from tests.unit.worlds import World

from penstock.mechanisms.process import IntVector
from penstock.persistence.tables.datasets import Dataset
from penstock.services.access.principals import OPERATOR
from penstock.services.repository.queries import stream_by_name
from penstock.services.schemas.streams import StreamRequest
from penstock.services.streams import streams
from penstock.services.streams.sealed_stream import load

DAILY: dict[str, Any] = {
    "name": "daily",
    "dataset": "stays",
    "mechanism": "gaussian",
    "structure": "binary",
    "length": 31,
    "dimension": 3,
    "sensitivity": {"l1": 1},
    "max_steps_per_unit": 1,
    "levels": {"public": {"rho": 0.01}, "internal": {"rho": 0.1}},
}
UNITS_BY_TOWN: dict[str, Any] = {
    "group_by": [{"column": "town"}],
    "aggregate": {"type": "count_units"},
    "contribution": {"max_groups": 1},
}
FEEDS = [{"stream": "daily", "query": UNITS_BY_TOWN}]
NORTH, SOUTH = 400, 200
"""The people of the file by town; the schedule's files have one more in the north."""


def open_daily(world: World, **changes: Any) -> None:
    request = StreamRequest.model_validate({**DAILY, **changes})
    streams.open_stream(world.server, OPERATOR, request)


def with_daily(world: World, folder: Path) -> World:
    open_daily(with_stays(world, folder))
    return world


def total_of(world: World, name: str = "daily") -> tuple[int, IntVector]:
    """Return the number of a stream's elements, and its exact running total in values."""
    with world.server.database.read() as session:
        query = stream_by_name(session, name)
        dataset = session.get_one(Dataset, query.dataset_id)
        running = load(session, world.server, dataset, query)
    shown = streams.show(world.server, OPERATOR, name)
    return running.step, (running.total * shown.granularity).astype(int)
