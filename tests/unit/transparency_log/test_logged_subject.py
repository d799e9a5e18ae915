"""Test versions that ascend by subject, and names of rows that are missing."""

from datetime import UTC, datetime

import pytest

from penstock.persistence.tables import Tier
from penstock.transparency_log.logged_subject import ascending, name_of, versions


@pytest.mark.parametrize(
    ("numbered", "expected"),
    [
        ([], True),
        ([("a", 1), ("b", 1), ("a", 2), ("b", 5)], True),
        ([("a", 1), ("a", 1)], False),
        ([("a", 2), ("b", 1), ("a", 1)], False),
        ([("a", 0)], False),
    ],
)
def test_versions_ascend_each_by_itself(numbered: list[tuple[str, int]], expected: bool) -> None:
    assert ascending(numbered) is expected


def test_a_missing_row_has_the_empty_name() -> None:
    assert name_of(None) == ""
    assert (
        name_of(Tier(name="public", folded="public", rank=1, created_at=datetime.now(UTC)))
        == "public"
    )


def test_versions_begin_empty_and_apart() -> None:
    first, second = versions(), versions()
    first["visits", "public"].append(1)
    assert first == {("visits", "public"): [1]}
    assert second == {}
