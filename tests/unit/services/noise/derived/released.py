"""Provide releases and totals as the server has them, and as its client reads their JSON."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from penstock.connectors.planning.domain import WorkloadKeys
from penstock.http.answers import rendered
from penstock.services.noise.derived.covariance import Covariance
from penstock.services.noise.estimates.workloads import answers_of
from penstock.services.noise.estimates.workloads import covariance_of as answers_covariance_of
from penstock.services.schemas.estimates.covariance import (
    CovarianceView,
    GroupedCountsView,
    ResidualsView,
    ResidualView,
    TotalsCovarianceView,
)
from penstock.services.schemas.estimates.marginals import MarginalCellView, MarginalView
from penstock.services.schemas.streams import RunningTotalsView, Totals
from penstock.services.schemas.views import (
    ErrorsView,
    ErrorView,
    GuaranteeView,
    Key,
    LevelView,
    ReleaseView,
)
from penstock.structures.factorization.kronecker import Factor, Workload
from penstock.structures.factorization.rows import Given, Spans
from penstock.structures.marginals.lattice import Marginals, up_to
from penstock.transparency_log.views import ReceiptView
from penstock_client import Release, RunningTotals
from penstock_client._http.fields import Fields

DEVIATION = 45.0
NORMAL = 1.959963984540054
LABELS = {"ward": "abc", "sex": "fm", "old": "ny"}
_SHARED: dict[str, Any] = {
    "dataset": "town",
    "tier": "partner",
    "mechanism": "gaussian",
    "level": LevelView("variance", DEVIATION**2),
    "guarantee": GuaranteeView("zcdp", 0.5, 1e-6),
    "granularity": 2.0**-20,
    "asserted_by": None,
    "released_at": datetime(2026, 11, 20, tzinfo=UTC),
    "receipt": ReceiptView(4, "00" * 32, "{}"),
}


def release_of(*values: float, keys: Sequence[Key] = (), **changes: Any) -> ReleaseView:
    """Return a release of values whose keys are letters."""
    given = {
        "id": "rel_1",
        "query": "counts",
        "keys": list(keys or "abcdefghij"[: len(values)]),
        "values": np.array(values),
        "error": ErrorView(DEVIATION, 0.95, NORMAL * DEVIATION),
    }
    return ReleaseView(**{**_SHARED, **given, **changes})


def grouped() -> ReleaseView:
    """Return two groups of two counts that share noise, each with its size."""
    stated = GroupedCountsView(3, 100.0, -30.0, 400.0, 20.0)
    deviations = np.array([10.0, 10.0, 20.0] * 2)
    return release_of(
        *(50.0, 70.0, 300.0, 20.0, -5.0, 100.0),
        errors=ErrorsView(deviations, NORMAL * deviations),
        covariance=CovarianceView(grouped_counts=stated),
    )


def tables() -> tuple[ReleaseView, Marginals]:
    """Return marginals of one and two of three columns, and what they are made of."""
    names = list(LABELS)
    made = Marginals(tuple(map(len, LABELS.values())), up_to(3, 2))
    keys, views = list[Key](), []
    for each in made.sets:
        cells = []
        for places in np.ndindex(made.shape(each)):
            parts = dict(zip(each, places, strict=True))
            key = [LABELS[names[at]][place] for at, place in parts.items()]
            cells.append(MarginalCellView(key, 10.0 * len(keys), 1.0, None))
            keys.append(
                [LABELS[name][parts[at]] if at in parts else "all" for at, name in enumerate(names)]
            )
        views.append(MarginalView([names[at] for at in each], cells))
    residuals = [
        ResidualView([names[at] for at in each], 9 / weight**2)
        for each, weight in zip(made.protected, made.weights, strict=True)
    ]
    sizes = {name: len(labels) for name, labels in LABELS.items()}
    deviations = np.repeat(
        [3 * float(made.variance(each)) ** 0.5 for each in made.sets],
        list(map(made.cells, made.sets)),
    )
    stated = CovarianceView(marginals=ResidualsView(sizes, residuals))
    view = release_of(
        *(10.0 * place for place in range(len(keys))),
        keys=keys,
        marginals=views,
        errors=ErrorsView(deviations, NORMAL * deviations),
        covariance=stated,
    )
    return view, made


def workload() -> tuple[ReleaseView, Workload]:
    """Return a workload's sums and answers, which share noise, and what they are made of."""
    asked = Factor(Given(((1, 0, 0), (1, 1, -1))), Given(((1, 2, 0), (0, -1, 1), (1, 0, 3))))
    made = Workload((Factor(Spans("prefix", 4), Spans("tree", 4)), asked))
    keys = WorkloadKeys(("age", "ward"), (tuple("abcd"), tuple("xyz")), made)
    values = np.array([10.0 * place for place in range(made.dimension)])
    error = ErrorView(DEVIATION, 0.95, NORMAL * DEVIATION)
    view = release_of(
        *values,
        keys=keys[:],
        estimates=answers_of(keys, made, values, error),
        answers_covariance=answers_covariance_of(keys, made, error),
    )
    return view, made


def totals_of(
    structure: dict[str, Any],
    deviations: Sequence[float],
    *,
    first: int = 1,
    mechanism: str = "gaussian",
    buffers: tuple[list[float], list[float]] | None = None,
    granularity: float = 2.0**-30,
) -> RunningTotalsView:
    """Return totals 0, 10, 30, 60 ... of these standard deviations; a node has one of 3."""
    values = np.cumsum(10.0 * np.arange(len(deviations)))[:, None]
    errors = [ErrorView(each, 0.95, NORMAL * each) for each in deviations]
    level = LevelView("variance", 9.0)
    if mechanism == "laplace":
        level = LevelView("scale", 3 / 2**0.5)
    covariance = TotalsCovarianceView(structure, 9.0, *(buffers or ()))
    given = {**_SHARED, "mechanism": mechanism, "level": level, "granularity": granularity}
    items = Totals(first, values, errors)
    return RunningTotalsView(stream="hits", items=items, covariance=covariance, days=None, **given)


def compare(covariance: Covariance, exact: NDArray[np.float64]) -> None:
    """Assert that weighted sums have the covariance that a matrix gives."""
    size = len(exact)
    for number in range(6):
        first, second = (
            np.array([(place * 7 + each * 5) % 11 - 4.0 for place in range(size)])
            for each in (number, number + 1)
        )
        first[number % size] = 0.0
        # The residuals of marginals have dyadic weights, which are 1e-7 off at most.
        both = float(first @ exact @ first)
        assert covariance.of(first, second) == pytest.approx(
            first @ exact @ second, rel=0, abs=1e-6 * both
        )
        assert covariance.of(first, first) == pytest.approx(both, rel=1e-6)


def read(view: ReleaseView) -> Release:
    """Return a release as the client reads it."""
    return Release.read(Fields(json.loads(rendered(view)), "release"))


def read_totals(view: RunningTotalsView) -> RunningTotals:
    """Return totals as the client reads them."""
    return RunningTotals.read(Fields(json.loads(rendered(view)), "totals"))
