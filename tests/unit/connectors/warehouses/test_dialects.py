"""Test statements of Trino, BigQuery and Snowflake: as they are written, and what they mean."""

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
import sqlglot
from sqlglot import exp
from tests.unit.connectors.cases import dataset_of, query_of
from tests.unit.connectors.warehouses.on_duckdb import OnDuckDB

from penstock.connectors.planning.interpret import interpret
from penstock.connectors.statements import expressions as sql
from penstock.connectors.statements.dialect import Dialect
from penstock.connectors.statements.expressions import Node
from penstock.connectors.statements.questions import OPEN_QUESTIONS, QUESTIONS, Question
from penstock.connectors.statements.template import statement
from penstock.connectors.warehouses.bigquery import BigQuery
from penstock.connectors.warehouses.dialects import LARGEST
from penstock.connectors.warehouses.dialects import Trino as TrinoDialect
from penstock.connectors.warehouses.session import Engine
from penstock.connectors.warehouses.snowflake import Snowflake
from penstock.connectors.warehouses.trino import Trino
from penstock.connectors.warehouses.warehouse import differences

ENGINES: tuple[Engine, ...] = (Trino(), BigQuery(), Snowflake())
ALL = (*QUESTIONS, *OPEN_QUESTIONS)
GOLDEN = Path(__file__).parent / "golden"
SHOWN = (
    "mean",
    "filters",
    "joined conditions",
    "derived columns",
    "columns",
    "string",
    "sha256_64",
)

each_engine = pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
each_question = pytest.mark.parametrize("question", ALL, ids=lambda question: question.name)


def text_of(question: Question, dialect: Dialect) -> str:
    return statement(question.plan, dialect).text


def parsed(text: str, dialect: Dialect) -> exp.Expr:
    return sqlglot.parse_one(text, read=dialect.name)


@each_engine
def test_statements_are_those_that_were_reviewed(engine: Engine) -> None:
    written = "".join(
        f"-- {question.name}\n{text_of(question, engine.dialect)}"
        for question in ALL
        if question.name in SHOWN
    )
    assert written == (GOLDEN / f"{engine.dialect.name}.sql").read_text(encoding="utf-8")


@each_engine
@each_question
def test_a_statement_is_read_as_it_was_written(engine: Engine, question: Question) -> None:
    text = text_of(question, engine.dialect)
    tree = parsed(text, engine.dialect)
    assert parsed(engine.dialect.written(tree.copy()), engine.dialect) == tree


@each_engine
def test_the_probe_is_answered_where_the_functions_mean_what_they_should(engine: Engine) -> None:
    assert differences(engine, OnDuckDB(engine.dialect, duckdb.connect())) == []


@each_question
def test_trino_is_never_told_to_read_the_rows_twice(question: Question) -> None:
    """Between two readings rows may change, and the sizes would not be those of the counts."""
    tree = parsed(text_of(question, TrinoDialect()), TrinoDialect())
    named = [table.name for table in tree.find_all(exp.Table)]
    assert "source" in named
    assert sorted(named) == sorted(set(named))


@each_engine
@each_question
def test_no_statement_has_a_trap(engine: Engine, question: Question) -> None:
    assert list(traps(text_of(question, engine.dialect), engine.dialect)) == []


class Inexact(TrinoDialect):
    """Divide as SQLGlot does by itself, through doubles."""

    def quotient(self, left: Node, right: Node, *, again: tuple[Node, Node]) -> Node:
        return sql.exact_quotient(sql.minus(left, sql.call("mod", *again)), right)


class Upper(TrinoDialect):
    """Leave digests in upper case, whose order is another one."""

    def digest(self, node: Node) -> Node:
        return sql.call("to_hex", sql.call("md5", sql.call("to_utf8", node)))


class Narrow(TrinoDialect):
    """Add up in 64 bits."""

    def total(self, node: Node) -> Node:
        return sql.call("sum", node)


@pytest.mark.parametrize(
    ("dialect", "question", "trap"),
    [
        (Inexact(), "mean", "a quotient of doubles"),
        (Upper(), "mean", "a digest in upper case"),
        (Narrow(), "sum", "a sum of 64 bits"),
    ],
)
def test_a_trap_would_be_noticed(dialect: Dialect, question: str, trap: str) -> None:
    asked = next(each for each in ALL if each.name == question)
    assert trap in traps(text_of(asked, dialect), dialect)


def traps(text: str, dialect: Dialect) -> Iterator[str]:
    """Yield what is wrong with a statement."""
    for word in ("HUGEINT", "INT128", "TRY_CAST", "SAFE_CAST", "range(", "generate_series"):
        if word.casefold() in text.casefold():
            yield word
    tree = parsed(text, dialect)
    parts = {each.alias: each for each in tree.find_all(exp.CTE)}
    for cast in parts.get("read", parts["typed"]).find_all(exp.Cast):
        own = cast.this.find(exp.Column) is not None
        if own and not cast.to.is_type("text", "varchar"):
            yield "a cast of a cell"
    for name, part in parts.items():
        for cast in part.find_all(exp.Cast):
            if name in {"contributed", "totals"} and cast.to.is_type("double", "float"):
                yield "a quotient of doubles"
        for added in part.find_all(exp.Sum):
            if not isinstance(added.this, exp.Cast) or not added.this.to.is_type(
                "decimal", "bigdecimal"
            ):
                yield "a sum of 64 bits"
    if any(abs(int(each.this)) > LARGEST for each in tree.find_all(exp.Literal) if each.is_int):
        yield "a numeral above 64 bits"
    lower = {"trino": r"lower\(\s*to_hex\(\s*md5\(", "bigquery": r"to_hex\(\s*md5\("}
    digests = len(re.findall(r"\bmd5\(", text))
    if digests != len(re.findall(lower.get(dialect.name, r"\bmd5\("), text)):
        yield "a digest in upper case"


HOSTILE = [
    "it's",
    'a "b"',
    "a`b",
    "back\\slash",
    "\\'",
    "two\nlines",
    "?",
    "@salt",
    "%s",
    "東京",
    "",
]


@each_engine
def test_texts_from_outside_stay_texts(engine: Engine) -> None:
    sent = [text for text in HOSTILE if text.isprintable()]
    condition = {"column": "person", "op": "in", "value": sent}
    plan = interpret(dataset_of(), query_of(where=[condition]))
    tree = parsed(statement(plan, engine.dialect).text, engine.dialect)
    assert set(sent) <= {each.this for each in tree.find_all(exp.Literal) if each.is_string}
    for hostile in HOSTILE:
        literal = engine.dialect.written(engine.dialect.literal(hostile))
        again = parsed(f"SELECT {literal}", engine.dialect).find(exp.Literal)
        assert again is not None
        assert again.this == hostile


@each_engine
def test_integers_beyond_64_bits_are_no_numerals(engine: Engine) -> None:
    written = engine.dialect.written(engine.dialect.wide(2**100))
    assert written == f"CAST('{2**100}' AS {engine.dialect.exact})"
