"""Read counts whose size was declared with the size that another release has instead.

The counts ``f`` are read from the noisy ``2 f - n`` and half of ``n`` (Lebeda 2024, Lemma 3.6).
What is protected, and charged, are these sums: how far a unit moves them takes its own part in
``n`` into account, so that the size need be neither public nor the same for neighbors.  A reader
who holds a release of the size may therefore use it: this is post-processing of two releases.
Half of that release's noise is then in all counts.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from penstock.errors import InvalidInput
from penstock.mechanisms.gaussian.process import Gaussian
from penstock.persistence.tables.queries import Query
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.kinds.correlated_counts import CorrelatedKind
from penstock.services.noise.kinds.vector import VectorKind
from penstock.services.schemas.estimates.covariance import (
    CovarianceView,
    GroupedCountsView,
    SizeView,
)
from penstock.services.schemas.views import ErrorView, ReleaseView
from penstock.structures.counts import Centered

POINTER = "/size_release"

QUARTER = Fraction(1, 4)
"""The part of a node's variance that a count has of its noise."""


@dataclass(frozen=True)
class Shown:
    """Hold a release as its reader sees it, with its query and its rung."""

    query: Query
    rung: int
    view: ReleaseView


def with_size(counts: Shown, size: Shown) -> ReleaseView:
    """Return the release ``counts`` with the size that ``size`` has, and with its error.

    Raises ``InvalidInput`` for counts without a declared size, and for a release that is not the
    number of the same rows or units.
    """
    kind = kind_of(counts.query)
    nodes = kind.nodes if isinstance(kind, CorrelatedKind) else None
    if not isinstance(nodes, Centered):
        raise InvalidInput(
            f"The query {counts.query.readable} has no known_size that a released one could"
            " replace; leave size_release out.",
            pointer=POINTER,
        )
    _require_same(counts.query, size.query)
    error, common = _errors(counts, size)
    grouped = GroupedCountsView(nodes.columns, error.standard_deviation**2, common, None, None)
    (number,) = size.view.values
    moved = (float(number) - float(nodes.known)) / 2
    return replace(
        counts.view,
        values=np.asarray(counts.view.values) + moved,
        error=error,
        covariance=CovarianceView(grouped_counts=grouped),
        size=SizeView(size.view.id, size.view.query, size.view.mechanism),
    )


def _errors(counts: Shown, size: Shown) -> tuple[ErrorView, float]:
    """Return a count's margin of error with a released size, and the variance that is common.

    Half widths of normal noises add up as deviations do.  With other noise each part is within its
    own half width with half of the chance to be outside, so that both together are.
    """
    own, other = counts.view.error, size.view.error
    half_of_size = other.standard_deviation / 2
    deviation = math.hypot(own.standard_deviation, half_of_size)
    kind, size_kind = kind_of(counts.query), kind_of(size.query)
    if isinstance(size_kind.mechanism, Gaussian):
        width = math.hypot(own.half_width, other.half_width / 2)
    else:
        surer = (1 + own.confidence) / 2
        node = kind.ladder.value(counts.rung)
        part = kind.mechanism.error(node * QUARTER, surer)
        level = size_kind.ladder.value(size.rung)
        width = part.half_width + size_kind.mechanism.error(level, surer).half_width / 2
    return ErrorView(deviation, own.confidence, width), half_of_size**2


def _require_same(counts: Query, size: Query) -> None:
    """Raise ``InvalidInput`` unless ``size`` is how many rows or units ``counts`` are of."""
    own, other = json.loads(counts.spec), json.loads(size.spec)
    of_columns = ["columns" in spec.get("aggregate", {}) for spec in (own, other)]
    if (
        type(kind_of(size)) is VectorKind
        and (size.dimension, size.dataset_id) == (1, counts.dataset_id)
        and of_columns == [True, False]
        and _population(own) == _population(other)
    ):
        return
    raise InvalidInput(
        f"The release of {size.name} is not the number of the rows or units that {counts.name}"
        " counts: it must be of one count of the same type over the same version of the dataset,"
        " with the same where, group_by and rows of a unit, and without columns.",
        pointer=POINTER,
    )


def _population(spec: Mapping[str, Any]) -> Sequence[Any]:
    """Return the parts of a spec that say which rows or units are counted."""
    kind, rows = spec.get("aggregate", {}).get("type"), spec.get("contribution", {})
    parts = (spec.get(name) for name in ("derived", "where", "group_by"))
    return kind, *parts, rows.get("max_rows_per_group")
