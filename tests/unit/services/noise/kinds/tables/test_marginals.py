"""Test a query for marginals: its tables from its stored keys, and targets for their cells."""

import json
import math
from fractions import Fraction
from types import SimpleNamespace
from typing import cast

import pytest
from tests.unit.connectors.cases import dataset_of, prepared, query_of

from penstock.connectors.specs.moments import MarginalTables
from penstock.errors import InvalidInput
from penstock.persistence.tables import Query
from penstock.privacy.target import Target, TargetKind
from penstock.services.noise.kinds.tables.marginals import MarginalsKind
from penstock.services.queries.recorded_statement import keys_text
from penstock.services.schemas.queries import ComputedQueryRequest

PREPARED = prepared(
    dataset_of(),
    query_of(
        {"type": "marginals", "columns": ["ward"]},
        contribution={"max_groups": 1, "max_rows_per_group": 1},
    ),
)


def row(keys: str | None) -> Query:
    return cast("Query", SimpleNamespace(keys=keys))


def test_tables_come_back_from_the_stored_keys() -> None:
    stored = keys_text(PREPARED)
    assert MarginalsKind.own_of(row(stored)) == {"tables": PREPARED.marginals}
    for other in (None, json.dumps(["a", "b"]), json.dumps({"labels": [["a"], ["b"]]})):
        assert MarginalsKind.own_of(row(other)) is None


def test_a_target_for_a_cell_is_one_for_the_noise_of_the_tables() -> None:
    assert PREPARED.marginals is not None
    ratio = math.sqrt(PREPARED.marginals.largest_variance)
    drawn = MarginalsKind.drawn_target(Target(TargetKind.HALF_WIDTH, 2.0), PREPARED)
    assert drawn.value == pytest.approx(2.0 / ratio)
    kept = Target(TargetKind.RHO, 2.0)
    assert MarginalsKind.drawn_target(kept, PREPARED) == kept
    assert PREPARED.step == Fraction(1)


def test_other_noise_than_gaussian_is_refused() -> None:
    terms = ComputedQueryRequest.model_validate(
        {
            "name": "tables",
            "dataset": "visits",
            "aggregate": {"type": "marginals", "columns": ["ward"]},
            "mechanism": "poisson",
            "levels": {"public": {"rho": 1}},
        }
    )
    with pytest.raises(InvalidInput, match="gaussian noise alone"):
        MarginalsKind.require_terms(terms, 1e-6)
    with pytest.raises(InvalidInput, match="with a delta such as 1e-6"):
        MarginalsKind.require_terms(terms.model_copy(update={"mechanism": "gaussian"}), 0.0)


def test_a_stored_set_that_is_named_twice_is_read_as_once() -> None:
    stored = {
        "name": "tables",
        "dataset": "visits",
        "mechanism": "gaussian",
        "levels": {"public": {"rho": 1}},
        "aggregate": {
            "type": "marginals",
            "columns": ["ward", "visits"],
            "sets": [["ward"], ["ward", "visits"], ["visits", "ward"]],
        },
        "contribution": {"max_groups": 1, "max_rows_per_group": 1},
    }
    aggregate = MarginalsKind.request_of(stored).aggregate
    assert isinstance(aggregate, MarginalTables)
    assert [set(named) for named in aggregate.sets or ()] == [{"ward"}, {"ward", "visits"}]
