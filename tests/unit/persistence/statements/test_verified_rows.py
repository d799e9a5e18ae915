"""Test that a row is known again only if nothing about it differs."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from tests.support.forked import in_child

from penstock.persistence.statements.verified_rows import LONGEST, VerifiedRows

ROW: Final[tuple[Any, ...]] = (
    *(b"hmac", 1, "ada", True, None, 0.5),
    datetime(2026, 1, 1, tzinfo=UTC),
)


def kept(*rows: tuple[Any, ...], most: int = 10) -> VerifiedRows:
    verified = VerifiedRows(most)
    for row in rows:
        verified.add("user", row)
    return verified


def knows_nothing(verified: VerifiedRows) -> bool:
    return not verified.has("user", ROW)


def test_a_row_is_known_by_all_of_its_columns_and_its_table() -> None:
    verified = kept(ROW)
    assert verified.has("user", ROW)
    assert not verified.has("token", ROW)
    others = (b"hmad", 2, "Ada", False, 0, 0.25, ROW[-1] + timedelta(microseconds=1))
    for place, other in enumerate(others):
        assert not verified.has("user", (*ROW[:place], other, *ROW[place + 1 :])), place


def test_an_equal_value_of_another_type_is_another_row() -> None:
    verified = kept(ROW)
    for place, other in ((0, bytearray(b"hmac").hex()), (1, True), (1, 1.0), (3, 1), (3, 1.0)):
        assert not verified.has("user", (*ROW[:place], other, *ROW[place + 1 :])), place


def test_a_zero_with_the_other_sign_is_another_row() -> None:
    for zero in (0.0, -0.0):
        verified = kept((b"hmac", 1, zero))
        assert not verified.has("user", (b"hmac", 1, -zero))


def test_rows_with_long_values_are_not_kept() -> None:
    longest, longer = (b"x" * LONGEST, "y" * LONGEST), (b"", "y" * (LONGEST + 1))
    verified = kept(longest, longer, (b"x" * (LONGEST + 1),))
    assert verified.has("user", longest)
    assert not verified.has("user", longer)
    assert not verified.has("user", (b"x" * (LONGEST + 1),))


def test_the_oldest_row_goes_first() -> None:
    rows = [(b"hmac", number) for number in range(4)]
    verified = kept(*rows, most=3)
    assert [verified.has("user", row) for row in rows] == [False, True, True, True]


def test_a_child_process_begins_without_rows() -> None:
    verified = kept(ROW)
    assert in_child(lambda: knows_nothing(verified))
    assert verified.has("user", ROW)
