"""Test how statements are written for ClickHouse, and what it makes of them."""

import math
import re
import struct

import sqlglot
from sqlglot import exp
from tests.databases.clickhouse import Tables
from tests.unit.connectors.cases import dataset_of, query_of

from penstock.connectors.clickhouse.dialect import ClickHouse
from penstock.connectors.clickhouse.reading import reading
from penstock.connectors.planning.interpret import interpret
from penstock.connectors.statements import expressions as sql
from penstock.connectors.statements.template import statement


def test_a_statement_is_one_select_that_reads_the_salt_from_a_relation() -> None:
    plan = interpret(dataset_of(), query_of({"type": "mean", "column": "cost"}))
    text = statement(plan, ClickHouse()).text
    (parsed,) = sqlglot.parse(text, read="clickhouse")
    assert isinstance(parsed, exp.Select)
    relations = {table.name for table in parsed.find_all(exp.Table)}
    assert relations >= {"source", "salt"}
    # Its division is of doubles, and its sum of 64-bit integers wraps around.
    assert "intDiv(" in text
    assert set(re.findall(r"/ CAST\('\S+' AS (\S+)\)", text)) == {"Nullable(Float64)"}
    assert text.count("sum(") == text.count("sum(CAST(") > 0


def test_numerals_texts_and_names_are_what_they_were(folder: Tables) -> None:
    dialect = ClickHouse()
    bits = [place * 0x9E3779B97F4A7C15 % 2**64 for place in range(500)]
    doubles = [struct.unpack("d", struct.pack("Q", each))[0] for each in bits]
    doubles = [each for each in doubles if math.isfinite(each)] + [5e-324, 1.7976931348623157e308]
    texts = ["it's \\n ${x} {y:String}", "zo\u00eb\u0000\n", "--", "\\", "'"]
    nodes = [dialect.literal(value) for value in (*doubles, *texts)]
    names = [f'c{place}\\"`' for place in range(len(nodes))]
    columns = [sql.named(node, name, quoted=True) for node, name in zip(nodes, names, strict=True)]
    with reading(folder.address) as session:
        table = session.table(dialect.written(exp.Select(expressions=columns)), {})
    assert table.column_names == names
    assert list(table.to_pylist()[0].values()) == [*doubles, *texts]


def test_sums_and_quotients_are_exact_beyond_64_and_128_bits(folder: Tables) -> None:
    dialect, large = ClickHouse(), 2**126 + 1
    quotient = dialect.quotient(
        sql.times(dialect.wide(8), dialect.wide(large)),
        sql.number(8),
        again=(sql.number(0), sql.number(1)),
    )
    columns = [
        sql.named(dialect.text_of(quotient), "quotient"),
        sql.named(dialect.text_of(dialect.total(sql.column("n"))), "total"),
    ]
    rows = exp.Table(this=exp.Var(this="(SELECT 9223372036854775807 AS n FROM numbers(1000))"))
    with reading(folder.address) as session:
        (row,) = session.table(dialect.written(sql.select(columns, rows)), {}).to_pylist()
    assert row == {"quotient": str(large), "total": str(1000 * (2**63 - 1))}
