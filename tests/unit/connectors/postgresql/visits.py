"""Provide a dataset that is a view of a warehouse, and a server that reads it."""

from dataclasses import replace
from typing import Any

from pydantic import SecretStr
from tests.databases.warehouse import Warehouse
from tests.unit.worlds import World

from penstock.services.context import Server

SOURCE = {"engine": "postgresql", "connection": "warehouse", "table": "data.visits"}
VISITS: dict[str, Any] = {
    "name": "visits",
    "source": SOURCE,
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "max_units": 1000,
    "columns": {
        "person": {"type": "string"},
        "town": {"type": "string", "categories": ["north", "south", "west"]},
    },
    "budgets": {"public": {"epsilon": 2.0}, "internal": {"epsilon": 8.0}},
}
COUNTS: dict[str, Any] = {
    "name": "counts",
    "dataset": "visits",
    "mechanism": "gaussian",
    "group_by": ["town"],
    "aggregate": {"type": "count"},
    "contribution": {"max_groups": 1, "max_rows_per_group": 1},
    "levels": {"public": {"epsilon": 0.5}, "internal": {"epsilon": 1.0}},
}


def server_at(world: World, address: str) -> Server:
    connections = {"warehouse": SecretStr(address)}
    settings = world.server.settings.model_copy(update={"connections": connections})
    return replace(world.server, settings=settings)


def filled(warehouse: Warehouse) -> None:
    rows = [("ann", "north"), ("bob", "south"), ("cid", "south")]
    warehouse.fill("visits", {"person": "text", "town": "text"}, rows)
