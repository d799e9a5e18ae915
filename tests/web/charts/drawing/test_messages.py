"""Test the sentences that charts show: they have the numbers drawn, with their margins."""

from penstock.web.charts.drawing.messages import last_message, message, share_message, with_margin
from penstock.web.charts.drawing.values import Interval, Level


def level(name: str, half: float, *values: float) -> Level:
    return Level(name, tuple(Interval(value, value - half, value + half) for value in values))


def test_one_number_is_said_at_each_level() -> None:
    levels = [level("restricted", 4, 1394), level("public", 16, 1396)]
    expected = "Hospital stays: 1,394 ± 4 for restricted, 1,396 ± 16 for public"
    assert message("Hospital stays", ["all"], levels) == expected
    many = message("stays", ["all"], [*levels, level("a", 20, 1), level("b", 30, 1)])
    assert many.endswith("1 ± 20 for a and 1 more")


def test_of_several_groups_the_smallest_and_the_largest_value_are_said() -> None:
    levels = [level("restricted", 4, 70, -12, 1394), level("public", 16, 1, 2, 3)]
    written = message("stays", ["a", "b", "c"], levels)
    assert written == "stays for restricted: from −12 ± 4 (b) to 1,394 ± 4 (c)"
    some = message("stays", ["a", "b", "c"], levels, 5000)
    assert "stays for restricted, 3 of 5,000 groups: from" in some


def test_a_name_with_brackets_gets_no_second_ones() -> None:
    ages = message("ages", ["[0, 10)", "[10, 20]"], [level("public", 4, 70, 12)])
    assert ages == "ages for public: from 12 ± 4 in [10, 20] to 70 ± 4 in [0, 10)"
    uneven = [Level("", (Interval(3, 2, 5), Interval(9, 8, 12)))]
    assert message("means", ["a", "b"], uneven) == "means: from 3 (2 to 5) in a to 9 (8 to 12) in b"


def test_a_number_has_the_digits_that_its_margin_justifies() -> None:
    assert with_margin(Interval(1.23456, 1.19456, 1.27456)) == "1.23 ± 0.04"
    assert with_margin(Interval(10.0, 5.0, 20.0)) == "10 (5 to 20)"
    assert with_margin(Interval(3.0, 3.0, 3.0)) == "3 ± 0"


def test_no_margin_is_rounded_down() -> None:
    assert with_margin(Interval(566.0, 552.6, 579.4)) == "566 ± 14"
    assert with_margin(Interval(1399.0, 1394.67, 1403.33)) == "1,399 ± 5"
    assert with_margin(Interval(1399.0, 1396.87, 1401.13)) == "1,399 ± 2.2"
    assert with_margin(Interval(1394.0, 1390.0, 1398.0)) == "1,394 ± 4"


def test_a_distribution_and_a_stream_have_their_own_sentences() -> None:
    half = share_message("ages", "public", 0.5, Interval(34.0, 30.0, 38.0))
    assert half == "ages for public: half are below 34 ± 4"
    tenth = share_message("ages", "", 0.1, Interval(34.0, 30.0, 39.0))
    assert tenth == "ages: 10% are below 34 (30 to 39)"
    total = last_message("visits", "total after step 30", [level("public", 16, 3, 1396)])
    assert total == "visits, total after step 30: 1,396 ± 16 for public"


def test_without_values_the_subject_stands_alone() -> None:
    assert message("stays", [], []) == last_message("stays", "step 1", []) == "stays"


def test_no_name_reorders_the_sentence_or_fills_it() -> None:
    written = message("مرحبا\u202e", ["k" * 500, "b"], [level("public", 1, 1, 2)])
    assert "\u202e" not in written
    assert "\u2068" in written
    assert len(written) < 200
