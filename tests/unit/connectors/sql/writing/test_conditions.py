"""Test how conditions are written, with NOT moved inwards."""

from typing import Any

import pytest
from tests.unit.connectors.cases import dataset_of, query_of

from penstock.connectors.sql.writing.cells import CellWriter, text_of
from penstock.connectors.sql.writing.conditions import condition

YOUNG = {"column": "age", "op": "<", "value": 18}
URGENT = {"column": "urgent", "op": "=", "value": True}


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (YOUNG, '"age" < 18'),
        ({"not": YOUNG}, '"age" >= 18'),
        ({"not": {"not": YOUNG}}, '"age" < 18'),
        (URGENT, '"urgent"'),
        ({"not": URGENT}, '"urgent" <> TRUE'),
        ({**URGENT, "value": False}, 'NOT "urgent"'),
        ({"column": "age", "op": "in", "value": [1, 2]}, '"age" IN (1, 2)'),
        ({"not": {"column": "age", "op": "in", "value": [1]}}, 'NOT "age" IN (1)'),
        ({"column": "age", "op": "is_null"}, '"age" IS NULL'),
        ({"not": {"column": "age", "op": "is_null"}}, 'NOT "age" IS NULL'),
        ({"any": [YOUNG, URGENT]}, '("age" < 18 OR "urgent")'),
        ({"not": {"any": [YOUNG, URGENT]}}, '("age" >= 18 AND "urgent" <> TRUE)'),
        ({"all": [{"any": [YOUNG]}]}, '"age" < 18'),
    ],
)
def test_an_entry_is_written(entry: dict[str, Any], text: str) -> None:
    ((read),) = query_of(where=[entry]).where
    assert text_of(condition(read, CellWriter(dataset_of()))) == text
