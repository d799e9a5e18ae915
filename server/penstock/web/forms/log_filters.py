"""Read the filters of the audit log and of the history from a page's address."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TypedDict

from penstock.errors import InvalidInput
from penstock.transparency_log.leaves import KINDS

ORDERS = ("newest", "oldest")
NAMES = ("user", "actor", "dataset", "query", "tier")
TIMES = ("since", "until")
FILTERS = ("kind", *NAMES, *TIMES)
LABELS = {"since": "From", "until": "Before", "from": "From", "to": "Before"}
"""Labels of the fields for times."""

LONGEST_TIME = 40


class LeafFilters(TypedDict):
    """Hold filters of leaves, as the service takes them."""

    kind: str | None
    user: str | None
    actor: str | None
    dataset: str | None
    query: str | None
    tier: str | None
    since: datetime | None
    until: datetime | None
    newest_first: bool


def given(fields: Mapping[str, str]) -> dict[str, str]:
    """Return the filters as typed, to be shown again."""
    return {name: fields.get(name, "").strip() for name in (*FILTERS, "order")}


def filters_of(typed: Mapping[str, str]) -> LeafFilters:
    """Return the typed filters as the service takes them.  Raises ``InvalidInput``."""
    if typed["kind"] and typed["kind"] not in KINDS:
        raise InvalidInput(f"The kind must be one of {', '.join(KINDS)}.", pointer="/kind")
    if typed["order"] and typed["order"] not in ORDERS:
        raise InvalidInput(f"The order must be {' or '.join(ORDERS)}.", pointer="/order")
    since, until = times(typed)
    return LeafFilters(
        kind=typed["kind"] or None,
        user=name_in(typed, "user"),
        actor=name_in(typed, "actor"),
        dataset=name_in(typed, "dataset"),
        query=name_in(typed, "query"),
        tier=name_in(typed, "tier"),
        since=since,
        until=until,
        newest_first=typed["order"] != "oldest",
    )


def times(typed: Mapping[str, str]) -> tuple[datetime | None, datetime | None]:
    """Return the earliest time, and the time before which all are.  Raises ``InvalidInput``."""
    since, until = (moment_in(typed, name) for name in TIMES)
    if since and until and since >= until:
        raise InvalidInput(
            "The time in From must be earlier than the time in Before.", pointer="/until"
        )
    return since, until


def name_in(typed: Mapping[str, str], name: str) -> str | None:
    """Return the typed name, if any.  Raises ``InvalidInput`` if no name can be like that."""
    if "\x00" in typed[name]:
        raise InvalidInput(
            f"No {name} has this name: it contains a null character.", pointer=f"/{name}"
        )
    return typed[name] or None


def moment_in(typed: Mapping[str, str], name: str) -> datetime | None:
    """Return a date, or a date and time, in UTC; a text without a time zone is in UTC.

    Raises ``InvalidInput`` if it is neither; without a text it is None.
    """
    text = typed.get(name, "").strip()
    if not text:
        return None
    try:
        if text.isascii() and len(text) <= LONGEST_TIME:
            at = datetime.fromisoformat(text)
            return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise InvalidInput(
        f"{LABELS[name]} must be a date or a time in UTC, such as 2026-11-20 or 2026-11-20T12:00.",
        pointer=f"/{name}",
    )
