"""Test that the sentence of a grid states no difference that the margins do not support."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.web.charts.pictures import around, grid, level

from penstock.randomness.stream import Stream
from penstock.web.charts.crossed.grids import Grid
from penstock.web.charts.crossed.sentences import margins_sentence, sentence, separate
from penstock.web.charts.drawing.values import Interval, Level

YEARS = ("2019", "2020", "2021")
SEED, ROUNDS, CONFIDENCE = bytes(32), 400, 0.95

Test = Callable[[Interval, Interval, int, float], int]


def said(first: tuple[str, ...], second: tuple[str, ...], values: list[float], half: float) -> str:
    made = grid(first, second, (level("internal", values, half),))
    return sentence("people", [f"{one}, {other}" for one in first for other in second], made)


def test_what_rises_and_falls_beyond_the_margins_is_counted_with_its_numbers() -> None:
    plans = ("a", "b", "c")
    values = [100.0, 120, 160, 90, 70, 40, 50, 55, 50]
    assert said(plans, YEARS, values, 5) == (
        "people for internal, 2019 to 2021: of 3 lines 1 rises and 1 falls beyond the margins,"
        " such as a from 100 ± 5 to 160 ± 5"
    )
    one = said(plans, YEARS, [*values[:3], *[90.0] * 3, *[50.0] * 3], 5)
    assert one.endswith("of 3 lines 1 rises beyond the margins: a from 100 ± 5 to 160 ± 5")
    both = said(plans, YEARS, [*values[:3], *values[:3], *values[3:6]], 5)
    assert "of 3 lines 2 rise and 1 falls beyond" in both


def test_no_change_within_the_margins_is_called_one() -> None:
    values = [100.0, 120, 160, 90, 70, 40, 50, 55, 50]
    wide = said(("a", "b", "c"), YEARS, values, 25)
    assert wide == (
        "people for internal, 2019 to 2021: no change beyond the margins, values"
        " from 40 ± 25 (b, 2021) to 160 ± 25 (a, 2021)"
    )
    # These intervals are apart, but not once they are widened to hold all at once.
    apart = said(("a", "b", "c"), YEARS, [100.0, 0, 121, *[50.0] * 6], 10)
    assert "no change" in apart


def test_a_group_without_its_first_or_last_value_has_no_change() -> None:
    made = grid(("a", "b"), YEARS, (level("", [1.0, 2, 900, 5, 5, 5], 1),))
    places = {at: place for at, place in made.places.items() if place != 2}
    gap = Grid(made.title, made.names, made.steps, places, made.levels, made.positions)
    assert "no change" in sentence("people", [""] * 6, gap)


def test_where_no_line_has_both_ends_nothing_is_said_of_change() -> None:
    made = grid(("a", "b"), YEARS, (level("", [1.0, 900, 2, 5, 5, 700], 1),))
    places = {at: place for at, place in made.places.items() if place not in {2, 3}}
    gap = Grid(made.title, made.names, made.steps, places, made.levels, made.positions)
    said_of_it = sentence("people", ["x"] * 6, gap)
    assert "change" not in said_of_it
    assert said_of_it.endswith("from 1 ± 1 (x) to 900 ± 1 (x)")


def test_the_largest_is_named_as_such_if_no_other_may_be_larger() -> None:
    towns, smokes = ("north", "south"), ("no", "yes")
    clear = said(towns, smokes, [10.0, 100, 20, 30], 5)
    assert clear == (
        "people for internal: from 10 ± 5 (north, no) to 100 ± 5 (north, yes), the largest beyond"
        " the margins"
    )
    near = said(towns, smokes, [10.0, 100, 20, 95], 5)
    assert near.endswith("to 100 ± 5 (north, yes); the margins do not tell which is largest")


def test_of_some_groups_none_is_called_the_largest() -> None:
    made = grid(("a", "b"), ("x", "y"), (level("", [10.0, 100, 20, 30], 5),))
    some = Grid(made.title, made.names, made.steps, made.places, made.levels, total=9)
    written = sentence("people", ["a", "b", "c", "d"], some)
    assert written == "people, 4 of 9 groups: from 10 ± 5 (a) to 100 ± 5 (b)"


def unwidened(first: Interval, last: Interval, values: int, confidence: float) -> int:
    """Compare intervals as they are, whatever the number of comparisons."""
    return (last.lower > first.upper) - (last.upper < first.lower)


def without_margins(first: Interval, last: Interval, values: int, confidence: float) -> int:
    """Compare values, whatever their margins."""
    return (last.value > first.value) - (last.value < first.value)


def false_alarms(test: Test, noise: NDArray[np.float64], half: float) -> int:
    """Return in how many rounds some of the pairs of equal numbers are said to differ."""
    values = 2 * noise.shape[1]
    return sum(
        any(
            test(around(one, half), around(other, half), values, CONFIDENCE) for one, other in pairs
        )
        for pairs in noise.tolist()
    )


@pytest.mark.parametrize(("law", "half"), [("laplace", -math.log(0.05)), ("normal", 1.96)])
def test_equal_numbers_are_rarely_said_to_differ(law: str, half: float) -> None:
    """At most 5% of 400 rounds may be false: 20, and 36 with an alarm of this test of 1e-3."""
    noise = getattr(Stream.from_key(SEED).generator, law)(size=(ROUNDS, 40, 2))
    assert false_alarms(separate, noise, half) <= 36
    assert false_alarms(unwidened, noise, half) > 36
    assert false_alarms(without_margins, noise, half) == ROUNDS


def test_a_large_difference_is_still_seen() -> None:
    assert separate(around(0, 10), around(100, 10), 100, CONFIDENCE) == 1
    assert separate(around(100, 10), around(0, 10), 100, CONFIDENCE) == -1
    assert separate(around(0, 10), around(19, 10), 1, CONFIDENCE) == 0
    uneven = Interval(100, 20, 101)
    assert separate(around(0, 10), uneven, 4, CONFIDENCE) == 0


def test_margins_are_said_from_the_smallest_to_the_largest_and_how_many_values_may_be_0() -> None:
    own = Level("a", (Interval(9, 5, 13), Interval(9, -1, 19), Interval(0, 0, 2), around(-9, 2)))
    written = margins_sentence("people", grid(("x", "y"), ("1", "2"), (own,)))
    assert written == "people for a: margins from ± 1 to ± 10, 2 of 4 intervals include 0"
