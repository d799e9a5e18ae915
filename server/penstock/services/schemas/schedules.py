"""Describe schedules: what is registered by a timetable, and how much of a budget that may take."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field, model_validator
from pydantic_core import PydanticCustomError

from penstock.spec_fields import Name, Spec, folded

MOST_QUERIES = 100
LONGEST_CRON = 128


class FeedSpec(Spec):
    """Represent a stream whose next element is a query's exact answer on the new version.

    ``query`` has what a query's spec says of the data: where, group_by, aggregate, contribution.
    """

    stream: Name
    query: dict[str, Any]


class ScheduleSpec(Spec):
    """Represent a new version of a dataset and the queries on it, by a timetable.

    ``version`` is what registers a version, and ``queries`` what registers queries, without their
    dataset; in the file's name and in names of queries ``{date}`` stands for the occurrence's date
    in the time zone, and ``{time}`` for its time.  A file or view without it is refilled before
    each occurrence: one whose data are those of an earlier version is skipped, except for views
    whose rows nobody recognizes, which are charged each time.

    Each of ``streams`` takes one element of each version, for which nothing is charged: a stream is
    charged when it is opened.  ``total`` is the most epsilon, by tier, that all versions of this
    schedule may have together.  An occurrence that
    is more than an hour late is ``missed``: the newest one is carried out late, or all are skipped.
    ``refused`` says whether an occurrence that is refused switches the schedule off.
    """

    name: Name
    dataset: Name
    cron: Annotated[str, Field(max_length=LONGEST_CRON)]
    timezone: Annotated[str, Field(max_length=LONGEST_CRON)] = "UTC"
    version: dict[str, Any]
    queries: Annotated[list[dict[str, Any]], Field(max_length=MOST_QUERIES)] = Field(
        default_factory=list
    )
    streams: Annotated[list[FeedSpec], Field(max_length=MOST_QUERIES)] = Field(default_factory=list)
    total: Annotated[dict[Name, Annotated[float, Field(gt=0)]], Field(min_length=1)]
    missed: Literal["late", "skip"] = "late"
    refused: Literal["switch_off", "go_on"] = "switch_off"

    @property
    def is_dated(self) -> bool:
        """Return True if each occurrence has a source of its own, by its date."""
        return "{date}" in str(self.version.get("source"))

    @model_validator(mode="after")
    def _names_differ(self) -> "ScheduleSpec":
        if not all("{date}" in str(query.get("name")) for query in self.queries):
            raise PydanticCustomError(
                "name",
                "Each query's name needs {date}: a name is used once.",
                {"field": "queries"},
            )
        if len({folded(feed.stream) for feed in self.streams}) < len(self.streams):
            raise PydanticCustomError(
                "streams",
                "A stream is listed twice: a version feeds a stream with one element.",
                {"field": "streams"},
            )
        if self.streams and self.version.get("disjoint_units"):
            raise PydanticCustomError(
                "disjoint_units",
                "A stream is charged to the version in which it was opened, and counts for people"
                " of later versions only if versions are added up: leave disjoint_units out.",
                {"field": "version"},
            )
        budgets = self.version.get("budgets")
        # What else a version's budgets may be is checked with the version, once it is rendered.
        if not isinstance(budgets, dict) or set(self.total) != set(budgets):
            raise PydanticCustomError(
                "total",
                "The tiers of total are not those of the version's budgets: name each of them in"
                " both, in total with the most epsilon that all versions may have together.",
                {"field": "total"},
            )
        return self


class ScheduleChange(Spec):
    """Represent whether a schedule is to be on, and when the one that is meant was made.

    Without ``made_at`` it is the one that has the name now.
    """

    on: bool
    made_at: Annotated[AwareDatetime, Field(strict=False)] | None = None


@dataclass(frozen=True)
class OccurrenceView:
    """Hold one occurrence: when it was due, what became of it, and the elements by stream."""

    due_at: datetime
    state: str
    version: int | None
    problem: str | None
    finished_at: datetime | None
    elements: dict[str, int]


@dataclass(frozen=True)
class ScheduleView:
    """Hold a schedule and its newest occurrences; ``next_at`` is null while it is off."""

    name: str
    made_at: datetime
    by: str
    on: bool
    next_at: datetime | None
    reason: str | None
    spec: dict[str, Any]
    occurrences: list[OccurrenceView]


@dataclass(frozen=True)
class ForecastTierView:
    """Hold what a schedule takes at one tier.

    ``epsilon`` is a version's budget, and ``shares`` the part of it that each query is charged;
    ``by_then`` is the sum of the epsilons of all its versions until the date.  ``ends_at`` is the
    first occurrence that ``total`` does not allow, null if that is after the date.
    """

    tier: str
    epsilon: float
    shares: list[float]
    share: float
    total: float | None
    by_then: float
    ends_at: datetime | None


@dataclass(frozen=True)
class ForecastStreamView:
    """Hold what a schedule feeds a stream with: how many elements it has now, and by the date.

    Nothing is charged for them: it was charged for units that are in at most
    ``max_steps_per_unit`` of its elements.  ``ends_at`` is the first occurrence for which the
    stream has no room, null if that is after the date.
    """

    stream: str
    elements: int
    by_then: int
    length: int | None
    max_steps_per_unit: int
    ends_at: datetime | None


@dataclass(frozen=True)
class ForecastView:
    """Hold what a schedule will do until a date; ``refusal`` says why an occurrence would fail.

    ``opened`` is how many versions it has opened before, which count, and ``allowed`` how many of
    the coming ``occurrences`` the total allows.
    """

    name: str
    dataset: str
    until: datetime
    first: list[datetime]
    occurrences: int
    opened: int
    allowed: int
    disjoint_units: bool
    tiers: list[ForecastTierView]
    streams: list[ForecastStreamView]
    refusal: str | None
