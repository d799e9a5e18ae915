"""Continue after a restore: nothing that was lost is drawn again or given back.

After a database was restored to an older state nobody can tell what it had drawn since.  So its
queries release what is stored and draw nothing more, and its accounts have spent at least what
the witness saw: later registrations are charged on top of that.  Of allowances it saw nothing, so
they are all taken back.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from sqlmodel import Session, col, func, select

from penstock.errors import Conflict, LogUnavailable, PenstockError, Suspended
from penstock.persistence.protocol import Need
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.jobs import Occurrence, Schedule
from penstock.persistence.tables.ledger import SpentFloor
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query
from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal
from penstock.services.access.two_person_rule import require_second
from penstock.services.audit.logged_restores import record_restore
from penstock.services.context import Server
from penstock.services.datasets import allowances
from penstock.transparency_log import checkpoints, leaves
from penstock.transparency_log.sights import NOTHING, Sight
from penstock.transparency_log.spending import account_name, peaks
from penstock.transparency_log.views import RestorePreviewView, RestoreView

_RESTORED = (
    "The database was restored to an older state, and what was carried out since then is lost."
    " Before the schedule is switched on again, compare the versions and queries that others know"
    " of with those that are here: the same data must not be registered a second time."
)


def acknowledge(server: Server, principal: Principal) -> RestoreView:
    """End the suspension of a restored (older) database, or of one whose witness was lost.

    Raises ``Conflict`` if nothing is suspended, and ``ApprovalNeeded``.
    """
    principal.require("admin")
    seen = what_was_seen(server)
    with server.database.write_unwatched(need=Need.RELIEF) as session:
        require_second(server)
        view, after = acknowledge_within(session, server, principal, seen)
    after()
    return view


def trouble(server: Server) -> str | None:
    """Return the reason why nothing is drawn or changed now, or None if none is known.

    It is checked again only if there was a reason at the last check: pages call this at every
    visit, and another process may have ended the suspension.
    """
    if server.sequencer.suspended is None:
        return None
    return _unsound(server)


def preview(server: Server, principal: Principal) -> RestorePreviewView | None:
    """Return what acknowledging the restore would do, or None if there is no restore.

    Nothing is done.  Raises ``Forbidden``.
    """
    principal.require("admin")
    problem = _unsound(server)
    if problem is None:
        return None
    try:
        seen = what_was_seen(server)
    except Conflict:
        return None  # ended in the meantime
    with server.database.read() as session:
        floors, unknown = _floors(session, seen or NOTHING, peaks(session))
        newest = checkpoints.newest(session)
        drawing = select(func.count()).select_from(Query).where(col(Query.frozen).is_(None))
        return RestorePreviewView(
            problem=problem,
            witnessed=seen.size if seen else None,
            leaves=newest.size if newest else 0,
            frozen=session.exec(drawing).one(),
            charged=len(floors),
            datasets=_lost(session, unknown),
            basis=f"{seen.size}-{seen.root.hex()}" if seen else "lost",
        )


def _unsound(server: Server) -> str | None:
    try:
        server.sequencer.require_sound()
    except PenstockError as problem:
        return problem.detail
    return None


def acknowledge_within(
    session: Session, server: Server, principal: Principal, seen: Sight | None
) -> tuple[RestoreView, Callable[[], None]]:
    """Acknowledge the restore as a part of a transaction that is not watched; see ``acknowledge``.

    The second result makes the witness start over; call it after the commit.
    """
    now = server.clock()
    known, before = seen or NOTHING, peaks(session)
    queries = session.exec(select(Query).where(col(Query.frozen).is_(None))).all()
    for query in queries:
        query.frozen = leaves.timestamp(now)
        session.add(query)
    floors, unknown = _floors(session, known, before)
    lost = _lost(session, unknown)
    for dataset, tier_id, (loss, failure) in floors:
        session.add(
            SpentFloor(
                dataset_id=required(dataset.id),
                tier_id=tier_id,
                loss=loss,
                failure=failure,
                at=now,
            )
        )
    leaf = record_restore(
        session,
        principal,
        now,
        witnessed=seen.size if seen else None,
        lost=None if seen else _lost_by(server),
        root=known.root.hex() or None,
        frozen=len(queries),
        floors=len(floors),
        datasets=lost,
        lost_accounts=unknown,
    )
    _stop_schedules(session, principal, now)
    allowances.take_all_back(session, server, principal)
    sight = server.sequencer.place_now(session)

    def after() -> None:
        anew = Sight(sight.size, sight.root, known.accounts)
        server.sequencer.witness.start_over(anew, instead_of=seen)
        server.sequencer.examine()

    place = leaf.index or 0
    return RestoreView(seen.size if seen else None, place, len(queries), len(floors), lost), after


def _stop_schedules(session: Session, principal: Principal, now: datetime) -> None:
    """Switch off all schedules, and end what they have begun.

    What an occurrence drew may be lost; carried out again by itself, it would draw from the same
    data once more.
    """
    for schedule in session.exec(select(Schedule).order_by(col(Schedule.id))).all():
        begun = select(Occurrence).where(
            col(Occurrence.schedule_id) == schedule.id, col(Occurrence.state) == "pending"
        )
        on = schedule.next_at is not None
        if on:
            schedule.next_at, schedule.reason = None, _RESTORED
            session.add(schedule)
            record(session, principal, "schedule", now, schedule=schedule.name, act="switch_off")
        for row in session.exec(begun.order_by(col(Occurrence.id))).all():
            row.state, row.problem, row.finished_at = "refused", _RESTORED, now
            session.add(row)
            record(
                session,
                principal,
                "schedule",
                now,
                schedule=schedule.name,
                act="refused",
                due=leaves.timestamp(row.due_at),
                version=row.version,
                off=True,
            )


def what_was_seen(server: Server) -> Sight | None:
    """Return what the witness saw, or None if the witness is lost.  Raises ``Conflict``."""
    try:
        seen = server.sequencer.look()
    except LogUnavailable:
        return None
    try:
        server.sequencer.require_sound()
    except Suspended:
        return seen
    raise Conflict(
        "The database is in the state that the log's witness saw last: there is no restore to"
        " acknowledge, and nothing was changed."
    )


def _lost_by(server: Server) -> str | None:
    """Return in words why the witness cannot be trusted or read."""
    try:
        server.sequencer.look()
    except LogUnavailable as problem:
        return str(problem.data.get("reason", "did not answer"))
    return None


def _floors(
    session: Session, seen: Sight, before: dict[str, tuple[int, int]]
) -> tuple[list[tuple[Dataset, int, tuple[int, int]]], list[str]]:
    """Return the accounts that had spent more than they record, and the names of missing ones."""
    datasets = session.exec(select(Dataset)).all()
    tiers = session.exec(select(Tier.id)).all()
    named = {
        account_name(dataset, required(tier)): (dataset, required(tier))
        for dataset in datasets
        for tier in tiers
    }
    missed = {
        name: spent
        for name, spent in seen.accounts.items()
        if spent[0] > before.get(name, (0, 0))[0] or spent[1] > before.get(name, (0, 0))[1]
    }
    floors = [(*named[name], spent) for name, spent in missed.items() if name in named]
    return floors, sorted(missed.keys() - named.keys())


def _lost(session: Session, accounts: Sequence[str]) -> list[str]:
    """Return the missing datasets of such accounts, or ``name@version`` if other versions exist."""
    present = {
        (dataset.folded, str(dataset.version)) for dataset in session.exec(select(Dataset)).all()
    }
    names = {name for name, _ in present}
    gone = {
        (name, version)
        for name, _, version in (account.rpartition("/")[0].rpartition("@") for account in accounts)
    } - present
    return sorted({f"{name}@{version}" if name in names else name for name, version in gone})
