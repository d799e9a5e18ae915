"""Read the form that makes a schedule; the models of the API report what is wrong with it.

Queries and streams are JSON, as the command line and the API take them.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NoReturn

from penstock.connectors.planning.refusals import Refusals, checked, within
from penstock.connectors.specs.empty_fields import TO_ENTER
from penstock.errors import InvalidInput
from penstock.nesting import DEEPEST, shallow
from penstock.services.schedules.statements import Reader
from penstock.services.schedules.templates import requests_of
from penstock.services.schedules.timetable import next_after
from penstock.services.schemas.schedules import FeedSpec, ScheduleSpec
from penstock.web.forms.form_input import filled, number

DAYS, MOST_DAYS = 366, 3660
"""The days that a forecast looks ahead, if none are typed, and the most."""

LONGEST_JSON = 15_000
"""The characters of queries, and of streams: more of both would not go through a form."""

TIMETABLES = (
    ("0 3 * * *", "every day at 3:00"),
    ("0 3 * * 1", "every Monday at 3:00"),
    ("30 6 1 * *", "the first day of every month at 6:30"),
    ("0 0 1 1,4,7,10 *", "the first day of every quarter at midnight"),
    ("0 */6 * * *", "every six hours"),
)
"""Timetables to copy, each with what it means."""

MISSED = (
    ("late", "carry out the newest one late"),
    ("skip", "skip them all"),
)
REFUSED = (
    ("switch_off", "the schedule is switched off"),
    ("go_on", "the schedule goes on with the next one"),
)

EXAMPLE = """\
[
  {
    "name": "people-{date}",
    "aggregate": {"type": "count_units"},
    "mechanism": "gaussian",
    "share": 0.1
  }
]"""
"""A query that every dataset with a declared privacy unit can have."""

EXAMPLE_OF_STREAMS = """\
[
  {
    "stream": "people",
    "query": {
      "aggregate": {"type": "count_units"},
      "contribution": {"max_groups": 1}
    }
  }
]"""
"""A stream of the dataset's, which is open, and what its elements are."""

_OF_VERSION = ("/source", "/budgets", "/disjoint_units", "/max_units")
_NO_TOTAL = (
    "Enter a total for each tier that has a budget in each version: a number above 0, for example"
    " 12 times that budget."
)


def spec_of(
    given: Mapping[str, str],
    source: Mapping[str, str],
    tiers: Iterable[str],
    now: datetime,
    read: Reader,
) -> ScheduleSpec:
    """Return the schedule that a form describes, over the data of ``source``.

    ``read`` returns the spec of a query that may be in SQL.  Raises ``InvalidInput``, whose
    pointers are those of the form: ``/version``, ``/queries`` and ``/streams`` before what concerns
    the version, one query or one stream.
    """
    tiers = list(tiers)
    refusals, content = Refusals(), _content(given, source, tiers)
    for field in ("queries", "streams"):
        with refusals, within(field):
            content[field] = _list(given.get(field, ""))
    with refusals, placed():
        spec = checked(ScheduleSpec, content)
    refusals.raise_all()
    return _rendered(spec, now, read)


def days_of(given: Mapping[str, str]) -> int:
    """Return the days that a forecast looks ahead.  Raises ``InvalidInput``."""
    days = number(given.get("days", ""))
    if days is None:
        return DAYS
    if not isinstance(days, int) or not 1 <= days <= MOST_DAYS:
        raise InvalidInput(
            f"Enter a whole number of days from 1 to {MOST_DAYS}, for example {DAYS}.",
            pointer="/days",
        )
    return days


@contextmanager
def placed() -> Iterator[None]:
    """Let refusals raised in the block point to the fields of the form."""
    try:
        yield
    except InvalidInput as error:
        error.errors = tuple(_placed(place, detail) for place, detail in error.errors)
        raise


def _placed(place: str, detail: str) -> tuple[str, str]:
    if place == "/version":
        return "/version/disjoint_units", detail
    if (place, detail) == ("/total", TO_ENTER["total"]):
        return "/total", _NO_TOTAL
    return (f"/version{place}" if place.startswith(_OF_VERSION) else place), detail


def _content(
    given: Mapping[str, str], source: Mapping[str, str], tiers: list[str]
) -> dict[str, Any]:
    version = {
        "source": dict(source),
        "budgets": {tier: {"epsilon": own} for tier, own in _by_tier(given, "epsilon", tiers)},
        "disjoint_units": "disjoint_units" in given,
        **filled(max_units=number(given.get("max_units", ""))),
    }
    return {
        "name": given.get("name", "").strip(),
        "dataset": given.get("dataset", ""),
        "cron": given.get("cron", "").strip(),
        "version": version,
        "total": dict(_by_tier(given, "total", tiers)),
        **filled(
            timezone=given.get("timezone", "").strip(),
            missed=given.get("missed", ""),
            refused=given.get("refused", ""),
        ),
    }


def _by_tier(
    given: Mapping[str, str], field: str, tiers: Iterable[str]
) -> Iterator[tuple[str, object]]:
    for tier in tiers:
        typed = number(given.get(f"{field} {tier}", ""))
        if typed is not None:
            yield tier, typed


def _rendered(spec: ScheduleSpec, now: datetime, read: Reader) -> ScheduleSpec:
    """Return the schedule, whose requests are valid.  Raises ``InvalidInput``."""
    due = next_after(spec.cron, spec.timezone, now)
    with within("version"):
        requests_of(spec.model_copy(update={"queries": [], "streams": []}), due)
    refusals = Refusals()
    listed: tuple[tuple[str, str, Sequence[dict[str, Any] | FeedSpec]], ...] = (
        ("queries", "Query", spec.queries),
        ("streams", "Stream", spec.streams),
    )
    for field, word, entries in listed:
        for place, entry in enumerate(entries):
            with refusals, within(field, place), _numbered(f"{word} {place + 1}"):
                alone = {"queries": [], "streams": [], field: [_in_spec(entry, read)]}
                requests_of(spec.model_copy(update=alone), due)
    refusals.raise_all()
    return spec


def _in_spec(entry: dict[str, Any] | FeedSpec, read: Reader) -> dict[str, Any] | FeedSpec:
    if not isinstance(entry, FeedSpec):
        return read(entry)
    with within("query"):
        return FeedSpec(stream=entry.stream, query=read(entry.query))


@contextmanager
def _numbered(entry: str) -> Iterator[None]:
    """Say in refusals raised in the block which query or stream they are about."""
    try:
        yield
    except InvalidInput as error:
        error.errors = tuple(
            (inner, f"{entry}{_within(inner)}: {detail}") for inner, detail in error.errors
        )
        raise


def _within(pointer: str) -> str:
    """Return which field of it is wrong, in words."""
    parts = [part for part in pointer.split("/") if part]
    return f", {' '.join(parts)}" if parts else ""


def _list(text: str) -> list[Any]:
    """Return a list of objects from its JSON; empty if nothing was typed."""
    if not text.strip():
        return []
    try:
        content = json.loads(
            shallow(text), parse_constant=_refuse_constant, object_pairs_hook=_distinct
        )
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"This is not JSON: {error.msg} in line {error.lineno}, column {error.colno}."
        ) from None
    except ValueError:
        raise InvalidInput(
            f"This nests more than {DEEPEST} deep, or a number has too many digits."
        ) from None
    if not isinstance(content, list) or not all(isinstance(each, dict) for each in content):
        raise InvalidInput("This must be a list of objects, for example as below.")
    return content


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidInput(f"{name} is not a number in JSON; leave it out, or give a finite one.")


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise InvalidInput("An object contains a name twice; keep one of the two.")
    return content
