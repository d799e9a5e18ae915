"""Provide datasets in several versions."""

from pathlib import Path

from tests.unit.services.datasets.stays import ROWS, STAYS, query
from tests.unit.worlds import World

from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.schemas.queries import DatasetRequest, VersionRequest
from penstock.services.schemas.views import DatasetView

BUDGETS = STAYS["budgets"]


def with_stays(world: World, folder: Path) -> World:
    path = folder / "stays.csv"
    path.write_text(ROWS)
    spec = {**STAYS, "source": {"engine": "duckdb", "uri": str(path)}}
    datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(spec))
    query(world)
    return world


def new_file(folder: Path, number: int) -> Path:
    path = folder / f"stays-{number}.csv"
    path.write_text(ROWS + f"q{number},north,1\n")
    return path


def add(world: World, path: Path, **more: object) -> DatasetView:
    wanted = {"source": {"engine": "duckdb", "uri": str(path)}, "budgets": BUDGETS, **more}
    request = VersionRequest.model_validate(wanted)
    return datasets.add_version(world.server, OPERATOR, "stays", request)
