"""Provide logs with a second place, and what it has taken."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import col, select
from tests.unit.worlds import World

from penstock.errors import LogUnavailable
from penstock.persistence.tables import Leaf
from penstock.services.operations import status

Placed = Callable[..., World]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def leaves_of(world: World) -> list[tuple[int | None, str, str]]:
    with world.server.database.read() as session:
        rows = session.exec(select(Leaf).order_by(col(Leaf.index))).all()
        return [(row.index, row.hash.hex(), row.bytes.decode()) for row in rows]


def taken(told: list[dict[str, Any]]) -> list[tuple[int, str, str]]:
    return [(one["index"], one["hash"], one["leaf"]) for one in told if "leaf" in one]


def status_of(world: World) -> tuple[bool, str]:
    (part,) = (one for one in status.examine(world.server.settings).parts if one.part == "log sink")
    return part.good, part.state


def refused(world: World, name: str = "pia") -> None:
    for _ in range(2):
        with pytest.raises(LogUnavailable):
            world.ask(name)
