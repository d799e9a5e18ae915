"""Test that any text is read or refused with a place, and nothing else happens."""

import sys

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.property.sql.texts import DATASET, conditions, statements, text_of
from tests.support.thorough import by_count

from penstock.connectors.sql.reading import read
from penstock.errors import InvalidInput

_WORDS = (
    *("SELECT", "FROM", "visits", "WHERE", "GROUP BY", "COUNT", "(", ")", "*", ",", "age", "cost"),
    *("AND", "OR", "NOT", "IN", "BETWEEN", "IS", "NULL", "CASE", "WHEN", "THEN", "ELSE", "END"),
    *("FILTER", "WITHIN GROUP", "ORDER BY", "[", "]", "{", "}", "1", "-", "+", "::", "DATE", "'a'"),
    *(
        '"Ward"',
        "urgent",
        "COALESCE",
        "AS",
        "DISTINCT",
        "OVER",
        "LIMIT",
        "JOIN",
        "UNION",
        ";",
        "--",
    ),
    *(
        "/*",
        "*/",
        "$1",
        "?",
        "=",
        "<",
        "SUM",
        "MEDIAN",
        "WIDTH_BUCKET",
        "EXISTS",
        "ARRAY",
        "INTERVAL",
    ),
    *(
        "CAST",
        "IF",
        "YEAR",
        "FLOOR",
        "MEAN",
        "LIKE",
        "IS TRUE",
        "::INT",
        "/",
        "EXTRACT",
        "TRY_CAST",
        "LAMBDA",
        "->",
        ".",
        "ALL",
        "ANY",
        "PIVOT",
        "GROUPING SETS (",
        "CUBE (",
        "ROLLUP (",
        "TRUE",
        "FALSE",
        "VALUES",
        "\u00e9",
    ),
)
_soup = st.lists(st.sampled_from(_WORDS), max_size=60).map(" ".join)
_deep = st.tuples(st.sampled_from(_WORDS), st.integers(1, 2000), st.sampled_from(_WORDS)).map(
    lambda parts: f"SELECT COUNT(*) FROM visits WHERE {(parts[0] + ' ') * parts[1]}{parts[2]}"
)
_cut = st.tuples(statements, st.integers(0, 300), st.text(max_size=3)).map(
    lambda parts: text_of(*parts[0])[: parts[1]] + parts[2]
)
_links = st.lists(
    st.sampled_from(
        (" - 1", " + 1", " * 1", " * 4503599627370496", " - age", "::INT", "[1]", ".a")
    ),
    min_size=1,
    max_size=3,
).map("".join)
_chains = st.tuples(
    st.sampled_from(
        ("SUM(age{})", "COUNT(*) FILTER (WHERE age{} > 3)", "age{}", "COUNT(*), -age{}")
    ),
    _links,
    st.integers(1, 1300),
    st.sampled_from(("", " WHERE age{} > 0", " GROUP BY ALL", " GROUP BY age{}")),
).map(lambda each: f"SELECT {each[0]} FROM visits{each[3]}".replace("{}", each[1] * each[2]))
_sets = st.tuples(
    st.lists(
        st.sampled_from(("ward", "urgent", "day", "1", "(ward, day)", "()", "CUBE (ward)", "age")),
        max_size=40,
    ),
    st.sampled_from(
        ("CUBE (", "ROLLUP (", "GROUPING SETS (", "day, CUBE (", "CUBE (day), ROLLUP (")
    ),
    st.integers(1, 12),
).map(
    lambda each: (
        "SELECT COUNT(*) FROM visits GROUP BY "
        + ", ".join([f"{each[1]}{', '.join(each[0])})"] * each[2])
    )
)
_texts = st.one_of(
    _chains,
    _sets,
    st.text(max_size=200),
    _soup,
    _soup.map("SELECT {}".format),
    _soup.map("SELECT COUNT(*) FROM visits WHERE {}".format),
    _deep,
    _cut,
)


def refusals_of(text: str) -> list[tuple[str, str]]:
    """Return the places of a refusal; none of a text that is read."""
    try:
        read(text, DATASET)
    except InvalidInput as error:
        return list(error.errors)
    return []


def require_read_or_refused(text: str) -> None:
    before = sys.getrecursionlimit()
    assert all(place == "/sql" and len(words) < 2000 for place, words in refusals_of(text))
    assert sys.getrecursionlimit() == before


@settings(max_examples=by_count(200, 10_000), deadline=None)
@given(text=_texts)
def test_any_text_is_read_or_refused(text: str) -> None:
    require_read_or_refused(text)


@settings(max_examples=by_count(20, 200), deadline=None)
@given(text=st.one_of(_soup, st.text(min_size=1), conditions), times=st.integers(1, 100_000))
def test_long_texts_are_refused_at_once(text: str, times: int) -> None:
    whole = (text * times)[:100_000]
    require_read_or_refused("SELECT COUNT(*) FROM visits WHERE " + whole)
    require_read_or_refused(whole)
