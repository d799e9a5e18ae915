"""Show a reader synthetic rows of a release that they hold: the same to all of its readers."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from penstock.connectors.planning.domain import Domain
from penstock.errors import InvalidInput
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.releases import history
from penstock.services.repository.queries import query_by_name
from penstock.services.schemas.views import ReleaseView
from penstock.services.synthetic_rows import apart
from penstock.services.synthetic_rows.model import MOST_CELLS

MOST_ROWS = 100_000
COUNTS = ("count", "count_units", "histogram")
"""The statistics whose values are a table of counts."""

Labels = tuple[tuple[str, ...], ...]

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
    spec = _spec(server, view)
    labels = _table(view, spec)
    names = _names(spec, len(labels))
    values = np.asarray(view.values, dtype=np.float64)
    total = float(values.sum())
    answer = apart.drawn(
        {
            "sizes": {name: len(known) for name, known in zip(names, labels, strict=True)},
            "marginals": [
                {
                    "columns": names,
                    "values": values.tolist(),
                    "deviation": view.error.standard_deviation,
                }
            ],
            "total": total,
            "rows": min(max(round(total), 1), MOST_ROWS) if rows is None else rows,
            "seed": _seed(view.id),
        }
    )
    return _shown(view, names, labels, answer)


def can_be_drawn(server: Server, view: ReleaseView) -> bool:
    """Return True if synthetic rows of a release can be drawn here."""
    try:
        _table(view, _spec(server, view))
    except InvalidInput:
        return False
    return apart.is_installed()


def _spec(server: Server, view: ReleaseView) -> dict[str, Any]:
    with server.database.read() as session:
        spec: dict[str, Any] = json.loads(query_by_name(session, view.query).spec)
    return spec


def _table(view: ReleaseView, spec: dict[str, Any]) -> Labels:
    """Return the labels of a table of counts, by column.

    Raises ``InvalidInput`` for another release.
    """
    labels = _labels(view.keys)
    is_counts = spec.get("aggregate", {}).get("type") in COUNTS and view.errors is None
    if not is_counts or not labels or math.prod(map(len, labels)) != len(view.values):
        raise InvalidInput(
            f"Release {view.id!r} of query {view.query!r} is no table of counts over declared"
            " categories or bins, which synthetic rows are drawn from. Ask for a release of"
            f" {', '.join(COUNTS[:-1])} or {COUNTS[-1]} with group_by."
        )
    if len(view.values) > MOST_CELLS:
        raise InvalidInput(
            f"The table of release {view.id!r} has {len(view.values):,} cells; synthetic rows are"
            f" drawn from {MOST_CELLS:,} at most. Ask for a release of a smaller table."
        )
    return labels


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


def _shown(
    view: ReleaseView, names: Sequence[str], labels: Labels, answer: dict[str, Any]
) -> SyntheticRowsView:
    codes = answer["codes"]
    columns = {
        name: [known[code] for code in codes[name]]
        for name, known in zip(names, labels, strict=True)
    }
    return SyntheticRowsView(
        release=view.id,
        query=view.query,
        dataset=view.dataset,
        tier=view.tier,
        rows=len(codes[names[0]]),
        columns=columns,
        fits=[FitView(**fit) for fit in answer["fits"]],
    )
