"""Test that the demo's invented calls follow the formulas that are told of them."""

from penstock.demo.calls import DAYS, PUSHES, TENTHS, WEEK, by_topic, on, pushes


def test_every_day_is_pushed_once_in_order() -> None:
    parts = pushes()
    assert [len(calls) for _, calls in parts] == list(PUSHES)
    assert [first for first, _ in parts] == [1, 31, 61, 91]
    assert [call for _, calls in parts for call in calls] == [on(day) for day in range(1, DAYS + 1)]


def test_a_week_rises_by_one_call_a_day_every_fortnight() -> None:
    assert [on(day) for day in range(1, 8)] == list(WEEK)
    assert all(on(day + 14) == on(day) + 1 for day in range(1, DAYS))


def test_topics_share_all_calls() -> None:
    assert sum(TENTHS) == 10
    total = sum(on(day) for day in range(1, DAYS + 1))
    assert 0 <= total - sum(by_topic()) < len(TENTHS)
