"""Turn the rows that an engine returns into the answer's vector, exactly.

An engine returns the keys that have a total.  All other declared keys have 0, or, for groups that
are protected together with the number of units in any, minus that number: so the answer has a
number for each declared key, and none that is not declared.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.connectors.planning.correlated_counts import answer_of
from penstock.connectors.planning.open_keys import open_answer_of
from penstock.connectors.planning.plan import Plan
from penstock.connectors.statements.statement import KEY, SIZE, Statement, overlapping
from penstock.structures.marginals.tables import counted

Rows = Mapping[str, NDArray[Any]]
"""The columns that an engine returned, by name: equally long, without NULL."""


def decoded(statement: Statement, rows: Rows) -> NDArray[np.int64]:
    """Return the answer, in lattice steps: shape ``(plan.dimension,)``.

    That of open keys has the ranks of the keys, and then their counts.
    """
    plan = statement.plan
    if plan.open_keys is not None:
        order = np.argsort(rows[KEY], kind="stable")
        counts = [rows[name][order].astype(np.int64) for name in statement.columns]
        return open_answer_of(plan.open_keys, rows[KEY][order].tolist(), *counts)
    if KEY not in rows:
        # A text of an older version, which returns every declared key in its place.
        return answer_of(plan, [rows[name].astype(np.int64) for name in statement.columns])
    keys = _places(plan, rows[KEY])
    if plan.marginals is not None or plan.workload is not None:
        own = rows[statement.columns[0]].astype(np.int64)
        return _protected(plan, _split(plan, keys), own)
    return answer_of(plan, [_scattered(plan, name, rows, keys) for name in statement.columns])


def _places(plan: Plan, keys: NDArray[Any]) -> NDArray[np.int64]:
    """Return the keys as places of the vector; each of them is declared, and occurs once."""
    places = keys.astype(np.int64)
    within = (places >= 0) & (places < plan.cells)
    # Sorting a million keys takes a tenth of the time of their set.
    ordered = np.sort(places)
    if not within.all() or (ordered[1:] == ordered[:-1]).any():
        raise RuntimeError("the engine returned a key twice, or one that is not declared")
    return places


def _split(plan: Plan, keys: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return which of its keys each cell has in each grouping; cells have no list."""
    places: list[NDArray[np.int64]] = []
    for grouping in reversed(plan.groupings):
        keys, own = np.divmod(keys, len(grouping))
        places.append(own)
    return places[::-1]


def _protected(
    plan: Plan, places: list[NDArray[np.int64]], counts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the protected tables of marginals, or the nodes of a workload."""
    if plan.workload is not None:
        numbers = plan.workload.nodes(places, counts)
    elif plan.marginals is not None:
        numbers = counted(plan.marginals, places, counts)
    else:
        raise RuntimeError("only marginals and workloads are computed from all cells")
    return np.clip(numbers, -plan.saturation, plan.saturation)


def _scattered(plan: Plan, name: str, rows: Rows, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a column with a number for each declared key, and each bin of it."""
    column = np.full(plan.cells, _without_rows(plan, name, rows), dtype=np.int64)
    column[places] = rows[name].astype(np.int64)
    return column


def _without_rows(plan: Plan, name: str, rows: Rows) -> int:
    """Return the answer of a key that no unit has."""
    if not overlapping(plan) or not len(rows[SIZE]):
        return 0
    # The number of units is saturated already, so that the product is.
    units = int(rows[SIZE][0])
    return units if name == SIZE else -plan.max_rows * units
