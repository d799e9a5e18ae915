"""Test that a spec becomes one statement, and what is run is that statement."""

from dataclasses import replace

import pytest
from tests.unit.connectors.cases import KEY, SALT, Folder, dataset_of, prepared, query_of, stated

from penstock.connectors.planning.prepare import answer, fingerprint
from penstock.connectors.sources import Sources

WARDS = {"group_by": [{"column": "ward"}]}


def test_the_prepared_query_holds_the_statement_of_its_spec() -> None:
    dataset, query = dataset_of(), query_of(**WARDS)
    settled, statement = prepared(dataset, query), stated(dataset, query)
    assert settled.statement == statement
    assert settled.dimension == statement.plan.dimension


@pytest.mark.parametrize("limit", [1, 2])
def test_the_text_that_is_given_is_run(folder: Folder, limit: int) -> None:
    folder.csv([("ann", ward, 1, 1, "", "") for ward in ("a", "b")])
    dataset = dataset_of()
    statement = stated(dataset, query_of(**WARDS))
    text = statement.text.replace("place <= 2", f"place <= {limit}")
    steps = answer(
        dataset,
        replace(statement, text=text),
        salt=SALT,
        fingerprint_key=KEY,
        fingerprint=fingerprint(dataset, KEY, Sources(folder.path)),
        sources=Sources(folder.path),
    ).steps
    assert steps.sum() == limit
