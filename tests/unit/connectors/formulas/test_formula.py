"""Test the normal form of formulas, and that each comparison's opposite is its own."""

from penstock.connectors.formulas.formula import (
    OPPOSITES,
    Column,
    Filter,
    Formula,
    Junction,
    joined,
    junction,
)

AGE = Column("age", "integer", None)
WARD = Column("ward", "string", None)


def _at_least(value: int) -> Filter:
    return Filter(AGE, ">=", (value,))


def test_the_opposite_of_an_opposite_is_the_comparison_itself() -> None:
    assert all(OPPOSITES[OPPOSITES[op]] == op for op in OPPOSITES)
    assert len(OPPOSITES) == 8


def test_parts_that_are_joined_alike_are_joined_once() -> None:
    inner = junction("any", [_at_least(2), _at_least(1)])
    assert junction("any", [inner, _at_least(1), _at_least(3)]) == Junction(
        "any", tuple(map(_at_least, (1, 2, 3)))
    )
    assert joined("all", [inner, _at_least(9)]) == (_at_least(9), inner)


def test_a_comparison_says_that_there_is_a_cell() -> None:
    there, other = Filter(AGE, "is_not_null", ()), Filter(WARD, "is_not_null", ())
    assert joined("all", [there, _at_least(1), other]) == (_at_least(1), other)
    assert junction("all", [_at_least(1), there]) == _at_least(1)
    missing = Filter(AGE, "is_null", ())
    assert joined("all", [there, missing]) == (there, missing)
    assert len(joined("any", [there, _at_least(1)])) == 2
    assert len(joined("all", [there, junction("any", [_at_least(1), other])])) == 2


def test_a_junction_of_one_part_is_that_part() -> None:
    parts: list[Formula] = [_at_least(1), _at_least(1)]
    assert junction("all", parts) == _at_least(1)


def test_a_formula_reads_each_of_its_columns_once() -> None:
    parts = [_at_least(1), Filter(WARD, "is_null", ()), _at_least(3)]
    assert junction("any", parts).columns == (AGE, WARD)
