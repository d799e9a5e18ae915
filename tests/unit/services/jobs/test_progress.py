"""Test how far a registration is.

Told by stages and bytes read, the same whatever the cells hold.
"""

from pathlib import Path

import pytest
from tests.unit.services.datasets.stays import BY_TOWN, ROWS, STAYS
from tests.unit.worlds import World

from penstock.connectors.duckdb import source_file
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.queries import registration
from penstock.services.schemas.queries import ComputedQueryRequest, DatasetRequest

Told = list[tuple[str, int | None]]


@pytest.fixture(autouse=True)
def _small_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_file, "_CHUNK", 1 + len(ROWS) // 4)


def told(world: World, file: Path, name: str) -> Told:
    """Return what is said while a dataset of this file and a query over it are registered."""
    heard: Told = []

    def note(stage: str, percent: int | None = None, /) -> None:
        # Whoever notes it may write: no transaction of the registration is open.
        with world.server.database.write_unwatched():
            heard.append((stage, percent))

    source = {"engine": "duckdb", "uri": str(file)}
    spec = DatasetRequest.model_validate({**STAYS, "name": name, "source": source})
    datasets.register(world.server, OPERATOR, spec, note)
    query = {**BY_TOWN, "name": f"of {name}", "dataset": name}
    registration.register(world.server, OPERATOR, ComputedQueryRequest.model_validate(query), note)
    return heard


def test_stages_and_the_percent_of_bytes_are_told_and_nothing_else(
    world: World, tmp_path: Path
) -> None:
    file = tmp_path / "stays.csv"
    file.write_text(ROWS)

    def read(stage: str) -> Told:
        percents = [
            0,
            *(min(100, 100 * n * (1 + len(ROWS) // 4) // len(ROWS)) for n in range(1, 5)),
        ]
        return [(stage, percent) for percent in percents]

    again = "checking that the file is the registered one"
    assert told(world, file, "stays") == [
        *read("reading the file"),
        ("storing the declaration", None),
        *read(again),
        ("computing levels and charges", None),
        *read(again),
        ("counting", None),
        *read("checking that the file was not changed while it was read"),
        ("drawing noise and sealing", None),
    ]


def test_files_of_one_length_are_told_of_alike(world: World, tmp_path: Path) -> None:
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text(ROWS)
    # Fewer rows, other groups, cells that cannot be read.
    other = "person,town,visits\n" + "p1,west,x\n" * 5
    second.write_text(other + "," * (len(ROWS) - len(other)))
    assert told(world, first, "first") == told(world, second, "second")
