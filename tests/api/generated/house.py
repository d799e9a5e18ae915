"""Provide a server with objects of every kind, and the names that requests may use."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.api.bad_input.stage import Furnished, Original, Stage
from tests.api.bad_input.tables import computed, datasets, levels, vectors
from tests.api.sight.matrix import ELEMENTS, MATRIX, STREAM
from tests.api.world import World, propose

CALLERS = (None, "noa", "ann", "ian", "root", "olga", "eve")
"""Nobody, an analyst cleared for nothing, two who are, an admin, an auditor; eve is all three."""


@dataclass(frozen=True)
class House:
    """Hold a world, and for each parameter in an address or a query string what exists."""

    world: World
    known: Mapping[str, tuple[str, ...]]


def build(furnished: Furnished, folder: Path) -> tuple[Original, House]:
    """Build a copy of the furnished home, with streams, a file's dataset and eve.

    It is to be put back after use.
    """
    original = Original(furnished, folder)
    made = original.put_back()
    world = made.world
    eve = {"name": "eve", "roles": ["analyst", "admin", "auditor"], "clearance": "internal"}
    world.answer("POST", "/api/v1/users", eve, by="root")
    issued = world.answer("POST", "/api/v1/users/eve/tokens", {}, by="root")
    world.tokens["eve"] = issued["token"]
    for name, tiers in (("hits", ["public", "internal"]), ("deep", ["internal"])):
        body = {**STREAM, "name": name, "levels": {tier: {"epsilon": 0.1} for tier in tiers}}
        world.answer("POST", "/api/v1/streams", body, by="root")
        world.answer("POST", f"/api/v1/streams/{name}/elements", ELEMENTS, by="root")
    house = House(world, _known(made))
    world.server.database.close()
    original.stage.world.tokens.update(world.tokens)
    original.keep()
    return original, house


def _known(made: Stage) -> dict[str, tuple[str, ...]]:
    world = made.world
    held = world.answer("GET", "/api/v1/releases", by="ann")["items"][0]["id"]
    prefix = world.answer("POST", "/api/v1/users/ann/tokens", {}, by="ann")["prefix"]
    page = world.answer("GET", "/api/v1/tiers?limit=1", by="ann")["next_cursor"]
    numbers = ("0", "1", "2", "7", "40", "9007199254740992")
    found = {
        "user": ("ann", "ian", "noa", "olga", "gone", "absent"),
        "users": ("ann", "ann,ian", "ann,ann", "olga,absent"),
        "tier": ("public", "internal", "street", "absent"),
        "dataset": ("sites", "stays", "absent"),
        "query": ("visits", "secret", "by_town", "hits", "absent"),
        "stream": ("hits", "deep", "visits", "absent"),
        "release": (held, held[:-1] + "0"),
        "prefix": (prefix, world.tokens["ann"].split("_")[1], "absent"),
        "proposal": (propose(world), "absent"),
        "cursor": (page, page[:-1]),
        "seed": ("0", "1"),
        "rows": ("1", "10"),
    }
    return found | dict.fromkeys(("index", "size", "from", "to"), numbers)


def good_bodies() -> dict[str, list[dict[str, Any]]]:
    """Return bodies that are taken, by the operation that takes them.

    Some were taken on an empty server only.
    """
    more: dict[str, list[dict[str, Any]]] = {
        "register_query": [vectors.GOOD, computed.GOOD, computed.SUM],
        "preview_query": [vectors.GOOD, computed.GOOD, computed.SUM],
        "register_dataset": [datasets.GOOD, datasets.STAYS],
        "change_query": [levels.GOOD],
        "request_release": [{"epsilon": 0.05}, {"rho": 0.001}, {"level": 500}],
    }
    for row in MATRIX:
        if isinstance(row.body, dict):
            more.setdefault(row.name, []).append(row.body)
    return more
