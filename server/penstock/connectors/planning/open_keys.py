"""Read the keys of a sparse histogram: on a dataset, and as ranks."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from penstock.connectors.formulas.formula import Column
from penstock.connectors.planning.plan import OpenKeys
from penstock.connectors.planning.refusals import pointer
from penstock.connectors.specs.histograms import SMALLEST_DOMAIN, HistogramQuery, domain_of
from penstock.connectors.specs.models import Count, CountUnits, DatasetSpec
from penstock.errors import InvalidInput
from penstock.structures.sparse_histogram.contents import joined
from penstock.structures.sparse_histogram.domain import Uint64, ranks_of

COLUMN = "open_key"
"""The name under which a key is read, as text of the file."""


def open_keys(dataset: DatasetSpec, query: HistogramQuery, column: Column) -> OpenKeys:
    """Return the open keys of ``query``; ``column`` is that of its only grouping.

    Raises ``InvalidInput`` with the pointer of what is not valid.
    """
    column_type = "integer" if query.domain.type == "uint64" else "string"
    if dataset.columns[column.name].type != column_type:
        raise InvalidInput(
            f"Keys of the domain {query.domain.type} are read from a column of type {column_type};"
            f" {column.name} is declared as {dataset.columns[column.name].type}.",
            pointer=pointer("group_by", 0, "column"),
        )
    domain = domain_of(query.domain)
    if domain.size < SMALLEST_DOMAIN:
        raise InvalidInput(
            f"The domain has {domain.size} keys; a sparse histogram takes {SMALLEST_DOMAIN} to"
            " 2^64. Give the column its categories instead, and leave structure out.",
            pointer=pointer("domain"),
        )
    return OpenKeys(column, domain)


def only_column(query: HistogramQuery) -> str:
    """Return the name of the column that keys are read from.  Raises ``InvalidInput``."""
    if not isinstance(query.aggregate, Count | CountUnits):
        raise InvalidInput(
            f"A sparse histogram counts: its aggregate is count or count_units, not"
            f" {query.aggregate.type}.",
            pointer=pointer("aggregate", "type"),
        )
    if len(query.group_by) != 1:
        raise InvalidInput(
            f"A sparse histogram is grouped by one column, whose cells are its keys, and not by"
            f" {len(query.group_by)}; choose one, for example that of an article's number.",
            pointer=pointer("group_by"),
        )
    if query.group_by[0].bins is not None:
        raise InvalidInput(
            "The keys of a sparse histogram are those of its domain; leave bins out, or leave"
            " structure out.",
            pointer=pointer("group_by", 0, "bins"),
        )
    return query.group_by[0].column


def open_answer_of(
    keys: OpenKeys, key_columns: Sequence[object], counts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the answer from the engine's rows: the ranks of the keys found, then their counts.

    ``sparse_histogram.parted`` splits it.  The number of keys depends on the data: it is never
    revealed, and no request is refused because of it.
    """
    if isinstance(keys.domain, Uint64):
        ranks = np.asarray(key_columns, dtype=np.uint64)
    else:
        ranks = ranks_of(keys.domain, [str(key) for key in key_columns])
    return joined(ranks, np.asarray(counts, dtype=np.int64))
