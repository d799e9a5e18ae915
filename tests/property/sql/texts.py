"""Draw random statements over visits, and rows where no bound cuts: one row for each person."""

import datetime
from typing import Any

from hypothesis import strategies as st
from tests.unit.connectors.cases import dataset_of

COLUMNS: dict[str, dict[str, Any]] = {
    "person": {"type": "string"},
    "Ward": {"type": "string", "categories": ["a", "b", "A"]},
    "age": {"type": "integer", "lower": 0, "upper": 100},
    "size": {"type": "integer", "lower": -5, "upper": 20, "missing": 3},
    "cost": {"type": "number", "lower": -10, "upper": 50, "step": 0.5},
    "urgent": {"type": "boolean"},
    "insured": {"type": "boolean", "missing": True},
    "day": {"type": "date", "categories": ["2026-01-01", "2026-01-02"]},
    "born": {"type": "date"},
}
DATASET = dataset_of("visits.parquet", columns=COLUMNS, max_units=1000)

CELLS: tuple[tuple[Any, ...], ...] = (
    ("a", "b", "A", "d", "", None),
    (0, 1, 17, 18, 50, 99, 100, None),
    (-5, 0, 2, 3, 20, None),
    (-10.0, -0.5, 0.0, 0.5, 12.0, 50.0, None),
    (True, False, None),
    (True, False, None),
    (datetime.date(2026, 1, 1), datetime.date(2026, 1, 2), datetime.date(2025, 12, 31), None),
    (datetime.date(2000, 1, 1), datetime.date(1999, 12, 31), datetime.date(2003, 2, 28), None),
)
"""The cells of all columns but the person's, some outside of the declared categories."""

rows = st.lists(st.tuples(*map(st.sampled_from, CELLS)), max_size=30)

_INTEGERS = (
    *("age", "AGE", '"age"', "visits.age", "COALESCE(size, 3)", "age + COALESCE(size, 3)"),
    *("age - 2 * COALESCE(size, 3)", "-age", "(age + 1) * 2", "COALESCE(age, 7)"),
    "CASE WHEN urgent THEN age WHEN cost > 3 THEN -1 ELSE 5 END",
    *("IF(urgent, age, 3)", "CASE ward WHEN 'a' THEN age ELSE -5 END", "CAST(age AS BIGINT)"),
)
_OPERATORS = ("=", "<>", "!=", "<", "<=", ">", ">=")


def _compared(left: tuple[str, ...], right: tuple[str, ...]) -> st.SearchStrategy[str]:
    parts = map(st.sampled_from, (left, _OPERATORS, right))
    return st.tuples(*parts).map(" ".join)


_atoms = st.one_of(
    _compared(_INTEGERS, ("0", "3", "18", "-1", "50")),
    _compared(("cost",), ("0", "0.5", "-0.5", "1e1", "12.0")),
    _compared(("day",), ("'2026-01-01'", "DATE '2026-01-02'")),
    _compared(("17", "0"), ("age", "COALESCE(size, 3)")),
    _compared(("age",), ("COALESCE(size, 3)", "'17'", "age + 1")),
    _compared(("YEAR(born)", "EXTRACT(YEAR FROM born)"), ("2000", "1999")),
    st.sampled_from(
        (
            *("urgent", "COALESCE(insured, TRUE)", "urgent = FALSE", "urgent <> TRUE"),
            *("urgent IS TRUE", "urgent IS NOT FALSE", "urgent IS NULL", "age IS NOT NULL"),
            *("cost BETWEEN 0 AND 12", "age NOT BETWEEN 1 AND 50", "age IN (0, 17)"),
            *("Ward IN ('a', 'A')", "ward NOT IN ('b')", "WARD = 'a'", "\"Ward\" <> 'a'"),
            *("COALESCE(size, 3) IS NULL", "age + COALESCE(size, 3) IS NULL", "day IS NULL"),
            *("age > 17.5", "age <= 17.5", "age < -0.5", "17.5 < age", "2000 >= YEAR(born)"),
            *("YEAR(born) IN (1999, 2003)", "YEAR(born) NOT BETWEEN 2000 AND 2001"),
            *("ward LIKE 'a'", "ward NOT LIKE 'A'", "born IS DISTINCT FROM DATE '2000-01-01'"),
            *("age IS DISTINCT FROM 17", "ward IS NOT DISTINCT FROM NULL", "(age > 3) IS FALSE"),
            *("(age > 3) IS NOT TRUE", "(urgent AND NOT age > 3) IS NOT TRUE"),
            *("(urgent OR YEAR(born) = 2000) IS NOT FALSE", "(NOT urgent) IS TRUE"),
            *("person <> 'p1'", "age - COALESCE(size, 3) BETWEEN 0 AND 30"),
            *("age IS DISTINCT FROM age + 1", "age IS NOT DISTINCT FROM COALESCE(age, 7)"),
            *("age IS NOT DISTINCT FROM age * 2", "(age BETWEEN 1 AND age) IS NOT FALSE"),
            "(COALESCE(size, 3) BETWEEN 1 AND age) IS NOT TRUE",
        )
    ),
)
conditions = st.recursive(
    _atoms,
    lambda inner: st.one_of(
        inner.map("NOT ({})".format),
        inner.map("NOT {}".format),
        st.tuples(inner, st.sampled_from(("AND", "OR")), inner).map(" ".join),
        st.tuples(inner, st.sampled_from(("AND", "OR")), inner).map(
            lambda parts: f"({' '.join(parts)})"
        ),
    ),
    max_leaves=8,
)
_BINS = (
    "CASE WHEN {x} >= 0 AND {x} < 18{more} THEN '[0, 18)'"
    " WHEN {x} >= 18 AND {x} <= 50 THEN '[18, 50]' END"
)
_FURTHER = (
    *("Ward = 'a'", "Ward IN ('a', 'A')", "(urgent OR cost > 3)", "age NOT IN (1, 17)"),
    *("urgent", "urgent IS NULL", "day = '2026-01-01'", "cost >= 0", "age > 1"),
)
"""Conditions beside the two sides of a bin, with which it is none."""

groups = st.lists(
    st.sampled_from(
        (
            *("Ward", "urgent", "day", "COALESCE(insured, TRUE)"),
            *("WIDTH_BUCKET(age, 0, 100, 4)", "WIDTH_BUCKET(cost, [-10, 0, 12])"),
            *("FLOOR(age / 25) * 25", "2.5 * FLOOR(cost / 2.5)"),
            *(_BINS.format(x=column, more="") for column in ("age", "cost")),
            *(_BINS.format(x="age", more=f" AND {more}") for more in _FURTHER),
            "CASE WHEN age < 18 THEN 'young' WHEN urgent THEN 'urgent' ELSE 'other' END",
            "CASE WHEN cost > 0 AND NOT urgent THEN 1 WHEN cost <= 0 THEN 2 END",
            "CASE WHEN age BETWEEN 0 AND 17 THEN ward ELSE 'b' END",
        )
    ),
    max_size=2,
    unique=True,
)
aggregates = st.sampled_from(
    (
        ("COUNT(*)",),
        ("COUNT(age)",),
        ("COUNT(DISTINCT person)",),
        *((f"SUM({integer})",) for integer in _INTEGERS),
        ("SUM(cost)",),
        ("AVG(cost)",),
        ("AVG(age)",),
        ("COUNT(*) FILTER (WHERE urgent)", "COUNT_IF(COALESCE(insured, TRUE))"),
        ("COUNT(*) FILTER (WHERE NOT urgent OR age > 3)",),
        ("SUM(CASE WHEN urgent THEN 1 ELSE 0 END)",),
        ("SUM(CASE WHEN urgent OR age > 3 THEN 1 ELSE 0 END)",),
        ("SUM(age) FILTER (WHERE urgent)",),
        *(("AVG(urgent::INT)",), ("SUM((age > 3)::INT)",), ("MEAN(age::DOUBLE)",)),
        ("COUNT(*)", "COUNT(age)"),
        ("COUNT(*)", "COUNT_IF(NOT urgent)", "COUNT(*) FILTER (WHERE urgent OR age > 3)"),
        ("COUNT(*)", "COUNT(ward)", "COUNT_IF(urgent)"),
        ("COUNT(age)", "AVG(age)", "VAR_POP(age)"),
        ("COUNT(age)", "SUM(age)", "AVG(age)"),
        ("REGR_COUNT(cost, age)", "COVAR_POP(cost, age)"),
        ("MEDIAN(cost)",),
    )
)
statements = st.tuples(
    st.lists(groups, min_size=1, max_size=1).map(lambda each: each[0]),
    aggregates,
    st.none() | conditions,
)


def text_of(groups: list[str], aggregates: tuple[str, ...], condition: str | None) -> str:
    """Return a statement; its groupings are selected first, and one alone is in an order."""
    where = "" if condition is None else f" WHERE {condition}"
    grouped = f" GROUP BY {', '.join(groups)}" if groups else ""
    ordered = " ORDER BY 2 DESC, 1" if len(groups) == 1 else ""
    return f"SELECT {', '.join((*groups, *aggregates))} FROM visits{where}{grouped}{ordered}"
