"""Test that a dataset's engine decides what reads it."""

import pytest
from tests.unit.connectors.cases import dataset_of, query_of

from penstock.connectors.choice import connector_of
from penstock.connectors.connector import Snapshot
from penstock.connectors.planning.interpret import interpret
from penstock.connectors.specs.models import DatasetSpec


def test_files_are_recognized_by_their_content() -> None:
    connector = connector_of(dataset_of())
    assert connector.snapshot is Snapshot.CONTENT
    plan = interpret(dataset_of(), query_of())
    assert connector.statement(plan).plan is plan


def test_pushed_vectors_are_not_read() -> None:
    pushed = DatasetSpec.model_validate(
        {"name": "sites", "source": {"engine": "vector"}, "neighboring": "add_remove"}
    )
    with pytest.raises(RuntimeError, match="pushed"):
        connector_of(pushed)
