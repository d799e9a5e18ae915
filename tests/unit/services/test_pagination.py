"""Test windows read from a query string, and pages that say where the next one begins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InvalidInput
from penstock.services.pagination import DEFAULT_LIMIT, LARGEST_LIMIT, Window


@given(st.integers(0, 30), st.integers(1, 12))
def test_pages_put_together_are_the_whole_list(length: int, limit: int) -> None:
    numbers, cursor = list(range(length)), None
    items: list[int] = []
    for _ in range(length + 1):
        window = Window.parse(str(limit), cursor)
        rows = [number for number in numbers if number > window.after][: limit + 1]
        page = window.page(rows, lambda row: row, lambda row: row)
        assert len(page.items) <= limit
        items += page.items
        cursor = page.next_cursor
        if cursor is None:
            break
    assert items == numbers


def test_a_larger_limit_is_clamped_and_none_is_the_default() -> None:
    assert Window.parse(None, None) == Window(DEFAULT_LIMIT, -1)
    assert Window.parse(str(LARGEST_LIMIT + 1), None).limit == LARGEST_LIMIT
    assert Window.parse("9" * 5000, None).limit == LARGEST_LIMIT


@pytest.mark.parametrize("limit", ["", "0", "-1", "1.5", " 5", "+5", "1_000", "٣", "five"])
def test_a_limit_that_is_no_whole_number_is_refused(limit: str) -> None:
    with pytest.raises(InvalidInput, match="whole number from 1") as refusal:
        Window.parse(limit, None)
    assert [pointer for pointer, _ in refusal.value.errors] == ["/limit"]


@pytest.mark.parametrize("cursor", ["", "-1", "1.5", "٣", "9" * 19, "next"])
def test_a_cursor_that_was_never_given_out_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidInput, match="did not issue the cursor"):
        Window.parse(None, cursor)
    assert Window.parse(None, "9" * 18).after == int("9" * 18)
