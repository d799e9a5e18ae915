"""Test how groupings are read: categories, and bins by WIDTH_BUCKET and CASE."""

from fractions import Fraction

import pytest
from tests.unit.connectors.cases import dataset_of
from tests.unit.connectors.sql.statements import fields_of, refusal_of

BINS = (
    "CASE WHEN age >= 0 AND age < 18 THEN '[0, 18)'"
    " WHEN age >= 18 AND age <= 65 THEN '[18, 65]' END"
)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
        "SELECT COUNT(*) FROM visits GROUP BY ward",
        "SELECT COUNT(*), ward AS w FROM visits GROUP BY w",
        "SELECT COUNT(*), ward FROM visits GROUP BY 2",
        "SELECT v.ward, COUNT(*) FROM visits v GROUP BY ALL",
        'SELECT WARD, COUNT(*) FROM visits GROUP BY visits."ward"',
    ],
)
def test_a_declared_column_is_a_grouping(statement: str) -> None:
    assert fields_of(statement)["group_by"] == [{"column": "ward"}]


def test_groupings_are_in_the_order_of_the_clause() -> None:
    fields = fields_of("SELECT urgent, day, COUNT(*) FROM visits GROUP BY day, urgent")
    assert fields["group_by"] == [{"column": "day"}, {"column": "urgent"}]


@pytest.mark.parametrize(
    ("bucket", "edges"),
    [
        ("WIDTH_BUCKET(age, 0, 120, 4)", [0, 30, 60, 90, 120]),
        ("WIDTH_BUCKET(cost, -1, 1, 8)", [-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1]),
        ("WIDTH_BUCKET(age, [0, 18, 65])", [0, 18, 65]),
        ("WIDTH_BUCKET(age, ARRAY[0, 18, 65])", [0, 18, 65]),
    ],
)
def test_width_bucket_leaves_its_upper_edge_out(bucket: str, edges: list[float]) -> None:
    column = "cost" if "cost" in bucket else "age"
    fields = fields_of(f"SELECT {bucket} AS b, COUNT(*) FROM visits GROUP BY b")
    assert fields["group_by"] == [{"column": column, "bins": edges}]
    assert fields["where"] == [{"column": column, "op": "<", "value": edges[-1]}]


def test_a_case_that_names_bins_makes_them_with_their_upper_edge() -> None:
    fields = fields_of(f"SELECT {BINS}, COUNT(*) FROM visits GROUP BY 1")
    assert fields == {
        "aggregate": {"type": "count"},
        "group_by": [{"column": "age", "bins": [0, 18, 65]}],
    }


def test_bins_of_integers_may_have_edges_between_two_of_them() -> None:
    case = BINS.replace("18", "17.5").replace("'[0,", "'[-0.5,").replace(">= 0 ", ">= -0.5 ")
    fields = fields_of(f"SELECT {case}, COUNT(*) FROM visits GROUP BY 1")
    assert fields["group_by"] == [{"column": "age", "bins": [-0.5, 17.5, 65]}]


@pytest.mark.parametrize(
    "label", ["[0, 18", "[0; 18)", "[a, 18)", "[nan, 18)", "[0, 1e999)", "[0, 1e9999999999)", "["]
)
def test_a_case_with_another_name_makes_no_bins(label: str) -> None:
    case = f"CASE WHEN age >= 0 AND age < 18 THEN '{label}' END"
    fields = fields_of(f"SELECT {case} AS part, COUNT(*) FROM visits GROUP BY part")
    assert fields["group_by"] == [{"column": "part"}]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("age >= 18", "age > 18"),
        ("age <= 65", "age < 65"),
        ("age < 18", "age <= 18"),
        ("age >= 18", "age >= 19"),
        ("'[0, 18)'", "'[0, 19)'"),
        (" END", " ELSE 'old' END"),
        ("age >= 18", "cost >= 18"),
        ("age >= 0 AND age < 18", "age < 18"),
    ],
)
def test_a_case_that_names_other_ranges_is_a_derived_column(before: str, after: str) -> None:
    case = BINS.replace(before, after)
    assert case != BINS
    fields = fields_of(f"SELECT {case} AS part, COUNT(*) FROM visits GROUP BY part")
    assert fields["group_by"] == [{"column": "part"}]
    labels = [each["then"] for each in fields["derived"]["part"]["case"]]
    assert labels == ["[0, 19)" if "19)" in after else "[0, 18)", "[18, 65]"]


@pytest.mark.parametrize(
    "more",
    [
        *("ward = 'a'", "ward IN ('a')", "age NOT IN (3, 4)", "day = '2026-01-01'"),
        *("urgent IS NULL", "urgent", "(urgent OR cost > 3)", "NOT (urgent AND cost > 3)"),
        *("age < 90", "cost >= 3", "day BETWEEN '2026-01-01' AND '2026-01-02'"),
    ],
)
def test_a_case_with_a_further_condition_makes_no_bins(more: str) -> None:
    case = BINS.replace(" THEN '[0", f" AND {more} THEN '[0")
    fields = fields_of(f"SELECT {case} AS part, COUNT(*) FROM visits GROUP BY part")
    assert fields["group_by"] == [{"column": "part"}]
    whens = [each["when"] for each in fields["derived"]["part"]["case"]]
    assert len(whens[0]["all"]) > 2


@pytest.mark.parametrize(
    ("grouping", "alternative"),
    [
        ("person", "no declared categories of person"),
        ("cost", "by WIDTH_BUCKET, or groups by CASE"),
        ("7", "No selected expression has this number"),
        ("0", "No selected expression has this number"),
        ("ward, ward", "named once"),
        ("WIDTH_BUCKET(ward, 0, 1, 2)", "Bins are for integers and numbers"),
        ("WIDTH_BUCKET(age, 1, 1, 2)", "edges of bins rise"),
        ("WIDTH_BUCKET(age, 0, 1, 0)", "number of bins"),
        ("WIDTH_BUCKET(age, 0, 1, 1.5)", "number of bins"),
        ("WIDTH_BUCKET(age, 0, 1, 99999)", "number of bins"),
        ("WIDTH_BUCKET(age, 0, 1)", "takes a column"),
        ("WIDTH_BUCKET(age, [3])", "edges of bins rise"),
        ("age + 1", ""),
        ("age > 3", ""),
        ("COUNT(*)", ""),
    ],
)
def test_other_groupings_are_refused(grouping: str, alternative: str) -> None:
    refusal = refusal_of(f"SELECT COUNT(*) FROM visits GROUP BY {grouping}")
    assert refusal.startswith("Line 1, column ")
    assert alternative in refusal


@pytest.mark.parametrize("selected", ["urgent", "age + 1", "'x'", "cost"])
def test_what_is_selected_is_an_aggregate_or_a_grouping(selected: str) -> None:
    statement = f"SELECT ward, {selected}, COUNT(*) FROM visits GROUP BY ward"
    assert "no aggregate, and GROUP BY does not name it" in refusal_of(statement)


@pytest.mark.parametrize("clause", ["ALL ward", "DISTINCT ward", "", "ALL urgent, ward"])
def test_group_by_has_groupings_or_all_alone(clause: str) -> None:
    refusal = refusal_of(f"SELECT ward, COUNT(*) FROM visits GROUP BY {clause}")
    assert "GROUP BY ALL without any" in refusal


def test_groupings_are_counted_before_they_are_read() -> None:
    # None of these is a column, which shows as soon as one is read.
    buckets = ", ".join(f"WIDTH_BUCKET(free, 0, {number}, 10000)" for number in range(1, 18))
    for clause in ("", " GROUP BY ALL", " GROUP BY ward", f" GROUP BY {buckets}"):
        refusal = refusal_of(f"SELECT {buckets}, COUNT(*) FROM visits{clause}")
        assert "17 groupings, and a query has at most 16" in refusal


def test_bins_of_equal_width_are_exact() -> None:
    fields = fields_of("SELECT COUNT(*) FROM visits GROUP BY WIDTH_BUCKET(cost, -0.3, 1e1, 10000)")
    edges = fields["group_by"][0]["bins"]
    low, width = Fraction(-0.3), (10 - Fraction(-0.3)) / 10_000
    assert edges == [float(low + place * width) for place in range(10_001)]
    assert [type(edge) for edge in edges[-2:]] == [float, int]


def test_a_stand_in_is_named_in_the_grouping_too() -> None:
    columns = {
        "person": {"type": "string"},
        "ward": {"type": "string", "categories": ["a", "b"], "missing": "b"},
    }
    dataset = dataset_of(columns=columns)
    fields = fields_of("SELECT COUNT(*) FROM visits GROUP BY COALESCE(ward, 'b')", dataset)
    assert fields["group_by"] == [{"column": "ward"}]
    assert "b stands in" in refusal_of("SELECT COUNT(*) FROM visits GROUP BY ward", dataset)
