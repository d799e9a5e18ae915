"""Test how constants are written, by the type of their column."""

import pytest
from tests.unit.connectors.cases import dataset_of

from penstock.connectors.specs.models import ColumnType
from penstock.connectors.sql.writing.cells import CellWriter, constant, text_of


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("integer", -3, "-3"),
        ("integer", 3.0, "3"),
        ("number", 0.1, "0.1"),
        ("number", -1e-7, "-1e-07"),
        ("number", 3, "3.0"),
        ("string", "a'b\\", "'a''b\\'"),
        ("string", "3", "'3'"),
        ("boolean", False, "FALSE"),
        ("date", "2026-01-31", "CAST('2026-01-31' AS DATE)"),
    ],
)
def test_a_constant_is_written_by_its_type(kind: ColumnType, value: object, text: str) -> None:
    assert text_of(constant(kind, value)) == text


def test_a_column_is_quoted_with_what_stands_in_for_missing_cells() -> None:
    columns = {'a "b': {"type": "string"}, "c": {"type": "string", "missing": "none"}}
    writer = CellWriter(dataset_of(columns=columns, unit={"rows": 1}))
    assert text_of(writer.column('a "b')) == '"a ""b"'
    assert text_of(writer.column("c")) == "COALESCE(\"c\", 'none')"
    assert (writer.may_be_missing("c"), writer.may_be_missing('a "b')) == (False, True)
