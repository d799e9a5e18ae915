"""Make up rows of a dataset, for users who may see its declaration."""

import datetime

from penstock.connectors.dummy import MOST_ROWS, dummy_rows
from penstock.errors import InvalidInput
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.datasets.datasets import visible_dataset
from penstock.services.datasets.population import spec_of
from penstock.services.schemas.views import DummyView

__all__ = ["MOST_ROWS", "ROWS", "rows"]

ROWS = 100
"""The default number of rows."""


def rows(
    server: Server, principal: Principal, name: str, *, rows: int = ROWS, seed: int = 0
) -> DummyView:
    """Return rows of the declared columns, the same for the same ``seed``.

    Raises ``NotFound``, also if the caller may not see the dataset, and
    ``InvalidInput`` for a dataset without columns.
    """
    with server.database.read() as session:
        spec = spec_of(visible_dataset(session, principal, name))
    if not spec.columns:
        raise InvalidInput(
            f"The dataset {spec.name} declares no columns: its vectors are pushed, so there are"
            f" no rows to make up."
        )
    return DummyView(
        [
            {
                column: cell.isoformat() if isinstance(cell, datetime.date) else cell
                for column, cell in row.items()
            }
            for row in dummy_rows(spec, rows, seed)
        ]
    )
