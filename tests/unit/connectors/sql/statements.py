"""Read statements over the visits of ``cases``, for tests."""

from typing import Any

import pytest
from tests.unit.connectors.cases import dataset_of, query_of

from penstock.connectors.planning.canonical import canonical_hash
from penstock.connectors.planning.interpret import interpret
from penstock.connectors.specs.models import ComputedQuery, DatasetSpec
from penstock.connectors.sql import reading
from penstock.errors import InvalidInput

DATASET = dataset_of()


def fields_of(text: str, dataset: DatasetSpec = DATASET) -> dict[str, Any]:
    """Return the fields of a spec that a statement says, without the dataset."""
    fields = reading.read(text, dataset)
    assert fields.pop("dataset") == dataset.name
    return fields


def where_of(condition: str, dataset: DatasetSpec = DATASET) -> list[dict[str, Any]]:
    """Return the entries of a condition."""
    fields = fields_of(f"SELECT COUNT(*) FROM visits WHERE {condition}", dataset)
    assert fields["aggregate"] == {"type": "count"}
    entries: list[dict[str, Any]] = fields["where"]
    return entries


def refusal_of(text: str, dataset: DatasetSpec = DATASET) -> str:
    """Return the refusal of a statement, all places of which are in its text."""
    with pytest.raises(InvalidInput) as refused:
        reading.read(text, dataset)
    assert {place for place, _ in refused.value.errors} == {"/sql"}
    return refused.value.errors[0][1]


def hash_of(query: ComputedQuery, dataset: DatasetSpec = DATASET) -> str:
    """Return the canonical hash of a query."""
    return canonical_hash(interpret(dataset, query), dataset.name, 1, "gaussian")


def hash_of_sql(text: str, dataset: DatasetSpec = DATASET) -> str:
    """Return the canonical hash of a statement."""
    return hash_of(query_of(**fields_of(text, dataset)), dataset)
