"""Test tables of datasets and budgets, also if there is little to print."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from penstock.cli.data.documents import budget_of, shown, source_in_words, unit_in_words
from penstock.cli.output import Format, written
from penstock.services.schemas.datasets import (
    DatasetBudgetView,
    OtherBudgetView,
    SpendingView,
    TierBudgetView,
    TierTotalView,
)
from penstock.services.schemas.views import (
    DatasetView,
    PrivacyBudget,
)

GRANTED, SPENT = PrivacyBudget(1.0, 1e-6), PrivacyBudget(0.25, 1e-6)
TIER = TierBudgetView(
    "public", GRANTED, SPENT, PrivacyBudget(0.8, 1e-6), 0.1, 0.9, [SpendingView("visits", 0.1)]
)
BUDGET = DatasetBudgetView("sites", 2, [TIER], [], [TierTotalView("public", GRANTED, SPENT)])
DATASET = DatasetView(
    name="sites",
    version=2,
    sentence="2 declared columns",
    declaration=1,
    disjoint_units=False,
    source={"uri": "sites.csv"},
    privacy_unit={"column": "person"},
    neighboring="add_remove",
    delta=1e-6,
    accountant="renyi",
    columns={"age": {"type": "integer", "lower": 0, "upper": 99}, "town": {"type": "string"}},
    budgets={"public": GRANTED},
    registered_at=datetime(2026, 11, 20, 12, tzinfo=UTC),
)


def test_a_dataset_is_printed_with_its_columns_and_budgets() -> None:
    text = written(shown(DATASET), Format.TABLE)
    assert "sites, version 2, registered " in text
    assert "privacy unit column person, neighboring add_remove, delta 1e-06" in text
    assert "  column age: integer, lower 0, upper 99\n  column town: string\n" in text
    assert text.splitlines()[-1].split() == ["public", "1", "1e-06"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"declaration": 3}, ", declaration 3"),
        ({"accountant": "gaussian"}, ", charged in squares of mu"),
        ({"same_people_as": ["a", "b"]}, "the same people as a, b"),
        ({"privacy_unit": None}, "privacy unit asserted with each vector"),
        ({"source": {}}, "source vectors that are pushed"),
    ],
)
def test_what_is_particular_is_printed_only_where_it_holds(
    change: dict[str, Any], says: str
) -> None:
    assert says not in written(shown(DATASET), Format.TABLE)
    assert says in written(shown(replace(DATASET, **change)), Format.TABLE)


@pytest.mark.parametrize(
    ("unit", "words"),
    [({"column": "person"}, "column person"), ("rows", "rows"), (None, None)],
)
def test_a_privacy_unit_is_printed_in_words(unit: object, words: str | None) -> None:
    assert unit_in_words(unit) == words


def test_a_budget_has_a_row_for_each_tier() -> None:
    document = budget_of(BUDGET)
    assert document.rows == [("public", 1.0, 0.25, 0.8, 1e-6, 0.9, "visits 10%")]
    assert document.facts == ()
    assert budget_of(replace(BUDGET, tiers=[])).note == "No tier has a budget for this dataset."


def test_totals_over_several_datasets_are_printed_where_they_differ() -> None:
    facts = budget_of(
        replace(BUDGET, same_people=[OtherBudgetView("others", 1, disjoint_units=False, tiers=[])])
    ).facts
    assert facts[1].startswith("  public: epsilon 0.25 of 1 spent")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ({"engine": "vector"}, "vectors that are pushed"),
        ({"engine": "duckdb", "uri": "/data/visits.csv"}, "/data/visits.csv"),
        (
            {"engine": "duckdb", "uri": "s3://b/*.parquet", "connection": "lake"},
            "s3://b/*.parquet, by connection lake",
        ),
        (
            {"engine": "spark", "table": "a.b", "connection": "cluster"},
            "spark a.b, by connection cluster",
        ),
        ({"engine": "spark", "table": "b", "snapshot": "version"}, "spark b"),
        (
            {"engine": "trino", "table": "b", "snapshot": "none"},
            "trino b, whose rows may change unseen",
        ),
    ],
)
def test_a_source_in_words_names_its_connection_and_no_more(
    source: dict[str, str], words: str
) -> None:
    assert source_in_words(source) == words
