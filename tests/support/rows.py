"""Provide rows of tables with only the columns that a test is about."""

from typing import Any, TypeVar

from sqlmodel import SQLModel

Row = TypeVar("Row", bound=SQLModel)


def row(table: type[Row], **columns: Any) -> Row:
    """Return a row outside of any session; what is not given is not set."""
    return table(**columns)
