"""Test the normal form of expressions, and that their bounds hold whatever the cells are."""

import math
import re
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.connectors.formulas.arithmetic import (
    Cases,
    Computed,
    Constant,
    Cut,
    Product,
    Sum,
    TextCell,
    added,
    bounds_of,
    multiplied,
    negated,
)
from penstock.connectors.formulas.expressions import LARGEST_INTEGER
from penstock.connectors.formulas.formula import Column, Filter
from penstock.errors import InvalidInput

X = Cut(Column("x", "integer", None), -3, 5)
Y = Cut(Column("y", "integer", None), 2, 4)
WARD = TextCell(Column("ward", "string", None), ("a", "b"))
LATE = Filter(Column("y", "integer", None), ">", (3,))


def _value(computed: Computed, cells: dict[str, int]) -> Any:
    match computed:
        case Constant():
            return computed.value
        case Cut():
            return cells[computed.column.name]
        case Sum():
            terms = [_value(term, cells) for term in computed.terms]
            return None if None in terms else sum(terms)
        case Product():
            factors = [_value(factor, cells) for factor in computed.factors]
            return None if None in factors else math.prod(factors)
        case Cases(otherwise=otherwise):
            ((_, value),) = computed.cases
            if cells["y"] > 3:
                return _value(value, cells)
            return None if otherwise is None else _value(otherwise, cells)
    raise AssertionError(computed)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (added([X, Y]), added([Y, X])),
        (added([X, added([Y, Constant(1)]), Constant(2)]), added([Constant(3), Y, X])),
        (added([X]), X),
        (added([X, Constant(0)]), X),
        (added([X, negated(added([Y, X]))]), added([X, negated(Y), negated(X)])),
        (multiplied([X, multiplied([Y, X])]), multiplied([Y, X, X])),
        (multiplied([Constant(2), X, Constant(3)]), multiplied([X, Constant(6)])),
        (multiplied([Constant(1), X]), X),
        (negated(negated(X)), X),
        (negated(negated(added([X, Y]))), added([Y, X])),
        (negated(Constant(4)), Constant(-4)),
        (added([Constant(1), Constant(2)]), Constant(3)),
        (multiplied([Constant(-1), added([X, Constant(1)])]), negated(added([X, Constant(1)]))),
    ],
)
def test_equal_expressions_have_one_form(left: Computed, right: Computed) -> None:
    assert left == right
    assert left.spelled == right.spelled


def test_what_is_not_equal_is_spelled_otherwise() -> None:
    others = [
        *(X, Y, Constant(1), Constant("1"), WARD, added([X, X]), multiplied([X, X])),
        *(added([X, Constant(1)]), negated(X), Cases(((LATE, X),), None)),
        *(Cases(((LATE, X),), Y), Cases(((LATE, Y),), X), Cut(X.column, -3, 6)),
        # Nothing is where the cell is missing, so that these are not 0.
        *(multiplied([X, Constant(0)]), added([X, negated(X)]), Constant(0)),
    ]
    assert len({str(other.spelled) for other in others}) == len(others)


integers: st.SearchStrategy[Computed] = st.recursive(
    st.one_of(st.sampled_from([X, Y]), st.integers(-9, 9).map(Constant)),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(added),
        st.lists(inner, min_size=1, max_size=3).map(multiplied),
        inner.map(negated),
        st.tuples(inner, st.none() | inner).map(lambda pair: Cases(((LATE, pair[0]),), pair[1])),
    ),
    max_leaves=6,
)


@given(integers)
def test_every_value_is_within_its_bounds(computed: Computed) -> None:
    lowest, highest = bounds_of(computed)
    for x, y in product(range(-3, 6), range(2, 5)):
        value = _value(computed, {"x": x, "y": y})
        assert value is None or lowest <= value <= highest
        if computed.categories is not None and value is not None:
            assert value in computed.categories


def test_bounds_of_one_use_of_each_column_are_reached() -> None:
    computed = added([multiplied([X, Y]), Constant(-7)])
    values = {_value(computed, {"x": x, "y": y}) for x, y in product(range(-3, 6), range(2, 5))}
    assert (min(values), max(values)) == bounds_of(computed) == (-19, 13)


BIG = Cut(Column("big", "integer", None), 0, 2**40)
LARGE = Cut(Column("large", "integer", None), 0, 2**46)
NOTHING = Cut(Column("nothing", "integer", None), 0, 0)


@pytest.mark.parametrize(
    ("make", "reach"),
    [
        (lambda: multiplied([BIG, Constant(2**12 + 1)]), 2**40 * (2**12 + 1)),
        (lambda: multiplied([NOTHING, BIG, BIG]), 2**80),
        (lambda: multiplied([multiplied([BIG, NOTHING]), BIG]), 2**80),
        (lambda: added([Constant(2**52), Constant(1)]), 2**52 + 1),
        (lambda: added([LARGE] * 63 + [Constant(2**46 + 1)]), 2**52 + 1),
        (lambda: multiplied([BIG] * 64), "2^2561"),
    ],
)
def test_what_may_be_too_large_is_refused(make: Any, reach: int | str) -> None:
    with pytest.raises(InvalidInput, match=re.escape(f"as large as {reach},")):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: added([LARGE] * 65),
        lambda: added([added([LARGE] * 33), added([LARGE] * 32)]),
        lambda: multiplied([NOTHING] * 65),
        lambda: multiplied([BIG, *[Constant(2**52)] * 300]),
    ],
)
def test_a_sum_or_product_of_many_is_refused(make: Any) -> None:
    with pytest.raises(InvalidInput, match=r"at most 64 (terms|factors)"):
        make()


def test_what_just_fits_is_taken() -> None:
    assert bounds_of(multiplied([BIG, Constant(-(2**12))])) == (-LARGEST_INTEGER, 0)
    assert bounds_of(added([LARGE] * 64)) == (0, LARGEST_INTEGER)


def test_cases_of_values_list_them_once_each_in_their_order() -> None:
    texts = Cases(((LATE, Constant("b")), (LATE, WARD)), Constant("c"))
    assert (texts.categories, texts.bounds) == (("b", "a", "c"), None)
    mixed = Cases(((LATE, Constant(9)),), X)
    assert (mixed.categories, mixed.bounds) == (None, (-3, 9))
    assert texts.columns == (LATE.column, WARD.column)


def test_categories_of_cases_in_cases_are_listed_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice at every level would be a million times here."""
    listed: list[int] = []

    def categories(constant: Constant) -> tuple[int | str, ...]:
        listed.append(1)
        return (constant.value,)

    monkeypatch.setattr(Constant, "categories", property(categories))
    nested: Computed = Constant(0)
    for value in range(1, 20):
        nested = Cases(((LATE, Constant(value)),), nested)
    assert set(nested.categories or ()) == set(range(20))
    assert len(listed) == 20
