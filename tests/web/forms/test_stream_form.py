"""Test streams as forms declare them.

A length or none, and a branching factor for one structure.
"""

from datetime import UTC, datetime

import pytest
from werkzeug.datastructures import MultiDict

from penstock.services.schemas.views import DatasetView, PrivacyBudget
from penstock.web.forms.stream_form import stream

SITES = DatasetView(
    name="sites",
    version=1,
    sentence="Vectors that are sent",
    declaration=1,
    disjoint_units=False,
    source={"engine": "vector"},
    privacy_unit=None,
    neighboring="add_remove",
    delta=1e-6,
    accountant="renyi",
    columns={},
    budgets={"public": PrivacyBudget(1.0, 1e-6)},
    registered_at=datetime(2026, 11, 20, tzinfo=UTC),
)
FORM = {"name": " arrivals ", "max_steps_per_unit": "2", "level public": "0.5"}


def read(**fields: str) -> dict[str, object]:
    return stream(MultiDict({**FORM, **fields}), SITES)


def test_a_stream_without_a_length_has_no_end() -> None:
    assert read() == {
        "name": "arrivals",
        "dataset": "sites",
        "structure": "auto",
        "length": None,
        "max_steps_per_unit": 2,
        "mechanism": "gaussian",
        "levels": {"public": {"epsilon": 0.5}},
    }
    assert read(length="365")["length"] == 365


@pytest.mark.parametrize(("structure", "k"), [("kary", 5), ("binary", None), ("auto", None)])
def test_a_branching_factor_belongs_to_k_ary_trees_alone(structure: str, k: int | None) -> None:
    assert read(structure=structure, k="5").get("k") == k


def test_a_sensitivity_is_sent_only_where_one_is_typed() -> None:
    assert "sensitivity" not in read(l1=" ")
    assert read(l1="2", linf="1")["sensitivity"] == {"l1": 2, "linf": 1}


def test_a_tier_without_a_budget_in_the_dataset_gets_no_level() -> None:
    assert read(**{"level internal": "1"})["levels"] == {"public": {"epsilon": 0.5}}
