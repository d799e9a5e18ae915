"""Test that queries are shown in SQL, by the declaration that they were registered under."""

from pathlib import Path

import pytest
from sqlmodel import select
from tests.unit.services.datasets.stays import STAYS, query, register, written
from tests.unit.worlds import World

from penstock.persistence.tables import Query
from penstock.persistence.tables.datasets import Dataset
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import corrections
from penstock.services.pagination import Window
from penstock.services.queries import queries
from penstock.services.queries.sql import written as shown
from penstock.services.schemas.datasets import CorrectionRequest


def test_a_pushed_vector_has_no_statement(visits: World) -> None:
    assert queries.show(visits.server, OPERATOR, "visits").spec_sql is None


def test_a_query_that_sql_cannot_say_has_no_statement(world: World, tmp_path: Path) -> None:
    register(world, written(tmp_path)[0])
    view = query(
        world,
        group_by=[],
        aggregate={"type": "uncategorized", "column": "town"},
        contribution={"max_rows_per_group": 1},
    )
    assert view.spec_sql is None
    page = queries.listing(world.server, OPERATOR, Window(limit=10))
    assert [item.spec_sql for item in page.items] == [None]


def test_a_statement_is_written_once(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(world, written(tmp_path)[0])
    before = query(world).spec_sql
    assert before is not None
    monkeypatch.setattr(shown, "written", None)
    assert queries.show(world.server, OPERATOR, "by_town").spec_sql == before


def test_a_statement_is_by_the_declaration_of_its_query(world: World, tmp_path: Path) -> None:
    register(world, written(tmp_path)[0])
    small = {"levels": {"public": {"epsilon": 0.1}}}
    before = query(world, **small)
    town = {**STAYS["columns"]["town"], "missing": "west"}
    change = CorrectionRequest.model_validate({"columns": {"town": town}})
    corrections.correct(world.server, OPERATOR, "stays", change)
    after = query(world, name="later", **small)
    assert before.spec_sql is not None
    assert "COALESCE" not in before.spec_sql
    assert queries.show(world.server, OPERATOR, "by_town").spec_sql == before.spec_sql
    assert after.spec_sql is not None
    assert "COALESCE" in after.spec_sql
    with world.server.database.read() as session:
        stored = session.exec(select(Query)).first()
        assert stored is not None
        dataset = session.get_one(Dataset, stored.dataset_id)
        lost = Query(**{**stored.model_dump(), "declaration": 5})
        assert shown.sql_of(session, dataset, lost) is None
