"""Test the operator of a command: lists in pages, and where messages go."""

import pytest

from penstock.cli.operator import Operator, everything
from penstock.services.pagination import LARGEST_LIMIT, Page, Window

COUNT = 2 * LARGEST_LIMIT + 1


class Numbers:
    """List the numbers below ``COUNT`` in pages, and keep the windows that were requested."""

    def __init__(self) -> None:
        self.windows: list[Window] = []

    def __call__(self, window: Window) -> Page[int]:
        self.windows.append(window)
        first = window.after + 1
        items = list(range(first, min(first + window.limit, COUNT)))
        more = items[-1] < COUNT - 1
        return Page(items, str(items[-1]) if more else None)


def test_a_list_is_read_to_its_end_in_the_largest_pages() -> None:
    numbers = Numbers()
    assert everything(numbers) == list(range(COUNT))
    assert [window.limit for window in numbers.windows] == [LARGEST_LIMIT] * 3


def test_no_page_is_asked_for_beyond_what_is_shown() -> None:
    numbers = Numbers()
    assert everything(numbers, LARGEST_LIMIT) == list(range(LARGEST_LIMIT))
    assert len(numbers.windows) == 1


def test_messages_go_to_standard_error_and_steer_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Operator().say("first\x1b[2J\nsecond")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "first\\u001b[2J\nsecond\n")


def test_progress_is_for_terminals_alone(capsys: pytest.CaptureFixture[str]) -> None:
    Operator().progress("Reading")
    assert capsys.readouterr() == ("", "")
