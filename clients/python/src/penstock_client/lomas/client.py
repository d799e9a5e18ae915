"""Provide lomas's client: one dataset, with lomas's method names."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from penstock_client import client as penstock
from penstock_client.lomas.answers import Answer, budget
from penstock_client.lomas.refused import Refused
from penstock_client.lomas.smartnoise_sql import DUMMY_ROWS, DUMMY_SEED, LIBRARY, SmartnoiseSQL
from penstock_client.lomas_names import tier_budget
from penstock_client.models import HistoryItem

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

TOKENS = "pst_"
"""What a token begins with."""


class Client:
    """Represent a connection to one dataset of a server, with the methods of lomas's client.

    Where the environment has ``PENSTOCK_URL`` and ``PENSTOCK_TOKEN``, these are used, so that a
    notebook keeps its address and its names: the token says who the user is.  Otherwise ``url``
    is the server's, and ``client_secret`` the token.  ``contribution`` is for datasets in which
    rows belong to people: how many ``max_groups`` and ``max_rows_per_group`` of one count.
    ``client`` replaces the connection.  Other arguments of lomas are not needed.
    """

    def __init__(
        self,
        url: str | None = None,
        user_name: str | None = None,
        dataset_name: str = "",
        *,
        client_secret: str | None = None,
        contribution: Mapping[str, int] | None = None,
        client: penstock.Client | None = None,
        **unneeded: object,
    ) -> None:
        del user_name, unneeded
        if client is None:
            secret = client_secret if client_secret and client_secret.startswith(TOKENS) else None
            client = penstock.Client(
                os.environ.get("PENSTOCK_URL") or url, os.environ.get("PENSTOCK_TOKEN") or secret
            )
        self.penstock = client
        """The client of this package, which has everything else."""
        self.dataset_name = dataset_name
        dataset = client.dataset(dataset_name)
        self.smartnoise_sql = SmartnoiseSQL(client, dataset, contribution)
        self.opendp, self.diffprivlib, self.smartnoise_synth = map(
            Refused, ("opendp", "diffprivlib", "smartnoise_synth")
        )

    def get_dataset_metadata(self) -> Answer:
        """Return the declared columns: ``columns`` by name, and ``row_privacy``.

        The number of rows is not in it: it is not public here.
        """
        dataset = self.penstock.dataset(self.dataset_name)
        columns = {name: _column(declared) for name, declared in dataset.columns.items()}
        unit = dataset.privacy_unit
        return Answer(
            row_privacy=isinstance(unit, Mapping) and "rows" in unit,
            columns=columns,
        )

    def get_dummy_dataset(
        self, nb_rows: int = DUMMY_ROWS, seed: int = DUMMY_SEED, lazy: bool = False
    ) -> "pd.DataFrame | pl.LazyFrame":
        """Return made-up rows, as a pandas frame or a lazy one of polars."""
        dummy = self.penstock.dummy(self.dataset_name, rows=nb_rows, seed=seed)
        return dummy.to_polars().lazy() if lazy else dummy.to_pandas()

    def get_initial_budget(self) -> Answer:
        """Return what the caller's tier was granted."""
        granted = tier_budget(self.penstock.budget(self.dataset_name), None).granted
        return budget("initial", granted.epsilon, granted.delta)

    def get_total_spent_budget(self) -> Answer:
        """Return what all queries that the caller's tier may see have spent of its budget."""
        spent = tier_budget(self.penstock.budget(self.dataset_name), None).spent
        return budget("total_spent", spent.epsilon, spent.delta)

    def get_remaining_budget(self) -> Answer:
        """Return what is left of the budget of the caller's tier."""
        remaining = tier_budget(self.penstock.budget(self.dataset_name), None).remaining
        return budget("remaining", remaining.epsilon, remaining.delta)

    def get_previous_queries(self) -> list[Answer]:
        """Return what was released to the caller of this dataset, without values."""
        name = self.penstock.dataset(self.dataset_name).name
        return [_previous(item) for item in self.penstock.history() if item.dataset == name]


def _previous(item: HistoryItem) -> Answer:
    return Answer(
        user_name=item.user,
        dataset_name=item.dataset,
        dp_library=LIBRARY,
        client_input=Answer(query=item.query),
        response=Answer(epsilon=item.guarantee.epsilon, delta=item.guarantee.delta),
        timestamp=None if item.released_at is None else item.released_at.timestamp(),
    )


def _column(declared: object) -> dict[str, Any]:
    """Return a declared column as lomas's metadata have it."""
    fields = dict(declared) if isinstance(declared, Mapping) else {}
    names = {"number": "float", "integer": "int", "date": "datetime"}
    kind = str(fields.get("type"))
    column = {"type": names.get(kind, kind), "nullable": fields.get("missing") is not None}
    categories = fields.get("categories")
    if categories is not None:
        column |= {"cardinality": len(categories), "categories": categories}
    column |= {end: fields[end] for end in ("lower", "upper") if fields.get(end) is not None}
    return column
