"""What is asked of the log, or of the history, by a page's filters, which its address holds."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TypedDict

from penstock.errors import InvalidInput
from penstock.transparency_log.leaves import KINDS

ORDERS = ("newest", "oldest")
NAMES = ("user", "actor", "dataset", "query", "tier")
TIMES = ("since", "until")
FILTERS = ("kind", *NAMES, *TIMES)
LABELS = {"since": "From", "until": "Before"}
"""What pages call the times."""

LONGEST_TIME = 40


class Asked(TypedDict):
    """Which leaves are asked for, as the service takes them."""

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
    """The filters as they were typed, to be shown again."""
    return {name: fields.get(name, "").strip() for name in (*FILTERS, "order")}


def filters_of(typed: Mapping[str, str]) -> Asked:
    """What filters mean.  Raises ``InvalidInput`` for those that mean nothing."""
    if typed["kind"] and typed["kind"] not in KINDS:
        raise InvalidInput(f"kind is one of {', '.join(KINDS)}.", pointer="/kind")
    if typed["order"] and typed["order"] not in ORDERS:
        raise InvalidInput(f"order is {' or '.join(ORDERS)}.", pointer="/order")
    since, until = times(typed)
    return Asked(
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
    """From when on, and before when.  Raises ``InvalidInput``."""
    since, until = (_moment(typed[name], name) for name in TIMES)
    if since and until and since >= until:
        raise InvalidInput("No time is from the first on and before the second.", pointer="/until")
    return since, until


def name_in(typed: Mapping[str, str], name: str) -> str | None:
    """A name that somebody typed, if any.  Raises ``InvalidInput`` where nothing is called so."""
    if "\x00" in typed[name]:
        raise InvalidInput(f"No {name} has such a name.", pointer=f"/{name}")
    return typed[name] or None


def _moment(text: str, name: str) -> datetime | None:
    """A day, or a day and a time; in UTC unless it says otherwise."""
    if not text:
        return None
    try:
        if text.isascii() and len(text) <= LONGEST_TIME:
            at = datetime.fromisoformat(text)
            return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise InvalidInput(
        f"{LABELS[name]} is a day or a time in UTC, such as 2026-11-20 or 2026-11-20T12:00.",
        pointer=f"/{name}",
    )
