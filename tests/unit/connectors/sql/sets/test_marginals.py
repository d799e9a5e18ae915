"""Test how several sets of groupings are read: as marginals, over rows within all keys."""

from typing import Any

import pytest
from tests.unit.connectors.cases import VISITS, dataset_of
from tests.unit.connectors.sql.statements import fields_of, hash_of_sql, refusal_of

from penstock.connectors.sql.grammar import parsed
from penstock.connectors.sql.reading import reading

ALL_WARDS = "ward IN ('b', 'c', 'a')"
BINS = (
    "CASE WHEN age >= 0 AND age < 18 THEN '[0, 18)'"
    " WHEN age >= 18 AND age <= 65 THEN '[18, 65]' END"
)


def counts_by(clause: str, where: str = "", selected: str = "ward, urgent, day") -> str:
    """Return a statement that counts rows by sets of columns."""
    condition = f" WHERE {where}" if where else ""
    return f"SELECT {selected}, COUNT(*) FROM visits{condition} GROUP BY {clause}"


def sets_of(clause: str) -> list[list[str]] | int:
    """Return the sets that a clause names, or up to how many columns they have."""
    aggregate = fields_of(counts_by(clause))["aggregate"]
    assert aggregate["type"] == "marginals"
    sets: list[list[str]] | int = aggregate.get("sets") or aggregate["up_to"]
    return sets


@pytest.mark.parametrize(
    ("clause", "sets"),
    [
        ("GROUPING SETS ((ward, urgent), (urgent, day))", [["ward", "urgent"], ["urgent", "day"]]),
        ("GROUPING SETS (ward, urgent, (3))", 1),
        ("CUBE (ward, urgent, day)", 3),
        ("GROUPING SETS (CUBE (ward, urgent), day, (day, 1), (2, 3))", 2),
        ("ROLLUP (ward, urgent, day)", [["ward", "urgent", "day"], ["ward", "urgent"], ["ward"]]),
        ("CUBE ((ward, urgent), day)", [["ward", "urgent", "day"], ["ward", "urgent"], ["day"]]),
        ("ward, GROUPING SETS (urgent, day)", [["ward", "urgent"], ["ward", "day"]]),
        (
            "CUBE (ward), urgent, ROLLUP (day)",
            [
                ["ward", "urgent", "day"],
                ["ward", "urgent"],
                ["urgent", "day"],
                ["urgent"],
            ],
        ),
    ],
)
def test_several_sets_are_marginals(clause: str, sets: list[list[str]] | int) -> None:
    read = sets_of(clause)
    if isinstance(read, list) and isinstance(sets, list):
        assert {frozenset(each) for each in read} == {frozenset(each) for each in sets}
    else:
        assert read == sets


def test_columns_bins_and_aliases_are_named_once() -> None:
    selected = f"ward AS w, {BINS} AS ages, WIDTH_BUCKET(cost, [0, 1, 2]) AS price"
    fields = fields_of(
        counts_by("GROUPING SETS ((w, ages), (WARD, 3), (1, price, 2))", "", selected)
    )
    assert fields["aggregate"]["columns"] == [
        {"column": "ward"},
        {"column": "age", "bins": [0, 18, 65]},
        {"column": "cost", "bins": [0, 1, 2]},
    ]
    assert fields["where"] == [{"column": "cost", "op": "<", "value": 2}]


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        (ALL_WARDS, []),
        (f"{ALL_WARDS} AND urgent IS NOT NULL", []),
        ("ward = 'a'", [{"column": "ward", "op": "=", "value": "a"}]),
        ("ward IN ('a')", [{"column": "ward", "op": "in", "value": ["a"]}]),
        ("age BETWEEN 0 AND 65", []),
        ("age >= 0 AND age < 65", [{"column": "age", "op": "<", "value": 65}]),
        ("age > 0", [{"column": "age", "op": ">", "value": 0}]),
        ("cost >= 0", [{"column": "cost", "op": ">=", "value": 0}]),
        (f"NOT ({ALL_WARDS})", [{"column": "ward", "op": "not_in", "value": ["b", "c", "a"]}]),
    ],
)
def test_only_conditions_that_the_keys_have_are_left_out(
    where: str, kept: list[dict[str, Any]]
) -> None:
    text = counts_by("GROUPING SETS ((ward), (urgent, 3))", where, f"ward, urgent, {BINS}")
    assert fields_of(text).get("where", []) == kept


NOTE = "A row counts here only where its cells are among the keys of all columns"
TOTAL = "The set () is no table of its own"


@pytest.mark.parametrize(
    ("clause", "where", "notes"),
    [
        (
            "GROUPING SETS (ward, urgent)",
            "",
            [f"{NOTE}; in SQL a row outside of those of ward, urgent"],
        ),
        (
            "GROUPING SETS (ward, urgent)",
            ALL_WARDS,
            [f"{NOTE}; in SQL a row outside of those of urgent"],
        ),
        ("GROUPING SETS (ward, urgent)", f"{ALL_WARDS} AND urgent IS NOT NULL", []),
        ("GROUPING SETS (ward, urgent)", "ward = 'a' AND urgent", []),
        ("GROUPING SETS (ward, urgent)", "ward = 'a' AND (urgent OR age > 3)", [NOTE]),
        ("GROUPING SETS (ward, urgent)", "ward <> 'a' AND urgent", [NOTE]),
        ("GROUPING SETS (ward, urgent)", "ward = 'a' AND urgent IS NULL", [NOTE]),
        ("GROUPING SETS ((ward, urgent), ward)", "urgent", []),
        ("CUBE (ward)", "", [TOTAL]),
        ("GROUPING SETS (ward, ages)", "ward = 'a'", [NOTE]),
        ("GROUPING SETS (ward, ages)", "ward = 'a' AND age > 3", [NOTE]),
        ("GROUPING SETS (ward, ages)", "ward = 'a' AND age > 3 AND age < 70", [NOTE]),
        ("GROUPING SETS (ward, ages)", "ward = 'a' AND age > 3 AND age < 7", []),
        ("GROUPING SETS (ward, ages)", "ward = 'a' AND age = 3", []),
    ],
)
def test_what_counts_other_rows_than_sql_says_so(clause: str, where: str, notes: list[str]) -> None:
    selected = f"ward, {BINS} AS ages" if "ages" in clause else "ward"
    read = reading(parsed(counts_by(clause, where, selected)), dataset_of()).notes
    assert len(read) == len(notes)
    assert all(words in each for each, words in zip(read, notes, strict=True))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (counts_by("GROUPING SETS ((ward), (WARD))", "", "ward"), "named twice"),
        (counts_by("CUBE (ward), CUBE (ward)", "", "ward"), "named twice"),
        (counts_by("GROUPING SETS (())", "", "1"), "Name a column in one of the sets"),
        (counts_by("CUBE (ward, age)", "", "ward"), "no declared categories of age"),
        (counts_by("CUBE (ward)", "", "urgent"), "GROUP BY does not name it"),
        (counts_by("CUBE (ward, 3)", "", "ward"), "No selected expression has this number"),
        ("SELECT SUM(cost) FROM visits GROUP BY CUBE (ward)", "Select COUNT(*) alone"),
        ("SELECT COUNT(*), SUM(cost) FROM visits GROUP BY CUBE (ward)", "Select COUNT(*) alone"),
        ("SELECT COUNT_IF(urgent) FROM visits GROUP BY CUBE (ward)", "Select COUNT(*) alone"),
        ("SELECT COUNT(DISTINCT person) FROM visits GROUP BY CUBE (ward)", "Select COUNT(*) alone"),
    ],
)
def test_what_no_marginals_say_is_refused(text: str, sentence: str) -> None:
    assert sentence in refusal_of(text)


@pytest.mark.parametrize(
    "clause",
    [
        f"CUBE ({', '.join(['ward'] * 30)})",
        f"CUBE ({', '.join(['ward'] * 10)})",
        ", ".join(["CUBE (ward)"] * 10),
        ", ".join([f"CUBE ({', '.join(['ward'] * 12)})"] * 100),
        f"GROUPING SETS ({', '.join(['(ward)'] * 1001)})",
        ", ".join([f"GROUPING SETS ({', '.join(['ward'] * 40)})"] * 40),
    ],
    ids=["cube", "many", "product", "cubes", "sets", "products"],
)
def test_too_many_sets_are_refused_before_they_are_made(clause: str) -> None:
    refusal = refusal_of(f"SELECT COUNT(*) FROM visits GROUP BY {clause}")
    assert "a query has marginals of at most 12" in refusal or "more than 1000 sets" in refusal


def test_too_many_columns_and_spellings_are_refused() -> None:
    columns = {f"c{place}": {"type": "boolean"} for place in range(13)}
    dataset = dataset_of(columns={**VISITS, **columns})
    refusal = refusal_of(
        f"SELECT COUNT(*) FROM visits GROUP BY ROLLUP ({', '.join(columns)})", dataset
    )
    assert "marginals of at most 12 columns" in refusal
    bins = ", ".join(f"WIDTH_BUCKET(age, 0, 10.{'0' * place}, 9)" for place in range(1, 36))
    spelled = ", ".join(f"WIDTH_BUCKET(age, 0.{'0' * place}, 10, 9)" for place in range(1, 36))
    refusal = refusal_of(
        f"SELECT COUNT(*) FROM visits GROUP BY GROUPING SETS (({bins}, {spelled}))"
    )
    assert "Write each grouping in one way" in refusal


def test_aliases_and_the_order_of_sets_make_no_other_statistic() -> None:
    hashes = {
        hash_of_sql(counts_by(clause, "", selected))
        for clause, selected in (
            ("GROUPING SETS ((a, b), a)", "ward AS a, urgent AS b"),
            ("GROUPING SETS (1, (2, 1))", "ward, urgent"),
            ("ward, ROLLUP (urgent)", "urgent"),
        )
    }
    assert len(hashes) == 1
