"""Test a query for a workload: its matrices from its stored keys, and what it refuses."""

import json
from types import SimpleNamespace
from typing import cast

import pytest
from tests.unit.connectors.cases import dataset_of, prepared, query_of

from penstock.errors import InvalidInput
from penstock.persistence.tables import Query
from penstock.services.noise.kinds.tables.marginals import MarginalsKind
from penstock.services.noise.kinds.tables.workload import WorkloadKind
from penstock.services.queries.recorded_statement import keys_text
from penstock.services.schemas.queries import ComputedQueryRequest

AGGREGATE = {
    "type": "workload",
    "columns": ["ward", "urgent"],
    "queries": ["prefix", [[1, -1]]],
    "strategy": ["marginals", [[1, 1], [0, 2]]],
}
PREPARED = prepared(
    dataset_of(),
    query_of(AGGREGATE, contribution={"max_groups": 1, "max_rows_per_group": 1}),
)


def row(keys: str | None) -> Query:
    return cast("Query", SimpleNamespace(keys=keys))


def test_matrices_come_back_from_the_stored_keys() -> None:
    stored = keys_text(PREPARED)
    assert WorkloadKind.own_of(row(stored)) == {"workload": PREPARED.workload}
    assert MarginalsKind.own_of(row(stored)) is None
    sets = {"names": ["ward"], "labels": [["a", "b"]], "sets": [[0]]}
    for other in (None, json.dumps(["a", "b"]), json.dumps({"labels": [["a"]]}), json.dumps(sets)):
        assert WorkloadKind.own_of(row(other)) is None


def test_other_noise_than_gaussian_is_refused() -> None:
    terms = ComputedQueryRequest.model_validate(
        {
            "name": "answers",
            "dataset": "visits",
            "aggregate": AGGREGATE,
            "mechanism": "laplace",
            "levels": {"public": {"rho": 1}},
        }
    )
    with pytest.raises(InvalidInput, match="gaussian noise alone"):
        WorkloadKind.require_terms(terms, 1e-6)
    with pytest.raises(InvalidInput, match="with a delta such as 1e-6"):
        WorkloadKind.require_terms(terms.model_copy(update={"mechanism": "gaussian"}), 0.0)


def test_a_spec_is_stored_as_it_was_sent() -> None:
    terms = ComputedQueryRequest.model_validate(
        {
            "name": "answers",
            "dataset": "visits",
            "aggregate": AGGREGATE,
            "mechanism": "gaussian",
            "levels": {"public": {"rho": 1}},
        }
    )
    stored = WorkloadKind.stored_spec(terms, PREPARED)["aggregate"]
    assert {name: stored[name] for name in ("type", "queries", "strategy")} == json.loads(
        json.dumps({name: AGGREGATE[name] for name in ("type", "queries", "strategy")})
    )
