"""Provide a survey that a server reads, and clients of it for people with several roles."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from tests.api.world import World

from penstock.services.access.principals import OPERATOR
from penstock.services.people import tokens, users
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserSpec
from penstock_client import Client

AREAS = ("north", "south", "west")
PEOPLE = 300
SURVEY: dict[str, Any] = {
    "name": "survey",
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "max_units": 10_000,
    "columns": {
        "person": {"type": "string"},
        "area": {"type": "string", "categories": list(AREAS)},
        "age": {"type": "integer", "lower": 0, "upper": 99},
        "income": {"type": "integer", "lower": 0, "upper": 1000},
        "smoker": {"type": "boolean"},
    },
    "budgets": {"public": {"epsilon": 5}, "internal": {"epsilon": 20}},
}

ONCE = {"max_groups": 1, "max_rows_per_group": 1}
"""Each person has one row."""

BOTH, ANALYST, ADMIN = "bea", "ian", "root"
"""An analyst who is an admin, an analyst, and an admin."""


def rows() -> list[tuple[str, str, int, int, bool]]:
    """Return one row for each person."""
    return [
        (f"p{place}", AREAS[place % 7 % 3], place * 37 % 100, place * 613 % 1001, place % 5 == 0)
        for place in range(PEOPLE)
    ]


@dataclass(frozen=True)
class Survey:
    """Hold a server with the survey, its rows, and clients by user."""

    world: World
    rows: list[tuple[str, str, int, int, bool]]
    folder: Path
    as_user: Callable[[str], Client]


def opened(world: World, folder: Path) -> Survey:
    """Register the survey, and a user with both roles."""
    lines = [
        f"{person},{area},{age},{income},{str(smoker).lower()}"
        for person, area, age, income, smoker in rows()
    ]
    path = folder / "survey.csv"
    path.write_text("\n".join(["person,area,age,income,smoker", *lines]) + "\n")
    dataset = {**SURVEY, "source": {"engine": "duckdb", "uri": str(path)}}
    world.answer("POST", "/api/v1/datasets", dataset, by=ADMIN)
    roles: list[Any] = ["admin", "analyst"]
    users.create(world.server, OPERATOR, UserSpec(name=BOTH, roles=roles, clearance="internal"))
    world.tokens[BOTH] = tokens.issue(world.server, OPERATOR, BOTH, TokenSpec()).token

    def as_user(name: str) -> Client:
        transport = httpx.WSGITransport(world.client.application)
        return Client("http://127.0.0.1", world.tokens[name], transport=transport)

    return Survey(world, rows(), folder, as_user)
