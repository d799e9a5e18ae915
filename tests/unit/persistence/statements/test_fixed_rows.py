"""Rows of which one column changes are signed as all others are."""

import pytest

from penstock.persistence.row_authentication import columns, is_signed, mac
from penstock.persistence.statements.fixed_rows import FixedRow

KEYS = [bytes([number]) * 32 for number in range(4)]
KNOWN: dict[str, object] = {
    "user_id": 3,
    "release_id": 7,
    "tier_id": 1,
    "leaf_id": 9,
    "at": None,
}


def of(**values: object) -> bytes:
    row = {**KNOWN, **values}
    return mac(KEYS[0], "grant", [row[name] for name in columns("grant")])


@pytest.mark.parametrize("changing", ["leaf_id", "release_id", "tier_id", "user_id"])
def test_the_hmac_is_that_of_the_whole_row_wherever_the_column_is(changing: str) -> None:
    row = FixedRow("grant", KNOWN, changing)
    for value in (0, 5, -1, 10**15):
        assert row.mac(KEYS[0], value) == of(**{changing: value})


def test_every_key_has_its_own_hmac_however_often_they_change() -> None:
    row = FixedRow("grant", KNOWN, "leaf_id")
    for key in [*KEYS, *KEYS[::-1], *KEYS]:
        assert row.mac(key, 5) == mac(
            key, "grant", [{**KNOWN, "leaf_id": 5}[name] for name in columns("grant")]
        )


def test_it_believes_the_row_with_that_value_alone() -> None:
    row = FixedRow("grant", KNOWN, "leaf_id")
    signed = of(leaf_id=5)
    assert is_signed(KEYS[0], "grant", signed, row.at(5))
    assert not is_signed(KEYS[0], "grant", signed, row.at(6))
    assert not is_signed(KEYS[1], "grant", signed, row.at(5))
    other = FixedRow("grant", {**KNOWN, "tier_id": 2}, "leaf_id")
    assert not is_signed(KEYS[0], "grant", signed, other.at(5))


def test_a_value_of_another_type_is_refused() -> None:
    row = FixedRow("grant", KNOWN, "leaf_id")
    assert not is_signed(KEYS[0], "grant", of(leaf_id=5), row.at("5"))
    assert not is_signed(KEYS[0], "grant", of(leaf_id=5), row.at(None))
