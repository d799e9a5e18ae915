"""Test which columns are readable, by names and types alone."""

import psycopg
import pytest
from tests.databases.warehouse import Warehouse
from tests.unit.connectors.cases import VISITS, dataset_of

from penstock.connectors.planning.prepare import check_source
from penstock.connectors.postgresql.session import reading
from penstock.connectors.postgresql.views import view_of
from penstock.connectors.specs.models import DatasetSpec
from penstock.errors import InvalidInput


def refused(warehouse: Warehouse, dataset: DatasetSpec) -> dict[str, str]:
    with pytest.raises(InvalidInput) as raised:
        check_source(dataset, warehouse.sources)
    return dict(raised.value.errors)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ("person", "char(9)"),
        ("person", "int"),
        ("ward", "name"),
        ("age", "numeric"),
        ("age", "text"),
        ("cost", "real"),
        ("cost", "text"),
        ("cost", "money"),
        ("urgent", "int"),
        ("day", "timestamp"),
        ("day", "text"),
    ],
)
def test_a_column_of_another_type_is_refused_by_its_name(
    warehouse: Warehouse, visits: DatasetSpec, column: str, kind: str
) -> None:
    from tests.unit.connectors.postgresql.conftest import TYPES

    warehouse.fill("visits", {**TYPES, column: kind}, [])
    errors = refused(warehouse, visits)
    assert list(errors) == [f"/columns/{column}"]
    assert "Cast it in the view" in errors[f"/columns/{column}"]


def test_a_column_that_is_missing_is_refused_by_its_name(
    warehouse: Warehouse, visits: DatasetSpec
) -> None:
    warehouse.run("ALTER TABLE data.visits DROP COLUMN cost")
    assert refused(warehouse, visits) == {"/columns/cost": "The view has no column of this name."}


@pytest.mark.parametrize(
    "table", ["data.nothing", "Data.visits", "data.Visits", "other.data.visits"]
)
def test_a_view_that_is_not_there_is_refused(
    warehouse: Warehouse, visits: DatasetSpec, table: str
) -> None:
    dataset = dataset_of(source={**visits.source.model_dump(), "table": table})
    assert list(refused(warehouse, dataset)) == ["/source/table"]


def test_a_domain_reads_as_its_type(warehouse: Warehouse, visits: DatasetSpec) -> None:
    from tests.unit.connectors.postgresql.conftest import TYPES

    warehouse.run("DROP DOMAIN IF EXISTS data.years CASCADE; CREATE DOMAIN data.years AS int")
    warehouse.fill("visits", {**TYPES, "age": "data.years"}, [])
    check_source(visits, warehouse.sources)
    assert set(VISITS) == set(visits.columns)


def test_a_view_is_locked_once_its_columns_are_known(
    warehouse: Warehouse, visits: DatasetSpec
) -> None:
    with reading(warehouse.address) as session:
        assert list(view_of(session, visits).types) == list(VISITS)
        with pytest.raises(psycopg.errors.LockNotAvailable):
            warehouse.run("SET lock_timeout = '1ms'; TRUNCATE data.visits")
    warehouse.run("TRUNCATE data.visits")
