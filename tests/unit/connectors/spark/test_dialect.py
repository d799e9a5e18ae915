"""Test how statements are written for Spark."""

import sqlglot
from sqlglot import exp
from tests.unit.connectors.cases import dataset_of, query_of

from penstock.connectors.planning.interpret import interpret
from penstock.connectors.spark.dialect import Spark
from penstock.connectors.statements.template import statement


def test_a_statement_is_one_select_that_reads_the_salt_from_a_relation() -> None:
    plan = interpret(dataset_of(), query_of({"type": "mean", "column": "cost"}))
    text = statement(plan, Spark()).text
    (parsed,) = sqlglot.parse(text, read="spark")
    assert isinstance(parsed, exp.Select)
    relations = {table.name for table in parsed.find_all(exp.Table)}
    assert relations >= {"source", "salt"}
    assert "DECIMAL(38, 0)" in text
    assert "DOUBLE PRECISION" not in text


def test_texts_keep_their_apostrophes_and_backslashes() -> None:
    written = Spark().written(Spark().literal("it's \\n ${x}"))
    assert written == r"'it\'s \\n ${x}'"
