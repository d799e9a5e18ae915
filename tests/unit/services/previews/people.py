"""Provide a file of people, and previews of queries over it."""

from typing import Any

from pydantic import TypeAdapter
from tests.unit.services.noise.kinds import people
from tests.unit.worlds import World

from penstock.services.access.principals import OPERATOR, Principal
from penstock.services.previews import query_preview
from penstock.services.queries import registration
from penstock.services.schemas.previews import PreviewView
from penstock.services.schemas.queries import (
    PreviewRequest,
    QueryRequest,
)
from penstock.services.schemas.views import QueryView

ROWS = "person,town,age\n" + "".join(
    f"p{number // 2},{'north' if number % 3 else 'south'},{20 + number % 41}\n"
    for number in range(300)
)


PEOPLE: dict[str, Any] = {
    **people.PEOPLE,
    "budgets": {"public": {"epsilon": 2.0}, "internal": {"epsilon": 16.0}},
}


BY_TOWN: dict[str, Any] = {
    "dataset": "people",
    "group_by": [{"column": "town"}],
    "contribution": {"max_groups": 2, "max_rows_per_group": 2},
}


AGGREGATES: dict[str, dict[str, Any]] = {
    "units": {"aggregate": {"type": "count_units"}, "contribution": {"max_groups": 2}},
    "count": {"aggregate": {"type": "count"}},
    "sum": {"aggregate": {"type": "sum", "column": "age", "step": 4}},
    "mean": {"aggregate": {"type": "mean", "column": "age", "lower": 16, "upper": 64}},
    "ages": {"aggregate": {"type": "histogram", "column": "age", "bins": [0, 30, 60]}},
}


def ask(world: World, spec: dict[str, Any], by: Principal = OPERATOR) -> PreviewView:
    request = TypeAdapter[Any](PreviewRequest).validate_python(spec)
    return query_preview.preview(world.server, by, request)


def register(world: World, spec: dict[str, Any]) -> QueryView:
    request = TypeAdapter[Any](QueryRequest).validate_python(spec)
    return registration.register(world.server, OPERATOR, request)
