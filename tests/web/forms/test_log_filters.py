"""Test filters of the audit log: read as typed, in UTC, or refused at their field."""

from datetime import UTC, datetime

import pytest

from penstock.errors import InvalidInput
from penstock.web.forms.log_filters import FILTERS, filters_of, given


def typed(**fields: str) -> dict[str, str]:
    return given(fields)


def test_what_is_left_empty_filters_nothing() -> None:
    filters = dict(filters_of(typed()))
    assert filters.pop("newest_first") is True
    assert filters == dict.fromkeys(FILTERS)


def test_a_day_begins_in_utc_and_another_zone_is_converted() -> None:
    filters = filters_of(typed(since="2026-11-20", until="2026-11-21T02:00+02:00"))
    assert filters["since"] == datetime(2026, 11, 20, tzinfo=UTC)
    assert filters["until"] == datetime(2026, 11, 21, tzinfo=UTC)


def test_spaces_around_what_was_typed_do_not_count() -> None:
    filters = filters_of(typed(kind=" release ", user=" ann ", order="oldest"))
    assert (filters["kind"], filters["user"], filters["newest_first"]) == ("release", "ann", False)


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"kind": "nothing"}, "/kind"),
        ({"order": "largest"}, "/order"),
        ({"since": "yesterday"}, "/since"),
        ({"since": "9999-12-31T23:59-23:59"}, "/since"),
        ({"until": "2" * 41}, "/until"),
        ({"since": "2026-11-20", "until": "2026-11-20"}, "/until"),
        ({"tier": "a\x00b"}, "/tier"),
    ],
)
def test_a_filter_that_means_nothing_is_refused_at_its_field(
    fields: dict[str, str], pointer: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        filters_of(typed(**fields))
    assert refusal.value.errors[0][0] == pointer
