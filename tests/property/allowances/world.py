"""Provide a home with three tiers, four analysts, and a dataset in a file with two versions."""

import json
from pathlib import Path
from typing import Any

from tests.databases.homes import Home, Homes
from tests.unit.worlds import Clock, Streams

from penstock.persistence.tables import Query
from penstock.services.access.principals import OPERATOR
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.operations import home
from penstock.services.people import tier_changes, users
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.users import UserSpec
from penstock.services.schemas.queries import ComputedQueryRequest, DatasetRequest, VersionRequest

PEOPLE = {"ann": "low", "ben": "mid", "bob": "mid", "cyd": "high"}
BUDGETS = {"low": {"epsilon": 1.5}, "mid": {"epsilon": 2.5}, "high": {"epsilon": 3.0}}
STAYS: dict[str, Any] = {
    "name": "stays",
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "max_units": 10_000,
    "columns": {
        "person": {"type": "string"},
        "visits": {"type": "integer", "lower": 0, "upper": 9},
        "nights": {"type": "integer", "lower": 0, "upper": 3},
    },
    "budgets": BUDGETS,
}
"""One row for a person; what one person adds to a sum of nights is at most 3."""
STATISTIC = ("where", "aggregate", "contribution")
"""The fields of a spec that say what is counted."""
Move = tuple[Any, ...]
"""The name of a rule of the machine, and its arguments."""

MOVES: list[Move] = [
    ("give", 1, 0.6),
    ("ask", "ben", 1, "gaussian", 0.1),
    ("give", 2, 1.0),
    ("ask", "cyd", 7, "laplace", 0.2),
]
"""What every machine begins with."""


def rows(people: int) -> str:
    """Return the text of a file of stays."""
    lines = (f"p{number},{number % 10},{number % 4}" for number in range(people))
    return "\n".join(["person,visits,nights", *lines, ""])


def furnished(homes: Homes, folder: Path) -> Home:
    """Return a home with three tiers, analysts at each, and a dataset."""
    made = homes.empty(folder)
    for number in (1, 2):
        (folder.parent / f"stays-{number}.csv").write_text(rows(30 + number))
    server = home.open_server(made.settings(), clock=Clock(), randomness=Streams())
    for name in dict.fromkeys(PEOPLE.values()):
        tier_changes.create(server, OPERATOR, TierSpec(name=name))
    for name, tier in PEOPLE.items():
        users.create(server, OPERATOR, UserSpec(name=name, roles=["analyst"], clearance=tier))
    source = {"engine": "duckdb", "uri": str(folder.parent / "stays-1.csv")}
    request = DatasetRequest.model_validate({**STAYS, "source": source})
    datasets.register(server, OPERATOR, request)
    server.database.close()
    return made


def second(server: Server) -> VersionRequest:
    """Return the second version, in which the lowest tier has no budget."""
    first = datasets.show(server, OPERATOR, "stays").source["uri"]
    source = {"engine": "duckdb", "uri": str(Path(first).with_name("stays-2.csv"))}
    budgets = {tier: budget for tier, budget in BUDGETS.items() if tier != "low"}
    return VersionRequest.model_validate({"source": source, "budgets": budgets})


def wish(query: Query, name: str, tier: str) -> ComputedQueryRequest:
    """Return a request for the statistic of a query, at a level of a tier."""
    spec = json.loads(query.spec)
    kept = {part: spec[part] for part in STATISTIC if spec.get(part) is not None}
    levels = {tier: {"epsilon": 0.1}}
    return ComputedQueryRequest.model_validate(
        {**kept, "dataset": "stays", "name": name, "mechanism": "gaussian", "levels": levels}
    )


def statistic(number: int) -> tuple[dict[str, Any], int]:
    """Return one of twenty statistics, and by how much one person moves it."""
    where = [{"column": "visits", "op": ">=", "value": number // 2 % 10}]
    content = {"dataset": "stays", "where": where, "contribution": {"max_groups": 1}}
    if number % 2:
        return {**content, "aggregate": {"type": "count_units"}}, 1
    contribution = {"max_groups": 1, "max_rows_per_group": 1}
    aggregate = {"type": "sum", "column": "nights"}
    return {**content, "contribution": contribution, "aggregate": aggregate}, 3
