"""Show what a schedule will have registered and charged by a date, before it is switched on."""

from collections.abc import Sequence
from datetime import datetime
from itertools import islice, takewhile

from sqlmodel import Session, col, select

from penstock.errors import InvalidInput, PenstockError, Unavailable
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.jobs import Schedule
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.datasets.datasets import declared_next
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schedules.feeds import require_feeds
from penstock.services.schedules.pricing import TierPrice, priced
from penstock.services.schedules.refills import require_added_up
from penstock.services.schedules.schedules import exceeds, opened_by, spec_of
from penstock.services.schedules.statements import in_specs
from penstock.services.schedules.templates import requests_of
from penstock.services.schedules.timetable import are_surely_more, times
from penstock.services.schemas.schedules import (
    ForecastStreamView,
    ForecastTierView,
    ForecastView,
    ScheduleSpec,
)
from penstock.services.streams.fed_elements import left
from penstock.spec_fields import folded

MOST = 100_000
"""The occurrences up to which a schedule is computed."""

SHOWN = 10


def forecast(
    server: Server, principal: Principal, spec: ScheduleSpec, until: datetime
) -> ForecastView:
    """Return what a schedule would do from now until a date; nothing is stored or read but specs.

    Raises as ``schedules.create`` does, except for what makes an occurrence fail, which the answer
    states, and ``InvalidInput`` for a date that is too far away.
    """
    principal.require("admin")
    now = server.clock()
    coming = takewhile(lambda at: at <= until, times(spec.cron, spec.timezone, now))
    # First by days: a timetable of every minute has half a million in a year.
    many = are_surely_more(MOST, spec.cron, spec.timezone, now, until)
    due = [] if many else list(islice(coming, MOST + 1))
    if many or len(due) > MOST:
        raise InvalidInput(f"That is more than {MOST} occurrences; name an earlier date.")
    spec = in_specs(server, spec)
    requests = requests_of(spec, due[0] if due else until)
    with server.database.read() as session:
        before = dataset_by_name(session, spec.dataset)
    declared = declared_next(before, requests.version)
    require_added_up(spec, declared)
    refusal, prices, streams = None, list[TierPrice](), list[ForecastStreamView]()
    opened = allowed = 0
    try:
        prices = priced(server, principal, declared, requests)
        with server.database.read() as session:
            require_feeds(session, declared, requests)
            opened = _opened(session, spec)
            allowed = min(_allowed(spec, price, opened, len(due)) for price in prices)
            carried_out = due[:allowed]
            streams = [_stream(session, feed.stream, carried_out) for feed in requests.feeds]
    except Unavailable:
        raise
    except PenstockError as problem:
        refusal = problem.detail
    return ForecastView(
        name=spec.name,
        dataset=spec.dataset,
        until=until,
        first=due[:SHOWN],
        occurrences=len(due),
        opened=opened,
        allowed=allowed,
        disjoint_units=requests.version.disjoint_units,
        tiers=[_tier(spec, price, due, opened, allowed) for price in prices],
        streams=streams,
        refusal=refusal,
    )


def _stream(session: Session, name: str, due: Sequence[datetime]) -> ForecastStreamView:
    """Return what a stream will have been fed with by these occurrences."""
    elements, room, of_a_unit = left(session, name)
    fed = len(due) if room is None else min(len(due), room)
    return ForecastStreamView(
        stream=name,
        elements=elements,
        by_then=elements + fed,
        length=None if room is None else elements + room,
        max_steps_per_unit=of_a_unit,
        ends_at=due[fed] if fed < len(due) else None,
    )


def _opened(session: Session, spec: ScheduleSpec) -> int:
    """Return how many versions the schedule with this spec has opened, if it is stored."""
    row = session.exec(select(Schedule).where(col(Schedule.folded) == folded(spec.name))).first()
    return 0 if row is None or spec_of(row) != spec else opened_by(session, required(row.id))


def _allowed(spec: ScheduleSpec, price: TierPrice, opened: int, count: int) -> int:
    """Return how many of the coming occurrences the total of one tier allows."""
    total, epsilon = spec.total.get(price.tier), price.account.epsilon
    if total is None:
        return count
    return next(
        (number for number in range(count) if exceeds(opened + number + 1, epsilon, total)), count
    )


def _tier(
    spec: ScheduleSpec, price: TierPrice, due: Sequence[datetime], opened: int, allowed: int
) -> ForecastTierView:
    """Return one tier's part; an occurrence above any tier's total is refused as a whole."""
    epsilon, total = price.account.epsilon, spec.total.get(price.tier)
    return ForecastTierView(
        tier=price.tier,
        epsilon=epsilon,
        shares=list(price.shares),
        share=sum(price.shares),
        total=total,
        by_then=(opened + allowed) * epsilon,
        ends_at=due[allowed] if allowed < len(due) else None,
    )
