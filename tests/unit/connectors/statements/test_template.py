"""Test what a statement's text says, and what it does not depend on."""

from dataclasses import replace

import pytest
import sqlglot
from sqlglot import exp
from tests.unit.connectors.cases import dataset_of, query_of, stated

from penstock.connectors.duckdb.dialect import DuckDB
from penstock.connectors.statements.questions import OPEN_QUESTIONS, QUESTIONS, Question
from penstock.connectors.statements.statement import sha256_of
from penstock.connectors.statements.template import statement

EVERY = (*QUESTIONS, *OPEN_QUESTIONS)


def test_neither_salt_nor_categories_stand_in_the_text() -> None:
    query = query_of(group_by=[{"column": "ward"}])
    text = stated(dataset_of(), query).text
    assert text is not None
    assert "$salt" in text
    columns = dict(dataset_of().model_dump()["columns"])
    columns["ward"]["categories"] = ["x", "y", "z"]
    assert stated(dataset_of(columns=columns), query).text == text


@pytest.mark.parametrize("question", EVERY, ids=lambda question: question.name)
def test_a_text_reads_as_one_select_that_returns_what_is_decoded(question: Question) -> None:
    written = statement(question.plan, DuckDB())
    (read,) = sqlglot.parse(written.text, dialect="duckdb")
    assert isinstance(read, exp.Select)
    assert tuple(read.named_selects) == written.returned
    assert set(written.columns) < set(written.returned)
    assert written.sha256 == sha256_of(written.text)


def test_the_same_plan_has_the_same_text() -> None:
    plan = QUESTIONS[0].plan
    assert statement(plan, DuckDB()) == statement(replace(plan), DuckDB())


def test_a_text_samples_nothing_and_knows_no_key_by_itself() -> None:
    for question in EVERY:
        text = statement(question.plan, DuckDB()).text.lower()
        for word in ("random", "sample", "limit", "distinct", "range("):
            assert word not in text


@pytest.mark.parametrize(
    "text", ["a\nb", "it's", "\\", "a\\'b", "--", "/* x", "\ue000", "{x}", "$$"]
)
def test_a_literal_reads_back_as_it_was(text: str) -> None:
    for dialect in ("duckdb", "postgres", "spark", "clickhouse", "trino", "bigquery", "snowflake"):
        written = exp.Literal.string(text).sql(dialect=dialect, pretty=True)
        read = sqlglot.parse_one(f"SELECT {written}", dialect=dialect).find(exp.Literal)
        assert read is not None
        assert (read.is_string, read.name) == (True, text), dialect
