"""Test the table of figures."""

import pytest
from tests.benchmarks.figures import Figure, Goal, table
from tests.benchmarks.pairing import in_turns, ratio


@pytest.mark.parametrize(
    ("goal", "value", "reached"),
    [
        (Goal(0.25), 0.25, True),
        (Goal(0.25), 0.24, False),
        (Goal(4, at_most=True), 4, True),
        (Goal(4, at_most=True), 4.1, False),
    ],
)
def test_a_goal_is_reached_from_its_side(goal: Goal, value: float, reached: bool) -> None:
    assert goal.reached(value) is reached


def test_a_table_is_aligned_and_says_which_goals_are_missed() -> None:
    figures = [
        Figure("rate", 1234.5, "/s"),
        Figure("ratio of two", 0.03125, "x", (0.03, 0.04), Goal(0.25)),
        Figure("milliseconds", 4.5678, "ms", goal=Goal(5, at_most=True)),
    ]
    assert table("title", figures).splitlines() == [
        "title",
        "  figure         value            quartiles     goal  reached",
        "  rate            1234  /s",
        "  ratio of two  0.0312  x   0.0300 - 0.0400  >= 0.25  NO",
        "  milliseconds    4.57  ms                      <= 5  yes",
    ]


def test_a_ratio_is_that_of_the_medians_with_quartiles_of_the_pairs() -> None:
    found = ratio("twice", [2.0, 4.0, 6.0, 80.0], [1.0, 2.0, 3.0, 4.0])
    assert found.value == 2
    assert found.spread == (2.0, 15.5)


def test_tasks_take_turns_in_another_order_every_round() -> None:
    order: list[str] = []
    taken = in_turns(2, {"a": lambda: order.append("a"), "b": lambda: order.append("b")})
    assert order == ["a", "b", "a", "b", "b", "a"]
    assert {name: len(times) for name, times in taken.items()} == {"a": 2, "b": 2}
