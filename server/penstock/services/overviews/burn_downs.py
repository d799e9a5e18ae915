"""Tell how much was left of the budgets in a dataset over time, by tier.

What is left is what the accountant says: the room in the account of a tier, as a share of the
budget that was in force then.  Each charge is stored with the total of its account, so that nothing
is composed anew.  Analysts see times of charges for queries in their sight alone; what an account
was charged besides is in the next of them, as it is in what is left now.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final

from sqlmodel import Session, col, select

from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset, TierBudget
from penstock.persistence.tables.ledger import SpentFloor
from penstock.persistence.tables.people import Tier
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.ledger.accounts import TierAccount, open_account
from penstock.services.repository.charges import charges_in_sight
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.people import clearance_of, ordered_tiers

MOST_TIMES: Final = 60
"""The most times at which budgets are shown."""

PACE: Final = timedelta(days=30)
"""What a pace is taken from: the last days, of an account that is at least as old."""

FEWEST_DAYS: Final = 3
"""The fewest days with charges that make a pace."""

LONGEST: Final = timedelta(days=730)
"""How far a pace is carried on."""


@dataclass(frozen=True)
class TierCourseView:
    """Hold the shares that were left of a tier's budget, one for each time of its dataset.

    A share is null before the tier had a budget.  ``ends_in`` is the time until nothing is left at
    the pace of the last 30 days, if there is one, and ``charged_at`` the last charge in sight.
    ``hides`` is True if since then it was charged for what the caller does not see, or if charges
    of it were lost in a restore, so that nobody can tell when the last one was.
    """

    tier: str
    shares: list[float | None]
    ends_in: timedelta | None
    charged_at: datetime | None
    hides: bool


@dataclass(frozen=True)
class BurnDownView:
    """Hold what was left of each budget in a dataset's newest version at some times.

    Tiers come least trusted first; the last time is the present.
    """

    dataset: str
    times: list[datetime]
    tiers: list[TierCourseView]


@dataclass(frozen=True)
class Step:
    """Represent an account from a time on: what it may spend, and has spent, in 2^-40.

    ``charges`` is True if the step is a charge in sight, and ``lost`` if charges before it were
    lost in a restore.
    """

    at: datetime
    limit: int
    spent: int
    charges: bool = False
    lost: bool = False

    @property
    def left(self) -> float:
        """Return the share of the budget that is not spent."""
        return max(0.0, 1.0 - self.spent / self.limit)


def look(server: Server, principal: Principal, name: str) -> BurnDownView:
    """Return what was left over time: of all tiers for admins and auditors, of one's own otherwise.

    Without a budget that the caller sees there are no tiers.  Raises ``NotFound``.
    """
    now = server.clock()
    with server.database.read() as session:
        dataset = dataset_by_name(session, name)
        tiers: list[Tier] = list(ordered_tiers(session))
        limit = None
        if not principal.roles & {"admin", "auditor"}:
            limit = clearance_of(session, required(principal.user_id))
            tiers = [limit] if limit else []
        accounts = [(tier, _steps(session, dataset, tier, limit, now)) for tier in tiers]
    courses = [(tier.name, steps) for tier, steps in accounts if steps]
    times = thinned(sorted({step.at for _, steps in courses for step in steps}))
    return BurnDownView(dataset.name, times, [_course(*course, times) for course in courses])


def _steps(
    session: Session, dataset: Dataset, tier: Tier, limit: Tier | None, now: datetime
) -> list[Step]:
    account = open_account(session, required(dataset.id), tier)
    if account is None:
        return []
    of_account = (col(TierBudget.dataset_id) == dataset.id, col(TierBudget.tier_id) == tier.id)
    budgets = session.exec(select(TierBudget).where(*of_account).order_by(col(TierBudget.version)))
    lost = (col(SpentFloor.dataset_id) == dataset.id, col(SpentFloor.tier_id) == tier.id)
    floors = session.exec(select(SpentFloor).where(*lost).order_by(col(SpentFloor.id)))
    charges = charges_in_sight(session, required(dataset.id), tier, limit)
    events = [
        *(_Event(row.at, limit=row.limit_loss) for row in budgets),
        *(_Event(row.at, floor=row.loss) for row in floors),
        *(_Event(row.at, total=row.total) for row in charges),
    ]
    return list(_in_order(events, account, now))


@dataclass(frozen=True)
class _Event:
    """Hold what one row says of an account: a budget, a charge's total, or the least spent."""

    at: datetime
    limit: int | None = None
    floor: int = 0
    total: int | None = None


def _in_order(events: Iterable[_Event], account: TierAccount, now: datetime) -> Iterator[Step]:
    """Yield one step for each time at which something happened, and one for the present."""
    limit = floor = total = 0
    for at, same in groupby(sorted(events, key=lambda event: event.at), key=lambda event: event.at):
        charges = False
        for event in same:
            limit = limit if event.limit is None else event.limit
            floor = max(floor, event.floor)
            charges = charges or event.total is not None
            total = total if event.total is None else event.total
        if limit and at <= now:
            yield Step(at, limit, max(total, floor), charges)
    yield Step(now, limit, account.spent.loss, lost=floor > 0)


def thinned(times: Sequence[datetime], most: int = MOST_TIMES) -> list[datetime]:
    """Return at most so many of the times, which rise: of each part of their span the last one."""
    if len(times) <= most:
        return list(times)
    first, span = times[0], times[-1] - times[0]
    last_of = {min(int((at - first) / span * (most - 1)), most - 2): at for at in times}
    return [first, *(at for at in last_of.values() if at != first)]


def _course(tier: str, steps: Sequence[Step], times: Sequence[datetime]) -> TierCourseView:
    shares: list[float | None] = []
    rest, current = list(reversed(steps)), None
    for at in times:
        while rest and rest[-1].at <= at:
            current = rest.pop()
        shares.append(None if current is None else current.left)
    charged = [step.at for step in steps if step.charges]
    *earlier, now = steps
    known = earlier[-1].spent if earlier else 0
    return TierCourseView(
        tier, shares, ends_in(steps), max(charged, default=None), now.spent > known or now.lost
    )


def ends_in(steps: Sequence[Step]) -> timedelta | None:
    """Return when nothing is left at the pace of the last 30 days, if these show one.

    The account is as old as that, none of its charges were lost, and there were some on at least
    three of the days; what is more than two years away is not told.
    """
    *before, now = steps
    start = now.at - PACE
    old = [step for step in before if step.at <= start]
    days = {step.at.date() for step in before if step.charges and step.at > start}
    if now.lost or not old or len(days) < FEWEST_DAYS or now.spent >= now.limit:
        return None
    spent = now.spent - old[-1].spent
    if spent <= 0:
        return None
    parts = (now.limit - now.spent) / spent
    return PACE * parts if parts <= LONGEST / PACE else None
