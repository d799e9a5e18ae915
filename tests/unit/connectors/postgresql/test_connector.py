"""Test that a view is read as registered, and that whatever fails tells nothing of a cell."""

from dataclasses import replace

import pytest
from tests.databases.warehouse import Warehouse, sources_at
from tests.unit.connectors.cases import KEY, SALT, dataset_of, query_of, stated

from penstock.connectors.choice import connector_of
from penstock.connectors.connector import Snapshot
from penstock.connectors.planning.prepare import (
    answer,
    check_registered,
    check_source,
    fingerprint,
    recorded,
)
from penstock.connectors.sources import Sources
from penstock.connectors.specs.models import ComputedQuery, DatasetSpec
from penstock.connectors.statements.statement import Statement
from penstock.errors import InvalidInput, SourceChanged, Unavailable

WARDS = [{"column": "ward"}]
BY_WARD = query_of(group_by=WARDS)


def ask(
    warehouse: Warehouse,
    dataset: DatasetSpec,
    query: ComputedQuery = BY_WARD,
    statement: Statement | None = None,
    registered: bytes | None = None,
    sources: Sources | None = None,
) -> list[int]:
    sources = sources or warehouse.sources
    own = fingerprint(dataset, KEY, sources) if registered is None else registered
    found = answer(
        dataset,
        statement or stated(dataset, query),
        salt=SALT,
        fingerprint_key=KEY,
        fingerprint=own,
        sources=sources,
    ).steps
    return [int(number) for number in found]


def test_a_view_is_checked_and_answers(warehouse: Warehouse, visits: DatasetSpec) -> None:
    check_source(visits, warehouse.sources)
    assert ask(warehouse, visits) == [2, 1, 1]
    total = query_of({"type": "sum", "column": "cost"}, group_by=WARDS)
    # NaN and 1e400 are no doubles, and 1e-400 is 0.
    assert ask(warehouse, visits, total) == [3, 0, 0]
    later = query_of(where=[{"column": "day", "op": ">", "value": "2026-01-01"}])
    assert ask(warehouse, visits, later) == [2]
    assert connector_of(visits).snapshot is Snapshot.NONE


def test_rows_may_change_between_queries(warehouse: Warehouse, visits: DatasetSpec) -> None:
    registered = fingerprint(visits, KEY, warehouse.sources)
    warehouse.run("INSERT INTO data.visits VALUES ('cid', 'c')")
    assert ask(warehouse, visits, registered=registered) == [2, 1, 2]


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE data.visits RENAME COLUMN ward TO room",
        "ALTER TABLE data.visits ALTER ward TYPE text",
        "ALTER TABLE data.visits ADD COLUMN more int",
        "ALTER TABLE data.visits RENAME TO stays",
        "DROP TABLE data.visits",
    ],
)
def test_a_view_that_changed_is_not_read(
    warehouse: Warehouse, visits: DatasetSpec, change: str
) -> None:
    warehouse.run("DROP TABLE IF EXISTS data.stays")
    registered = fingerprint(visits, KEY, warehouse.sources)
    check_registered(visits, fingerprint_key=KEY, fingerprint=registered, sources=warehouse.sources)
    warehouse.run(change)
    with pytest.raises(SourceChanged, match="not the one that was registered"):
        check_registered(
            visits, fingerprint_key=KEY, fingerprint=registered, sources=warehouse.sources
        )
    with pytest.raises(SourceChanged, match="not the one that was registered"):
        ask(warehouse, visits, registered=registered)


def test_the_same_view_has_the_same_fingerprint_under_any_declaration(
    warehouse: Warehouse, visits: DatasetSpec
) -> None:
    source = visits.source.model_dump()
    other = dataset_of(source=source, columns={"person": {"type": "string"}})
    warehouse.fill("stays", {"person": "text"}, [])
    another = dataset_of(
        source={**source, "table": "data.stays"}, columns={"person": {"type": "string"}}
    )
    same, again, third = (
        fingerprint(dataset, KEY, warehouse.sources) for dataset in (visits, other, another)
    )
    assert same == again != third
    assert same != fingerprint(visits, bytes(32), warehouse.sources)


def test_what_cannot_be_reached_is_said_without_its_address(
    warehouse: Warehouse, visits: DatasetSpec
) -> None:
    address, registered = warehouse.address, fingerprint(visits, KEY, warehouse.sources)
    wrong = (
        address.replace(f":{warehouse.cluster.port}/", ":1/"),
        address.replace("%401", "secret"),
        address.replace(warehouse.database, "nowhere"),
        "postgresql://x:secret@[",
    )
    for place in wrong:
        with pytest.raises(Unavailable) as raised:
            check_registered(
                visits, fingerprint_key=KEY, fingerprint=registered, sources=sources_at(place)
            )
        said = str(raised.value)
        assert "PostgreSQL" in said or "postgresql://USER:PASSWORD@HOST" in said
        assert "secret" not in said
        assert warehouse.database not in said


def test_a_connection_that_is_not_set_is_named(visits: DatasetSpec) -> None:
    with pytest.raises(InvalidInput, match="PENSTOCK_CONNECTION_WAREHOUSE"):
        check_source(visits)
    with pytest.raises(Unavailable, match="PENSTOCK_CONNECTION_WAREHOUSE"):
        check_registered(visits, fingerprint_key=KEY, fingerprint=b"", sources=Sources())


def test_a_view_that_fails_for_a_row_repeats_nothing_of_it(
    warehouse: Warehouse, visits: DatasetSpec
) -> None:
    warehouse.run("ALTER TABLE data.visits RENAME TO hidden")
    warehouse.run(
        "CREATE VIEW data.visits AS SELECT person, CAST(ward AS int) + age AS age FROM data.hidden"
    )
    columns = {"person": {"type": "string"}, "age": {"type": "integer", "lower": 0, "upper": 9}}
    failing = dataset_of(source=visits.source.model_dump(), columns=columns)
    check_source(failing, warehouse.sources)
    with pytest.raises(Unavailable, match="must not fail for any row") as raised:
        ask(warehouse, failing, query_of({"type": "sum", "column": "age"}))
    assert raised.value.__cause__ is None
    assert '"a"' not in str(raised.value)
    warehouse.run("DROP VIEW data.visits; DROP TABLE data.hidden")


def test_a_role_without_rights_is_told_to_get_them(
    warehouse: Warehouse, visits: DatasetSpec
) -> None:
    registered = fingerprint(visits, KEY, warehouse.sources)
    with warehouse.cluster.administered(warehouse.database) as connection:
        connection.execute("REVOKE ALL ON data.visits FROM penstock")
    with pytest.raises(Unavailable, match="grant it SELECT"):
        ask(warehouse, visits, registered=registered)


def test_a_statement_that_takes_too_long_is_stopped(
    warehouse: Warehouse, visits: DatasetSpec
) -> None:
    warehouse.run(
        "CREATE VIEW data.slow AS SELECT v.* FROM data.visits v, LATERAL"
        " (SELECT pg_sleep(60), v.age) AS waited"
    )
    slow = dataset_of(source={**visits.source.model_dump(), "table": "data.slow"})
    registered = fingerprint(slow, KEY, warehouse.sources)
    check_source(slow, warehouse.sources)
    soon = replace(warehouse.sources, statement_timeout=2)
    with pytest.raises(Unavailable, match="PENSTOCK_STATEMENT_TIMEOUT"):
        ask(warehouse, slow, registered=registered, sources=soon)


def test_a_text_of_another_version_is_tried_without_being_run(
    warehouse: Warehouse, visits: DatasetSpec
) -> None:
    written = stated(visits, BY_WARD)
    same = recorded(
        visits, written, written.text.replace('"place" <=', '0 + "place" <='), warehouse.sources
    )
    assert same is not None
    assert ask(warehouse, visits, statement=same) == [2, 1, 1]
    for part, other in (
        ('"keys_0"', '"groups_0"'),
        ("$1", "$3"),
        ('AS "part_answer"', 'AS "total"'),
        ('AS BIGINT) AS "part_answer"', 'AS TEXT) AS "part_answer"'),
        ('FROM "totals"', 'FROM "totals"; SELECT 1'),
        ('WITH "typed"', 'WITH gone AS (DELETE FROM data.visits RETURNING 1), "typed"'),
    ):
        changed = written.text.replace(part, other)
        assert changed != written.text
        if "DELETE" not in other:
            assert recorded(visits, written, changed, warehouse.sources) is None, other
    assert ask(warehouse, visits) == [2, 1, 1]


def test_no_statement_writes(warehouse: Warehouse, visits: DatasetSpec) -> None:
    written = stated(visits, BY_WARD)
    with warehouse.cluster.administered(warehouse.database) as connection:
        connection.execute("GRANT ALL ON data.visits TO penstock")
    warehouse.run(
        "CREATE OR REPLACE FUNCTION data.emptied() RETURNS bigint LANGUAGE sql"
        " AS 'WITH gone AS (DELETE FROM data.visits RETURNING 1) SELECT count(*) FROM gone'"
    )
    for before, after in (
        ('WITH "typed"', 'WITH gone AS (DELETE FROM data.visits RETURNING 1), "typed"'),
        ('FROM "totals"', 'FROM "totals", data.emptied()'),
    ):
        assert before in written.text
        gone = written.text.replace(before, after)
        with pytest.raises(Unavailable):
            ask(warehouse, visits, statement=replace(written, text=gone))
    assert ask(warehouse, visits) == [2, 1, 1]
