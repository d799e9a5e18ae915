"""Check a declaration: estimate the share of a column's rows in no declared category.

Such rows are left out of every group of that column, silently: a category that the declaration
spells differently from the file is not visible for free.  So the check is a query like any other,
with a small level, and is charged as one.
"""

import hashlib
from itertools import chain, count

from sqlmodel import col, func, select

from penstock.errors import InvalidInput
from penstock.persistence.tables.queries import Query
from penstock.services.context import Server
from penstock.services.schemas.levels import LevelSpec
from penstock.services.schemas.queries import ComputedQueryRequest
from penstock.services.schemas.views import DatasetView
from penstock.spec_fields import folded

EPSILON = 0.05
"""The default epsilon of a check."""

_LONGEST = 58


def check_request(
    dataset: DatasetView,
    column: str,
    tier: str | None = None,
    *,
    epsilon: float = EPSILON,
    rows: int = 1,
    name: str | None = None,
) -> ComputedQueryRequest:
    """Return the query that checks a column, for ``tier`` or else the most trusted tier.

    One privacy unit counts as up to ``rows`` rows.  Raises ``InvalidInput`` if no tier has a budget
    in the dataset.
    """
    tiers = list(dataset.budgets)
    if not tiers:
        raise InvalidInput(f"No tier has a budget in {dataset.name!r}, so nothing can be charged.")
    # Each row is a unit there, so a unit has no more than one row.
    limits = {} if dataset.privacy_unit == {"rows": 1} else {"max_rows_per_group": rows}
    return ComputedQueryRequest.model_validate(
        {
            "name": name or name_of(dataset.name, column),
            "dataset": dataset.name,
            "aggregate": {"type": "uncategorized", "column": column},
            "contribution": limits,
            "mechanism": noise_of(dataset),
            "levels": {tier or tiers[-1]: LevelSpec(epsilon=epsilon)},
        }
    )


def noise_of(dataset: DatasetView) -> str:
    """Return the mechanism of a check: gaussian if the dataset has a delta, otherwise laplace."""
    return "gaussian" if dataset.delta else "laplace"


def free_name(server: Server, dataset: str, column: str) -> str:
    """Return a name for the next check of a column, with a number from the second check on.

    A column is checked again after its declaration was corrected, or at a larger epsilon.
    """
    first = name_of(dataset, column)
    names = chain([first], (f"{first} {number}" for number in count(2)))
    with server.database.read() as session:
        named = select(func.count(col(Query.id)))
        return next(
            name
            for name in names
            if not session.exec(named.where(col(Query.folded) == folded(name))).one()
        )


def name_of(dataset: str, column: str) -> str:
    """Return a query name that contains the column's name, or its digest if it must."""
    printable = "".join(
        character if character.isprintable() and character not in "/," else "_"
        for character in column
    )
    whole = f"{dataset} {printable} uncategorized"
    if printable == column and len(whole) <= _LONGEST:
        return whole
    digest = hashlib.sha256(f"{dataset}/{column}".encode()).hexdigest()[:8]
    return f"uncategorized {digest}"
