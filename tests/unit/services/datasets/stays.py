"""Provide a file of stays in hospitals, registered, and a query over it."""

from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet
from tests.unit.worlds import World

from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.queries import registration
from penstock.services.schemas.queries import ComputedQueryRequest, DatasetRequest
from penstock.services.schemas.views import DatasetView, QueryView

ROWS = "person,town,visits\n" + "".join(
    f"p{number},{'north' if number % 3 else 'south'},{number % 5}\n" for number in range(600)
)


STAYS: dict[str, Any] = {
    "name": "stays",
    "source": {"engine": "duckdb"},
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "max_units": 100_000,
    "columns": {
        "person": {"type": "string"},
        "town": {"type": "string", "categories": ["north", "south", "west"]},
        "visits": {"type": "integer", "lower": 0, "upper": 4},
    },
    "budgets": {"public": {"epsilon": 1.0}, "internal": {"epsilon": 8.0}},
}


BY_TOWN: dict[str, Any] = {
    "name": "by_town",
    "dataset": "stays",
    "group_by": [{"column": "town"}],
    "aggregate": {"type": "count_units"},
    "contribution": {"max_groups": 1},
    "mechanism": "laplace",
    "levels": {"public": {"epsilon": 0.5}, "internal": {"epsilon": 4.0}},
}


def register(world: World, file: Path, **changes: object) -> DatasetView:
    source = {"engine": "duckdb", "uri": str(file)}
    request = DatasetRequest.model_validate({**STAYS, "source": source, **changes})
    return datasets.register(world.server, OPERATOR, request)


def query(world: World, **changes: object) -> QueryView:
    request = ComputedQueryRequest.model_validate({**BY_TOWN, **changes})
    return registration.register(world.server, OPERATOR, request)


def written(folder: Path) -> tuple[Path, Path]:
    """Return the same table as CSV and as Parquet."""
    plain, packed = folder / "stays.csv", folder / "stays.parquet"
    plain.write_text(ROWS)
    pyarrow.parquet.write_table(pyarrow.csv.read_csv(plain), packed)
    return plain, packed
