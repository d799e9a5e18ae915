"""Test sets of values: what is in them, and that each has one form."""

import datetime
import itertools

from penstock.connectors.formulas import value_sets
from penstock.connectors.formulas.value_sets import ALL, NONE, Values

FIVE = datetime.date(2026, 1, 5)


def ints(values: Values) -> list[int]:
    """Return the integers from -3 to 9 that are in a set."""
    return [
        number
        for number in range(-3, 10)
        if any(low <= (0, number, -1) < high for low, high in values)
    ]


def test_integers_and_days_have_a_next_one_and_numbers_have_none() -> None:
    for kind, value, more in (("integer", 5, 6), ("date", FIVE, FIVE + datetime.timedelta(1))):
        above = value_sets.beyond(kind, ">", value)  # type: ignore[arg-type]
        assert above == value_sets.beyond(kind, ">=", more)  # type: ignore[arg-type]
    assert value_sets.beyond("number", ">", 5.0) != value_sets.beyond("number", ">=", 6.0)
    assert value_sets.beyond("number", ">", 5.0) != value_sets.beyond("number", ">=", 5.0)


def test_sets_are_joined_shared_and_turned_as_lists_of_integers_are() -> None:
    sets = [
        value_sets.points("integer", [1, 2, 5]),
        value_sets.beyond("integer", "<", 2),
        value_sets.beyond("integer", ">=", 4),
        ALL,
        NONE,
    ]
    for left, right in itertools.product(sets, sets):
        both = value_sets.shared(left, right)
        assert ints(both) == [number for number in ints(left) if number in ints(right)]
        either = value_sets.united((left, right))
        assert ints(either) == sorted({*ints(left), *ints(right)})
        assert value_sets.opposite(value_sets.opposite(both)) == both
    moved = value_sets.moved(sets[0], 3)
    assert ints(moved) == [4, 5, 8]
    assert ints(value_sets.mirrored(value_sets.moved(sets[0], -5))) == [0, 3, 4]


def test_what_holds_for_a_bound_holds_beyond_it() -> None:
    assert ints(value_sets.within(value_sets.points("integer", [0, 2]), 0, 3)) == [-3, -2, -1, 0, 2]
    assert value_sets.within(value_sets.points("integer", [7]), 0, 3) == NONE
    assert value_sets.within(value_sets.beyond("integer", ">", -5), 0, 3) == ALL


def test_short_runs_are_listed_and_longer_ones_have_their_ends() -> None:
    values = value_sets.points("integer", [1, 2, 4, 6, 7, 8])
    short, longer = value_sets.listed("integer", values)
    assert short == [1, 2, 4]
    assert [value_sets.comparisons("integer", *ends) for ends in longer] == [[(">=", 6), ("<=", 8)]]
    last = value_sets.beyond("date", ">", datetime.date.max)
    assert value_sets.comparisons("date", *last[0]) == [(">", datetime.date.max)]
