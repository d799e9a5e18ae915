"""Make rows of tables as loading makes them, without their constructor.

That calls several functions for each column, and validates nothing.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from sqlalchemy.orm.attributes import manager_of_class

from penstock.persistence.tables.columns import Table

Row = TypeVar("Row", bound=Table)


def made(kind: type[Row], columns: Mapping[str, Any]) -> Row:
    """Make a row outside of any session; what is not given is as its class declares it.

    Raises ``TypeError`` for a column that the table does not have, or that is missing.
    """
    defaults, needed = _declared(kind)
    wrong = (columns.keys() ^ needed) - defaults.keys()
    if wrong:
        raise TypeError(
            f"columns of {kind.__tablename__!r} are missing or unknown: {sorted(wrong)}"
        )
    row: Row = manager_of_class(kind).new_instance()
    # Under the attributes, whose setters note for every value what it was before.
    vars(row).update({**defaults, **columns})
    return row


@cache
def _declared(kind: type[Table]) -> tuple[Mapping[str, Any], frozenset[str]]:
    """Return the values of columns that need not be given, and the names of the others."""
    fields = kind.model_fields
    needed = frozenset(name for name, field in fields.items() if field.is_required())
    return {name: fields[name].get_default() for name in fields.keys() - needed}, needed
