"""Test that what engines without DuckDB's casts and divisions write means the same numbers."""

import math
from fractions import Fraction

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from penstock.connectors.duckdb.dialect import DuckDB
from penstock.connectors.formulas.formula import Column
from penstock.connectors.planning.plan import Summand
from penstock.connectors.statements import expressions as sql
from penstock.connectors.statements.dialect import Dialect
from penstock.connectors.statements.expressions import Node

COLUMN = Column("x", "number", None)
DOUBLES = st.floats(allow_nan=False, allow_infinity=False)


class Careful(DuckDB):
    """Divide as engines do that fail for a quotient that no double holds."""

    scaled = Dialect.scaled
    quotient = Dialect.quotient


def evaluated(node: Node, dialect: Dialect, value: object = None) -> object:
    text = dialect.written(sql.select([node], sql.table("source")))
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE source AS SELECT $x AS x", {"x": value})
        row = connection.execute(text).fetchone()
    assert row is not None
    return row[0]


def steps(dialect: Dialect, summand: Summand, value: float) -> object:
    cell = sql.cast(sql.column("x"), "DOUBLE")
    return evaluated(dialect.steps(summand, cell, cell.copy()), dialect, value)


@settings(max_examples=60, deadline=None)
@given(
    value=DOUBLES,
    step=st.sampled_from([Fraction(1, 2**40), Fraction(1, 4), Fraction(1), Fraction(10**300)]),
    bounds=st.tuples(st.integers(-(2**52), 2**52), st.integers(-(2**52), 2**52)).map(sorted),
)
@example(value=1.7976931348623157e308, step=Fraction(1, 2), bounds=[-3, 2**52])
@example(value=5e-324, step=Fraction(10**300), bounds=[0, 5])
@example(value=-5e-324, step=Fraction(10**300), bounds=[-7, -2])
@example(value=2.5e299, step=Fraction(10**300), bounds=[-7, 7])
def test_a_careful_division_gives_the_same_steps(
    value: float, step: Fraction, bounds: list[int]
) -> None:
    summand = Summand(COLUMN, step, bounds[0], bounds[1])
    quotient = value / float(step)
    clamped = min(max(quotient, bounds[0]), bounds[1])
    expected = math.floor(clamped + 0.5)
    assert steps(Careful(), summand, value) == expected
    assert steps(DuckDB(), summand, value) == expected


@pytest.mark.parametrize("pair", [(0, 3), (7, 2), (8, 2), (10**37 + 1, 3), (5, 10**37)])
def test_a_quotient_is_that_of_what_the_divisor_divides(pair: tuple[int, int]) -> None:
    dialect = Careful()
    left, right = (dialect.wide(number) for number in pair)
    again = dialect.wide(pair[0]), dialect.wide(pair[1])
    quotient = dialect.quotient(left, right, again=again)
    dividend = evaluated(quotient.this, dialect)
    assert dividend == pair[0] - pair[0] % pair[1]
    other = DuckDB()
    left, right = (other.wide(number) for number in pair)
    assert evaluated(other.quotient(left, right, again=again), other) == pair[0] // pair[1]
