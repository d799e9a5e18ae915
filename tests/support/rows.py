"""Provide rows of tables with only the columns that a test is about."""

from typing import Any, TypeVar

from sqlmodel import SQLModel

Row = TypeVar("Row", bound=SQLModel)


def row(table: type[Row], **columns: Any) -> Row:
    """Return a row outside of any session; what is not given is not set."""
    return table(**columns)


def columns_of(row: SQLModel) -> dict[str, Any]:
    """Return the columns of a row, without building a serializer of its table."""
    return {name: getattr(row, name) for name in type(row).model_fields}
