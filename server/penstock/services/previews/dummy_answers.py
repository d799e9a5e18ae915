"""Answer a query exactly on made-up rows of its dataset, before anybody asks it of the data.

The rows follow from the declaration, which everybody who sees the dataset can read, so the answer
says nothing about the data: it needs no noise, and nothing is charged or kept.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from penstock.connectors.dummy_answers import dummy_answer
from penstock.connectors.planning.prepare import PreparedQuery
from penstock.connectors.planning.refusals import refusal
from penstock.connectors.specs.models import ComputedQuery, CountUnits, Mean, Sum, Uncategorized
from penstock.errors import InvalidInput
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.datasets.datasets import visible_dataset
from penstock.services.datasets.population import spec_of
from penstock.services.noise.estimates.reading import NOISE, estimates_of, quantiles_of
from penstock.services.noise.kinds.choice import requested
from penstock.services.noise.kinds.mean import MeanKind
from penstock.services.noise.kinds.moments import MomentsKind
from penstock.services.noise.kinds.quantiles import QuantilesKind
from penstock.services.noise.kinds.vector import VectorKind
from penstock.services.queries.exact_answers import planned
from penstock.services.queries.sql.statements import resolved
from penstock.services.schemas.previews import (
    DummyAnswerRequest,
    DummyAnswerView,
    DummyNumberView,
)
from penstock.services.schemas.queries import ComputedQueryRequest, QueryRequest, SqlRequest
from penstock.services.schemas.views import ErrorView, EstimateView, Key

MOST_NUMBERS: Final = 10_000
"""The most numbers that are computed on made-up rows."""

_WHOLE: Final = "all"
"""The key of an answer without groups."""

_EXACT: Final = ErrorView(1e-9, 0.95, 1.96e-9)
"""The error with which exact sums are read: what is estimated from them divides by it."""


def tried(server: Server, principal: Principal, request: DummyAnswerRequest) -> DummyAnswerView:
    """Return what ``answer`` does; the pointers of refusals are those of the request."""
    try:
        return answer(server, principal, request.query, request.rows, request.seed)
    except InvalidInput as error:
        raise refusal([(f"/query{at}", sentence) for at, sentence in error.errors]) from None


def answer(
    server: Server,
    principal: Principal,
    query: QueryRequest,
    rows: int,
    seed: int,
    patience: float = 0.0,
) -> DummyAnswerView:
    """Return the exact numbers of a query on made-up rows, the same for the same ``seed``.

    It waits ``patience`` seconds for a computation that the same user has just started.

    Raises what registering would for a query that is not valid, and ``NotFound`` for a dataset that
    the caller may not see; ``InvalidInput`` for statistics whose answer is no list of numbers by
    group, and for too many numbers; and ``TooManyRequests`` while the caller's last preview or
    answer is being computed.
    """
    principal.require("analyst", "admin")
    if isinstance(query, SqlRequest):
        query = resolved(server, principal, query)
    with server.database.read() as session:
        dataset = visible_dataset(session, principal, query.dataset)
    if type(query) is not ComputedQueryRequest:
        raise InvalidInput(
            "Only statistics that are computed from rows, one number for each group, are tried on"
            " made-up rows; this query has another structure, or brings its values.",
            pointer="",
        )
    prepared = planned(dataset, query)
    kind, own = requested(query, prepared)
    if prepared.statement is None or kind not in _READ:
        raise InvalidInput(
            "Marginals and workloads are not tried on made-up rows; try a count of the same"
            " columns.",
            pointer="/aggregate",
        )
    _require_few_numbers(prepared)
    with server.computing.alone(principal.name, patience):
        steps = dummy_answer(spec_of(dataset), prepared.statement.plan, rows, seed)
    values = steps.astype(np.float64) * float(prepared.step)
    keys = prepared.keys or ()
    if kind is MomentsKind:
        view = own["columns_read"].view()
        values = (values.reshape(-1, len(view.weights)) / np.array(view.weights)).ravel()
        numbers = _estimated(estimates_of(_listed(keys), values, _EXACT, view, NOISE))
    elif kind is QuantilesKind:
        view = own["binned"].view()
        numbers = _estimated(quantiles_of(_listed(keys), values, _EXACT, view, NOISE)[0])
    else:
        numbers = _counted(query, prepared, keys, values)
    return DummyAnswerView(
        dataset=dataset.name,
        rows=rows,
        seed=seed,
        groups=[grouping.column.name for grouping in prepared.statement.plan.groupings],
        numbers=list(numbers),
    )


def _require_few_numbers(prepared: PreparedQuery) -> None:
    if prepared.dimension > MOST_NUMBERS:
        raise InvalidInput(
            f"The query has {prepared.dimension} numbers; at most {MOST_NUMBERS} are computed on"
            " made-up rows. Use fewer or coarser groups.",
            pointer="/group_by",
        )


_READ: Final = (VectorKind, MeanKind, MomentsKind, QuantilesKind)


def _listed(keys: Sequence[Key]) -> list[Key]:
    return list(keys)


def _estimated(estimates: Sequence[EstimateView]) -> Iterator[DummyNumberView]:
    for each in estimates:
        yield DummyNumberView(each.name, each.key, each.value)


def _counted(
    query: ComputedQuery, prepared: PreparedQuery, keys: Sequence[Key], values: NDArray[np.float64]
) -> Iterator[DummyNumberView]:
    """Yield the number of each key: a count, a sum or a mean."""
    aggregate, name = query.aggregate, "n"
    if isinstance(aggregate, CountUnits):
        name = "units"
    if isinstance(aggregate, Sum | Mean | Uncategorized):
        name = f"{aggregate.type}:{aggregate.column}"
    numbers: Sequence[float | None] = values.tolist()
    if prepared.mean_bounds is not None:
        numbers = _means(prepared, values)
    for key, number in zip(keys, numbers, strict=True):
        yield DummyNumberView(name, None if key == _WHOLE else key, number)


def _means(prepared: PreparedQuery, pairs: NDArray[np.float64]) -> list[float | None]:
    """Return the means of centered sums and weighted counts; None of a group without rows."""
    if prepared.mean_bounds is None:
        raise TypeError("only means have bounds")
    lower, upper = map(float, prepared.mean_bounds)
    sums, weighted = np.split(pairs, 2)
    means: list[float | None] = []
    for total, weight in zip(sums.tolist(), weighted.tolist(), strict=True):
        rows = weight / ((upper - lower) / 2)
        means.append((lower + upper) / 2 + total / rows if rows else None)
    return means
