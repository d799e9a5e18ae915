"""Show a reader synthetic rows of a release that they hold: the same to all of its readers."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlmodel import col, select

from penstock.connectors.planning.domain import Domain
from penstock.errors import InvalidInput
from penstock.persistence.tables.queries import Query, Release
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.releases import history
from penstock.services.schemas.estimates.marginals import MarginalView
from penstock.services.schemas.views import ReleaseView
from penstock.services.synthetic_rows import apart
from penstock.services.synthetic_rows.model import MOST_CELLS

MOST_ROWS = 100_000
COUNTS = ("count", "count_units", "histogram")
"""The statistics whose values are a table of counts."""

Labels = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Tables:
    """Hold released tables of counts, and the labels of each of their columns."""

    labels: dict[str, tuple[str, ...]]
    marginals: list[dict[str, Any]]


_LABEL = b"penstock synthetic rows 1\x00"


@dataclass(frozen=True)
class FitView:
    """Hold how far the shares of a released table are from those of the rows.

    ``distance`` is in total variation; ``fitted`` is False for a table that the model left out.
    """

    columns: list[str]
    distance: float
    fitted: bool


@dataclass(frozen=True)
class SyntheticRowsView:
    """Hold rows that were made up from a release; ``columns`` has the labels of each row by column.

    No row is anybody's: they have the released counts, with their noise, and nothing else.
    """

    release: str
    query: str
    dataset: str
    tier: str
    rows: int
    columns: dict[str, list[str]]
    fits: list[FitView]


def drawn(
    server: Server, principal: Principal, public_id: str, rows: int | None
) -> SyntheticRowsView:
    """Return ``rows`` synthetic rows of a release, by default as many as it says there are.

    All who hold the release get the same rows, while the versions of the libraries that draw them
    stay the same.  Raises ``NotFound`` for a release that the caller does not hold, and
    ``InvalidInput`` for one that is no table of counts, or too large a one.
    """
    view = history.values(server, principal, public_id)
    tables = _tables(view, _spec(server, view))
    total = sum(tables.marginals[0]["values"])
    answer = apart.drawn(
        {
            "sizes": {name: len(labels) for name, labels in tables.labels.items()},
            "marginals": tables.marginals,
            "total": total,
            "rows": min(max(round(total), 1), MOST_ROWS) if rows is None else rows,
            "seed": _seed(view.id),
        }
    )
    codes = answer["codes"]
    columns = {
        name: [labels[code] for code in codes[name]] for name, labels in tables.labels.items()
    }
    return SyntheticRowsView(
        release=view.id,
        query=view.query,
        dataset=view.dataset,
        tier=view.tier,
        rows=len(next(iter(columns.values()))),
        columns=columns,
        fits=[FitView(**fit) for fit in answer["fits"]],
    )


def can_be_drawn(server: Server, view: ReleaseView) -> bool:
    """Return True if synthetic rows of a release can be drawn here."""
    try:
        _tables(view, _spec(server, view))
    except InvalidInput:
        return False
    return apart.is_installed()


def _spec(server: Server, view: ReleaseView) -> dict[str, Any]:
    with server.database.read() as session:
        released = select(Query).join(Release, col(Release.query_id) == col(Query.id))
        query = session.exec(released.where(col(Release.public_id) == view.id)).one()
    spec: dict[str, Any] = json.loads(query.spec)
    return spec


def _tables(view: ReleaseView, spec: dict[str, Any]) -> Tables:
    """Return the tables of a release of counts.  Raises ``InvalidInput`` for another release."""
    if len(view.values) > MOST_CELLS:
        raise InvalidInput(
            f"Release {view.id!r} has {len(view.values):,} values; synthetic rows are drawn from"
            f" {MOST_CELLS:,} cells at most. Ask for a release of smaller tables."
        )
    if view.marginals is not None:
        return _of_marginals(view.marginals)
    labels = _labels(view.keys)
    is_counts = spec.get("aggregate", {}).get("type") in COUNTS and view.errors is None
    if not is_counts or not labels or math.prod(map(len, labels)) != len(view.values):
        raise InvalidInput(
            f"Release {view.id!r} of query {view.query!r} is no table of counts over declared"
            " categories or bins, which synthetic rows are drawn from. Ask for a release of"
            f" marginals, or of {', '.join(COUNTS[:-1])} or {COUNTS[-1]} with group_by."
        )
    names = _names(spec, len(labels))
    values = np.asarray(view.values, dtype=np.float64).tolist()
    whole = {"columns": names, "values": values, "deviation": view.error.standard_deviation}
    return Tables(dict(zip(names, labels, strict=True)), [whole])


def _of_marginals(views: Sequence[MarginalView]) -> Tables:
    labels: dict[str, tuple[str, ...]] = {}
    for view in views:
        parts = zip(*(cell.key for cell in view.cells), strict=True)
        labels |= {
            name: tuple(dict.fromkeys(part))
            for name, part in zip(view.columns, parts, strict=True)
            if name not in labels
        }
    marginals = [
        {
            "columns": view.columns,
            "values": [cell.value for cell in view.cells],
            "deviation": view.cells[0].standard_deviation,
        }
        for view in views
        if view.columns
    ]
    return Tables(labels, marginals)


def _labels(keys: Any) -> Labels:
    """Return the labels of keys by column; few keys are a list, in row-major order."""
    if isinstance(keys, Domain):
        return keys.labels
    if not isinstance(keys, list):
        return ()
    parts = zip(*(key if isinstance(key, list) else [key] for key in keys), strict=True)
    return tuple(tuple(dict.fromkeys(map(str, column))) for column in parts)


def _names(spec: dict[str, Any], count: int) -> list[str]:
    """Return the names of the columns; numbered, as in a table of values, if they repeat."""
    names = [str(part.get("column")) for part in spec.get("group_by", [])]
    if len(names) == count == len(set(names)):
        return names
    return [f"key_{place}" for place in range(1, count + 1)]


def _seed(release: str) -> int:
    """Return the seed of a release's rows, which is no secret: they say no more than it does."""
    return int.from_bytes(hashlib.sha256(_LABEL + release.encode()).digest()[:4], "big")
