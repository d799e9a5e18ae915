"""Make the requests of one occurrence: the schedule's, with the occurrence's date in their names.

The requests depend on the schedule and the time alone, so that an interrupted occurrence that is
carried out again registers the same, or finds it registered.  A source without a date in its name
is the same every time: of its versions an occurrence knows its own by its row.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter

from penstock.connectors.planning.refusals import checked
from penstock.connectors.specs.models import ComputedQuery
from penstock.errors import InvalidInput
from penstock.services.schedules.timetable import zone_of
from penstock.services.schemas.queries import (
    PushedVectorRequest,
    SpecRequest,
    VersionRequest,
)
from penstock.services.schemas.schedules import FeedSpec, ScheduleSpec
from penstock.services.streams.fed_elements import Feed

QUERIES: TypeAdapter[SpecRequest] = TypeAdapter(SpecRequest)


@dataclass(frozen=True)
class Requests:
    """Hold what one occurrence registers: a version, queries on it, and what feeds streams."""

    version: VersionRequest
    queries: list[SpecRequest]
    feeds: list[Feed]


def requests_of(spec: ScheduleSpec, due: datetime) -> Requests:
    """Return the requests of the occurrence that is due then.

    Raises ``InvalidInput`` for requests that are not valid, and for values that are pushed.
    """
    local = due.astimezone(zone_of(spec.timezone))
    words = {"{date}": f"{local:%Y-%m-%d}", "{time}": f"{local:%H%M}"}
    version = checked(VersionRequest, _filled(spec.version, words))
    queries = []
    for query in spec.queries:
        request = checked(SpecRequest, {**_filled(query, words), "dataset": spec.dataset})
        if isinstance(request, PushedVectorRequest):
            raise InvalidInput(
                "A schedule holds no values: its queries are computed from the dataset's file.",
                pointer="/queries",
            )
        queries.append(request)
    return Requests(version, queries, [_feed(spec.dataset, feed) for feed in spec.streams])


def _feed(dataset: str, feed: FeedSpec) -> Feed:
    """Return a stream and its query, which has no name and no levels of its own."""
    named = {**feed.query, "name": feed.stream, "dataset": dataset}
    return Feed(feed.stream, checked(ComputedQuery, named))


def _filled(content: Any, words: dict[str, str]) -> Any:
    """Return a document with the words in its file's name and in its own."""
    filled = dict(content)
    if isinstance(filled.get("name"), str):
        filled["name"] = _replaced(filled["name"], words)
    source = filled.get("source")
    if isinstance(source, dict):
        filled["source"] = {
            key: _replaced(value, words) if isinstance(value, str) else value
            for key, value in source.items()
        }
    return filled


def _replaced(text: str, words: dict[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(word, value)
    return text
