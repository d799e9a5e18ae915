"""Test made-up rows of a dataset: for whoever sees it, without its file and without a trace."""

from pathlib import Path

import pytest
from sqlmodel import select
from tests.unit.services.datasets.stays import ROWS, STAYS
from tests.unit.worlds import World

from penstock.errors import InvalidInput, NotFound
from penstock.persistence.tables import Charge, Leaf, Release
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets, dummy_rows
from penstock.services.schemas.queries import DatasetRequest

COLUMNS = {
    **STAYS["columns"],
    "arrived": {"type": "date", "categories": ["2026-01-01", "2026-01-02"]},
}


@pytest.fixture
def stays(world: World, tmp_path: Path) -> World:
    path = tmp_path / "stays.csv"
    path.write_text(ROWS.replace("visits\n", "visits,arrived\n", 1))
    source = {"engine": "duckdb", "uri": str(path)}
    spec = {**STAYS, "source": source, "columns": COLUMNS, "budgets": {"partner": {"epsilon": 1}}}
    datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(spec))
    path.unlink()
    return world


def test_neither_the_file_nor_the_state_is_touched(stays: World) -> None:
    def stored() -> list[int]:
        with stays.server.database.read() as session:
            return [len(session.exec(select(table)).all()) for table in (Charge, Leaf, Release)]

    before, taken = stored(), stays.streams.taken
    found = dummy_rows.rows(stays.server, stays.person("paul"), "stays", rows=7, seed=3)
    assert len(found.items) == 7
    assert found.next_cursor is None
    assert set(found.items[0]) == {"person", "town", "visits", "arrived"}
    assert {row["arrived"] for row in found.items} <= {"2026-01-01", "2026-01-02"}
    assert stored() == before
    assert stays.streams.taken == taken


def test_the_seed_decides(stays: World) -> None:
    first, again, other = (
        dummy_rows.rows(stays.server, OPERATOR, "stays", rows=5, seed=seed) for seed in (1, 1, 2)
    )
    assert first == again != other


def test_a_dataset_out_of_sight_has_no_rows(stays: World) -> None:
    with pytest.raises(NotFound, match="no dataset 'stays'"):
        dummy_rows.rows(stays.server, stays.person("pia"), "stays")
    with pytest.raises(NotFound, match="no dataset 'moon'"):
        dummy_rows.rows(stays.server, stays.person("paul"), "moon")


def test_pushed_vectors_have_no_columns_to_make_up(stays: World) -> None:
    with pytest.raises(InvalidInput, match="declares no columns"):
        dummy_rows.rows(stays.server, OPERATOR, "sites")
