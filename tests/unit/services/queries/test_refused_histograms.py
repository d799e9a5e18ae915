"""Test that refusing a sparse histogram says what would be accepted, unlike other refusals."""

from pathlib import Path
from typing import Any

import pytest
from tests.unit.worlds import CopyWorld, Keep, World, fill

from penstock.errors import BudgetExhausted
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.previews import query_preview
from penstock.services.queries import registration
from penstock.services.queries.refused_histograms import example_of
from penstock.services.schemas.queries import (
    DatasetRequest,
    HistogramRequest,
    RegisteredQuery,
)

LOANS: dict[str, Any] = {
    "name": "loans",
    "source": {"engine": "duckdb"},
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "max_units": 1_000_000,
    "columns": {"person": {"type": "string"}, "book": {"type": "integer"}},
    "budgets": {"public": {"epsilon": 1.0}},
}
BOOKS: dict[str, Any] = {
    "name": "books",
    "dataset": "loans",
    "structure": "sparse_histogram",
    "domain": {"type": "uint64"},
    "false_keys": 1,
    "group_by": [{"column": "book"}],
    "aggregate": {"type": "count_units"},
    "contribution": {"max_groups": 2},
    "mechanism": "gaussian",
}


OPEN: dict[str, Any] = {
    **{name: part for name, part in BOOKS.items() if name != "false_keys"},
    "levels": {"public": {"epsilon": 0.5}},
}
"""The number of false keys is left to be solved for."""


@pytest.fixture
def loans(copy_world: CopyWorld, keep: Keep) -> World:
    def furnish(world: World) -> None:
        fill(world)
        file: Path = keep("few_loans.csv", "person,book\na,1\nb,2\n")
        spec = {**LOANS, "source": {"engine": "duckdb", "uri": str(file)}}
        datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(spec))

    return copy_world("few loans", furnish)


def test_a_dear_histogram_is_refused_with_a_share_that_is_accepted(loans: World) -> None:
    dear = HistogramRequest.model_validate({**BOOKS, "levels": {"public": {"epsilon": 50}}})
    with pytest.raises(BudgetExhausted) as problem:
        registration.register(loans.server, OPERATOR, dear)
    share = problem.value.data["largest_share"]
    assert isinstance(share, float)
    assert 0 < share <= 1
    cheap = HistogramRequest.model_validate({**BOOKS, "share": share})
    assert registration.register(loans.server, OPERATOR, cheap).status == "active"


def test_an_example_is_for_a_dataset_with_budgets(loans: World) -> None:
    assert example_of(loans.server, OPERATOR, "loans") is not None


@pytest.mark.parametrize("explicit", [{}, {"false_keys": "fit"}])
def test_what_a_preview_solves_for_is_registered_and_charged(
    loans: World, explicit: dict[str, Any]
) -> None:
    request = HistogramRequest.model_validate({**OPEN, **explicit})
    foreseen = query_preview.preview(loans.server, OPERATOR, request).tiers[0]
    view = registration.register(loans.server, OPERATOR, request)
    number = view.spec["false_keys"]
    assert foreseen.histogram is not None
    assert foreseen.histogram.false_keys == number
    shown = query_preview.preview(loans.server, OPERATOR, RegisteredQuery(query="books")).tiers[0]
    assert shown.histogram == foreseen.histogram
    assert shown.charge == foreseen.charge


def test_an_interrupted_registration_is_finished_with_its_own_number(
    loans: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = HistogramRequest.model_validate({**OPEN, "max_levels": 64})
    with monkeypatch.context() as patched:
        patched.setattr(registration, "_anchor", interrupted)
        with pytest.raises(KeyboardInterrupt):
            registration.register(loans.server, OPERATOR, request)
    charged = query_preview.preview(loans.server, OPERATOR, RegisteredQuery(query="books"))
    foreseen = query_preview.preview(loans.server, OPERATOR, request)
    assert foreseen.registered
    assert foreseen.tiers == charged.tiers
    view = registration.register(loans.server, OPERATOR, request)
    histogram = charged.tiers[0].histogram
    assert histogram is not None
    assert (view.status, view.spec["false_keys"]) == ("active", histogram.false_keys)


def interrupted(*_: Any) -> None:
    raise KeyboardInterrupt
