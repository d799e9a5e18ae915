"""Turn what waits for an admin into figures with links, and new releases into small charts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from penstock.figures import percent
from penstock.services.overviews.duties import ENDING_DAYS, DutiesView
from penstock.services.overviews.own_data import ResultView
from penstock.services.overviews.spent_shares import SpentSharesView
from penstock.web.presenters.figure import Picture, small
from penstock.web.presenters.release_charts import PLAIN, release_picture

NEARLY_SPENT: Final = 0.8
"""The share of a budget above which a dataset is counted."""

OLD_BACKUP: Final = timedelta(days=7)
OLD_KEY: Final = timedelta(days=365)
"""The ages from which a figure stands out."""

_NAMES: Final = {"provider": "key provider"}


@dataclass(frozen=True)
class Figure:
    """Hold a large figure with its title, a remark, and the page that deals with it.

    One that ``presses`` stands out; ``fields`` are in the address of the page.
    """

    title: str
    text: str
    remark: str
    page: str
    fields: dict[str, str]
    presses: bool = False


@dataclass(frozen=True)
class Result:
    """Hold a release with its title, the sentence that its first numbers say, and their chart.

    ``picture`` is None if only its page has the numbers.
    """

    view: ResultView
    title: str
    picture: Picture | None


def figures(
    duties: DutiesView, spent: SpentSharesView, backup_at: datetime | None, now: datetime
) -> list[Figure]:
    """Return the figures of an admin's page, in their order."""
    high = spent.above(NEARLY_SPENT)
    whole = spent.looked_at == spent.count
    among = f"of {_counted(spent.count, 'dataset')}"
    key = duties.oldest_key
    return [
        Figure(
            "Requests waiting",
            f"{duties.requests:,}",
            "of analysts, for queries",
            "query_requests",
            {},
            duties.requests > 0,
        ),
        Figure(
            "Proposals waiting",
            f"{duties.proposals:,}",
            "for a second admin",
            "proposals",
            {"state": "open"},
            duties.proposals > 0,
        ),
        Figure(
            f"Budgets above {percent(NEARLY_SPENT)}",
            f"{len(high):,}",
            among if whole else f"of the {spent.looked_at} newest, {among}",
            "budgets",
            {},
            bool(high),
        ),
        Figure(
            "Last backup",
            "none known" if backup_at is None else age(backup_at, now),
            "by penstock backup, of this home",
            "documentation",
            {},
            backup_at is None or now - backup_at > OLD_BACKUP,
        ),
        Figure(
            "Oldest key",
            age(duties.rotated_at, now),
            f"{_NAMES.get(key, key)}: since it was made or rotated",
            "keys",
            {},
            now - duties.rotated_at > OLD_KEY,
        ),
        Figure(
            f"Tokens that end in {ENDING_DAYS} days",
            f"{duties.ending:,}",
            _named(duties.people) if duties.ending else "of people who are not disabled",
            "people",
            {},
            duties.ending > 0,
        ),
    ]


def age(then: datetime, now: datetime) -> str:
    """Return how long ago something was, in the largest unit of which there is a whole one."""
    minutes = max(int((now - then).total_seconds()) // 60, 0)
    if minutes < 60:
        return _counted(minutes, "minute")
    return _counted(minutes // 60, "hour") if minutes < 48 * 60 else f"{minutes // 1440:,} days"


def result(view: ResultView, place: int) -> Result:
    """Return a release with its chart; ``place`` is its number on the page, for ids."""
    texts = view.texts or PLAIN
    title = texts.title or view.query
    if view.release is None:
        return Result(view, title, None)
    drawn = release_picture(view.release, f"{view.query} at {view.tier}", wording=texts)
    return Result(view, drawn.message or title, small(drawn, f"result{place}"))


def _named(people: Sequence[str]) -> str:
    return f"the first of {people[0]}" if len(people) > 1 else f"of {people[0]}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
