"""Provide a query whose levels are draws of their own."""

from typing import Any

from pydantic import TypeAdapter
from tests.unit.sites import SITES
from tests.unit.worlds import World, fill

from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.previews import query_preview
from penstock.services.queries import queries
from penstock.services.schemas.previews import PreviewView
from penstock.services.schemas.queries import (
    DatasetRequest,
    LevelsChange,
    PreviewRequest,
)
from penstock.services.schemas.views import QueryView

SIZE = 64


VALUES = list(range(SIZE))


LEVELS = {"public": {"epsilon": 0.25}, "partner": {"epsilon": 0.5}, "internal": {"epsilon": 1.0}}


COUNTS = {
    "keys": None,
    "values": VALUES,
    "sensitivity": {"l1": SIZE, "linf": 1},
    "mechanism": "generalized_gaussian",
    "p": 4,
    "levels": LEVELS,
}


LARGE = {name: {"epsilon": 20.0} for name in LEVELS}


def furnish(world: World) -> None:
    """Add what ``fill`` adds, large budgets, and one query of 64 counts with p = 4."""
    fill(world)
    request = DatasetRequest.model_validate({**SITES, "name": "large", "budgets": LARGE})
    datasets.register(world.server, OPERATOR, request)
    push(world)


def push(world: World, name: str = "counts", **changes: Any) -> QueryView:
    return world.push(name, **{**COUNTS, "dataset": "large", **changes})


def move(world: World, name: str = "counts", values: object = VALUES, **levels: Any) -> QueryView:
    wanted = LevelsChange.model_validate({"levels": levels, "values": values})
    return queries.change(world.server, OPERATOR, name, wanted)


def previewed(world: World, **changes: Any) -> PreviewView:
    content = {**COUNTS, "name": "next", "dataset": "large", **changes}
    request: PreviewRequest = TypeAdapter(PreviewRequest).validate_python(content)
    return query_preview.preview(world.server, OPERATOR, request)
