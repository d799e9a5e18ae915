"""Provide a file of loans, queries with costly samplers, and a ledger checked for their prices."""

from typing import Any

from pydantic import TypeAdapter
from tests.support import priced
from tests.unit.worlds import CopyWorld, Keep, World, fill

from penstock.accounting import Entry
from penstock.persistence.tables import Query, Tier
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.queries import registration
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schemas.datasets import DatasetChange
from penstock.services.schemas.queries import DatasetRequest, HistogramRequest, QueryRequest
from penstock.services.verification.verification import verify

ROWS = "person,book,disc,smokes,runs\n" + "".join(
    f"p{number},{7 if number % 3 else 10**6 + number},{number % 4},{number % 2 == 0},true\n"
    for number in range(60)
)
LOANS: dict[str, Any] = {
    "name": "loans",
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "max_units": 10_000,
    "columns": {
        "person": {"type": "string"},
        "book": {"type": "integer"},
        "disc": {"type": "integer"},
        "smokes": {"type": "boolean"},
        "runs": {"type": "boolean"},
    },
    "budgets": {"public": {"epsilon": 1.0}},
}
LEVELS = {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.3}}
BOOKS: dict[str, Any] = {
    "name": "books",
    "dataset": "loans",
    "structure": "sparse_histogram",
    "domain": {"type": "uint64"},
    "false_keys": 1,
    "group_by": [{"column": "book"}],
    "aggregate": {"type": "count_units"},
    "contribution": {"max_groups": 1},
    "mechanism": "gaussian",
    "levels": LEVELS,
}
CORRELATED: TypeAdapter[Any] = TypeAdapter(QueryRequest)
HABITS: dict[str, Any] = {
    "name": "habits",
    "dataset": "loans",
    "aggregate": {"type": "count_units", "columns": ["smokes", "runs"]},
    "structure": "correlated",
    "mechanism": "gaussian",
    "levels": {"public": {"epsilon": 0.05}, "internal": {"epsilon": 0.2}},
}


def furnished(copy_world: CopyWorld, keep: Keep) -> World:
    """Return a file of loans under a budget of epsilon 1 for every tier."""

    def furnish(world: World) -> None:
        fill(world)
        source = {"engine": "duckdb", "uri": str(keep("raised.csv", ROWS))}
        datasets.register(
            world.server, OPERATOR, DatasetRequest.model_validate({**LOANS, "source": source})
        )

    return copy_world("raised", furnish)


def books(world: World, **changes: Any) -> None:
    spec = HistogramRequest.model_validate({**BOOKS, **changes})
    registration.register(world.server, OPERATOR, spec)


def habits(world: World) -> None:
    """Register counts that are protected together."""
    registration.register(world.server, OPERATOR, CORRELATED.validate_python(HABITS))


def discs(world: World) -> None:
    """Register another sparse histogram, which costs the same."""
    books(world, name="discs", group_by=[{"column": "disc"}])


def grant(world: World, dataset: str, **epsilons: float) -> None:
    wanted = {name: {"epsilon": epsilon} for name, epsilon in epsilons.items()}
    budgets.change(
        world.server, OPERATOR, dataset, DatasetChange.model_validate({"budgets": wanted})
    )


def balance(world: World, dataset: str) -> dict[tuple[str, str], Entry]:
    """Return what is charged by the names of tier and query.

    It is first required to be what a price from nothing is.
    """
    with world.server.database.read() as session:
        key = dataset_by_name(session, dataset).id or 0
        charged = priced.ledger(session, key)
        assert charged == priced.from_nothing(session, key)
        named = {
            (session.get_one(Tier, tier).name, session.get_one(Query, query).name): cost
            for (tier, query), cost in charged.items()
        }
    assert verify(world.server, OPERATOR).problems == []
    return named
