"""Provide a dataset that every kind of query can be built over."""

from pathlib import Path
from typing import Any

from tests.api.queries.people import PEOPLE
from tests.api.world import World

_ROWS = "person,town,age,smokes,runs,tag\n" + "".join(
    f"p{number},{'north' if number % 3 else 'south'},{number % 90},"
    f"{number % 2 == 0},{number % 5 == 0},{number % 7:04x}\n"
    for number in range(300)
)
TOWN: dict[str, Any] = {
    **PEOPLE,
    "name": "town",
    "columns": {
        **PEOPLE["columns"],
        "age": {"type": "integer", "lower": 0, "upper": 100},
        "tag": {"type": "string"},
    },
}


def town_in(folder: Path) -> dict[str, Any]:
    """Return the spec of the dataset, whose file is put into a folder."""
    file = folder / "town.csv"
    file.write_text(_ROWS, encoding="utf-8")
    return {**TOWN, "source": {"engine": "duckdb", "uri": str(file)}}


def settle(world: World, folder: Path) -> None:
    """Register the dataset."""
    world.answer("POST", "/api/v1/datasets", town_in(folder), by="root")
