"""Test that what is long, deep or another statement is refused before it is parsed."""

import sys

import pytest
from tests.unit.connectors.sql.statements import DATASET, refusal_of

from penstock.connectors.sql.limits import LONGEST, MOST_TOKENS, tokens_of
from penstock.connectors.sql.places import SqlText
from penstock.connectors.sql.reading import read

COUNT = "SELECT COUNT(*) FROM visits"


def test_a_last_semicolon_and_comments_are_no_part_of_the_statement() -> None:
    text = f"-- how many\n{COUNT} /* all */ ; ;"
    assert read(text, DATASET)["aggregate"] == {"type": "count"}


@pytest.mark.parametrize("text", ["", "  ", ";", "-- nothing"])
def test_an_empty_statement_is_refused(text: str) -> None:
    assert "There is no statement" in refusal_of(text)


def test_a_statement_has_at_most_16_kilobytes() -> None:
    padded = COUNT + " " * (LONGEST - len(COUNT))
    assert read(padded, DATASET)["aggregate"] == {"type": "count"}
    assert f"has {LONGEST + 1} bytes" in refusal_of(padded + " ")
    assert "bytes" in refusal_of(COUNT + " WHERE ward = '" + "é" * (LONGEST // 2) + "'")


def test_a_statement_has_at_most_so_many_words() -> None:
    assert f"at most {MOST_TOKENS}" in refusal_of(COUNT + " WHERE " + "a," * MOST_TOKENS)


@pytest.mark.parametrize(
    "deep",
    [
        "(" * 500 + "urgent" + ")" * 500,
        "NOT " * 500 + "urgent",
        "- " * 500 + "age = 1",
        "[" * 500 + "1" + "]" * 500,
        "CASE WHEN " * 500 + "urgent" + " THEN 1 END" * 500,
        "f(" * 500 + "1" + ")" * 500,
        "age IN (" * 500 + "1" + ")" * 500,
        "NOT (" * 100 + "urgent" + ")" * 100,
        "CAST(" * 200 + "1" + " AS DATE)" * 200,
        "INTERVAL " * 500,
        "{" * 300 + "}" * 300,
        "CASE end " * 400,
    ],
)
def test_what_nests_deep_is_refused_before_the_parser_recurses(deep: str) -> None:
    before = sys.getrecursionlimit()
    assert refusal_of(f"{COUNT} WHERE {deep}").startswith("Line 1, column ")
    assert sys.getrecursionlimit() == before


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("ARRAY[" * 12 + "1" + "]" * 12 + " = 1", 46),
        ("[" * 23 + "1" + "]" * 23 + " = 1", 35),
        ("STRUCT(CASE " * 8 + "1" + " WHEN 1 THEN 1 END)" * 8, 53),
        ("FLOAT4(" * 12 + "1" + ")" * 12, 48),
        ("age" + "[1]" * 1000 + " = 1", 38),
        ("(age)[1] = 1", 40),
    ],
)
def test_what_the_parser_would_read_twice_at_every_level_is_refused_before(
    text: str, column: int
) -> None:
    """Each of the nested ones would take it seconds or minutes, and one level more twice that."""
    assert refusal_of(f"{COUNT} WHERE {text}").startswith(f"Line 1, column {column}: ")


def test_lists_within_lists_are_refused_before() -> None:
    assert refusal_of(f"{COUNT} WHERE f(ARRAY[ARRAY[1]])").startswith(
        "Line 1, column 48: A type or a list"
    )


def test_what_nests_a_little_is_read() -> None:
    depth = 20
    text = f"{COUNT} WHERE {'(' * depth}urgent{')' * depth}"
    assert read(text, DATASET)["where"] == [{"column": "urgent", "op": "=", "value": True}]


@pytest.mark.parametrize(
    ("text", "alternative"),
    [
        ("DROP TABLE visits", "begins with SELECT"),
        ("INSERT INTO visits VALUES (1)", "begins with SELECT"),
        ("EXPLAIN SELECT 1", "begins with SELECT"),
        ("FROM visits SELECT COUNT(*)", "begins with SELECT"),
        ("PRAGMA database_list", "begins with SELECT"),
        ("WITH v AS (SELECT 1) SELECT COUNT(*) FROM v", "no common table expressions"),
        (f"{COUNT}; {COUNT}", "one statement"),
        (f"{COUNT} UNION {COUNT}", "one SELECT"),
        (f"{COUNT} WHERE age IN (SELECT age FROM visits)", "no subqueries"),
        ("SELECT COUNT(*) FROM (SELECT * FROM visits)", "no subqueries"),
        (f"{COUNT} JOIN wards ON TRUE", "reads one dataset"),
        (f"{COUNT} GROUP BY ward HAVING COUNT(*) > 3", "Leave HAVING out"),
        (f"{COUNT} LIMIT 3", "Leave LIMIT out"),
        (f"{COUNT} WHERE age = ?", "no parameters"),
        (f"{COUNT} WHERE age = $1", "no parameters"),
        (f"SELECT age{'[1]' * 1300} FROM visits", "A list stands here only"),
    ],
)
def test_what_no_query_says_is_refused_with_what_to_write_instead(
    text: str, alternative: str
) -> None:
    assert alternative in refusal_of(text)


@pytest.mark.parametrize(
    "text", ["SELECT 'a", 'SELECT "a', "SELECT /* a", "SELECT $$a", 'SELECT \'"a"']
)
def test_what_does_not_end_is_refused_where_it_begins(text: str) -> None:
    assert refusal_of(text).startswith("Line 1, column 8: What begins here does not end")


def test_half_a_character_is_refused() -> None:
    assert "no character of Unicode" in refusal_of("SELECT \ud800")


def test_tokens_have_their_places() -> None:
    assert [token.start for token in tokens_of(SqlText("SELECT a\n+ b"))] == [0, 7, 9, 11]
