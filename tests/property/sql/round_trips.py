"""Write a query as SQL and read it again, with the same hash."""

from typing import Any

from tests.unit.connectors.sql.statements import hash_of

from penstock.connectors.specs.models import ComputedQuery, DatasetSpec
from penstock.connectors.sql.reading import read
from penstock.connectors.sql.writing.statement import written
from penstock.errors import InvalidInput


class TooDeep(Exception):
    """Report a statement that nests deeper than is read."""


def _read(text: str, dataset: DatasetSpec) -> dict[str, Any]:
    try:
        return read(text, dataset)
    except InvalidInput as error:
        if "nests deeper" in error.detail:
            raise TooDeep from error
        raise


def require_round_trip(query: ComputedQuery, dataset: DatasetSpec) -> bool:
    """Return True if a query is written, and then read as the same statistic."""
    text = written(query, dataset)
    if text is None:
        return False
    fields = _read(text, dataset)
    again = ComputedQuery.model_validate(
        {**query.model_dump(include={"name", "contribution"}), **fields}
    )
    assert hash_of(again, dataset) == hash_of(query, dataset), text
    return True
