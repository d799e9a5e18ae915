"""Choose the kind of a query: from its stored row, or from a request for it."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final

from penstock.connectors.planning.prepare import PreparedQuery
from penstock.mechanisms.process import Mechanism
from penstock.persistence.tables.queries import Query
from penstock.privacy.level import Ladder
from penstock.privacy.sensitivity import Sensitivity
from penstock.services.noise.kinds.correlated_counts import CorrelatedKind
from penstock.services.noise.kinds.kind import QueryKind
from penstock.services.noise.kinds.mean import MeanKind
from penstock.services.noise.kinds.moments import MomentsKind
from penstock.services.noise.kinds.quantiles import QuantilesKind
from penstock.services.noise.kinds.sparse_histogram import HistogramKind
from penstock.services.noise.kinds.stream import StreamKind
from penstock.services.noise.kinds.tables.marginals import MarginalsKind
from penstock.services.noise.kinds.tables.workload import WorkloadKind
from penstock.services.noise.kinds.vector import VectorKind
from penstock.services.schemas.queries import Terms

KINDS: Final = (
    *(StreamKind, HistogramKind, CorrelatedKind, MeanKind, MomentsKind, QuantilesKind),
    MarginalsKind,
    WorkloadKind,
    VectorKind,
)
"""All kinds; a query has the first kind that recognizes it, and ``VectorKind`` recognizes all."""


def kind_of(query: Query) -> QueryKind:
    """Return the kind of a registered query, read back from its row."""
    for kind in KINDS:
        own = kind.own_of(query)
        if own is not None:
            family, numbers = kind.stored_family(query, own), _numbers(query)
            return _shared(kind, family, *numbers) if not own else _made(kind, family, own, numbers)
    raise TypeError("every query is a vector at least")


def requested(terms: Terms, prepared: PreparedQuery) -> tuple[type[QueryKind], Mapping[str, Any]]:
    """Return the kind of a request, and its fields for that kind."""
    for kind in KINDS:
        own = kind.requested_of(terms, prepared)
        if own is not None:
            return kind, own
    raise TypeError("every request is for a vector at least")


_Numbers = tuple[int, str, str, str, int, int, str, str, str]

_numbers: Callable[[Query], _Numbers] = attrgetter(
    *("calibration", "granularity", "ladder_finest", "ladder_unit", "ladder_last"),
    *("ladder_doubling", "sensitivity_l1", "sensitivity_l2_squared", "sensitivity_linf"),
)
"""Return the columns of a row that every kind has."""


def _made(
    kind: type[QueryKind], family: type[Mechanism], own: Mapping[str, Any], numbers: _Numbers
) -> QueryKind:
    calibration, granularity, finest, unit, last, doubling, *norms = numbers
    return kind(
        _mechanism(family, granularity),
        _ladder(finest, unit, last, doubling),
        _sensitivity(*norms),
        calibration=calibration,
        **own,
    )


# Queries of a kind without own fields share one, with all figures that it has shown.
@lru_cache(maxsize=256)
def _shared(kind: type[QueryKind], family: type[Mechanism], *numbers: Any) -> QueryKind:
    return _made(kind, family, {}, numbers)


# Queries share their mechanisms, ladders and sensitivities, and parsing these takes longer than
# reading a row, which is done several times in one request.
@lru_cache(maxsize=4096)
def _mechanism(family: type[Mechanism], granularity: str) -> Mechanism:
    return family(granularity=Fraction(granularity))


@lru_cache(maxsize=4096)
def _ladder(finest: str, unit: str, last: int, doubling: int) -> Ladder:
    return Ladder(int(finest), Fraction(unit), last, doubling)


@lru_cache(maxsize=4096)
def _sensitivity(l1: str, l2_squared: str, linf: str) -> Sensitivity:
    return Sensitivity(Fraction(l1), Fraction(l2_squared), Fraction(linf))


def stream_kind_of(query: Query) -> StreamKind:
    """Return the kind of a stream.  Raises ``TypeError`` for any other query."""
    kind = kind_of(query)
    if not isinstance(kind, StreamKind):
        raise TypeError(f"query {query.readable!r} is used as a stream, but is not one")
    return kind
