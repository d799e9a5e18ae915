"""Return, query by query, the releases that some users hold and their joint privacy loss.

``exposure`` composes over whole datasets; this module reports one query at a time.  The rules are
the same: auditors may request it for any users, others for themselves; only the most accurate level
of a query counts, or all of them if levels are independent draws; ``independent`` is the
composition of all hand-outs as if each had been drawn independently.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlmodel import Session, col, select

from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import User
from penstock.persistence.tables.queries import Grant, Query, Release
from penstock.services.access.principals import Principal, roles_of
from penstock.services.context import Server
from penstock.services.exposure.compositions import Compose, Line, composed, composing
from penstock.services.exposure.exposure import people, placed
from penstock.services.ledger.accounts import TierAccount, open_account
from penstock.services.ledger.effective_levels import highest_ever
from penstock.services.ledger.version_chains import of_same_people
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.kinds.kind import QueryKind
from penstock.services.pagination import Page, Window
from penstock.services.releases.grants import Holding, holdings
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.people import clearance_of, listed
from penstock.services.schemas.views import (
    ErrorView,
    LevelView,
    PrivacyBudget,
)


@dataclass(frozen=True)
class PersonView:
    """Hold a user whose exposure may be requested."""

    name: str
    roles: list[str]
    clearance: str | None
    active: bool


@dataclass(frozen=True)
class PointView:
    """Hold one released level of a query, and the users who hold it, by tier."""

    level: LevelView
    error: ErrorView
    tiers: list[str]
    people: list[str]


@dataclass(frozen=True)
class SharedQueryView:
    """Hold the releases of one query that some users have, the most accurate level first.

    If it is ``lossless``, all points lie on one path of noise; otherwise they are independent
    draws, and ``together`` is their composition.  A stream's ``error`` is its newest total's.
    """

    query: str
    dataset: str
    version: int
    stream: bool
    lossless: bool
    points: list[PointView]
    together: PrivacyBudget
    independent: PrivacyBudget


def listing(server: Server, principal: Principal, window: Window) -> Page[PersonView]:
    """Return all users whose exposure may be requested, in the order in which they were created."""
    principal.require("auditor")
    with server.database.read() as session:
        return listed(session, User, window, lambda user: _person(session, user))


def shared(
    server: Server,
    principal: Principal,
    names: Sequence[str],
    window: Window,
    dataset: str | None = None,
) -> Page[SharedQueryView]:
    """Return query by query what some users hold; only queries that any of them holds.

    Raises as ``exposure.of`` does.
    """
    with server.database.read() as session:
        # Loaded once here, and not again with every query.
        chosen = people(session, principal, names)
        users = [required(user.id) for user in chosen]
        releases = (
            select(Release.query_id)
            .join(Grant, col(Grant.release_id) == col(Release.id))
            .where(col(Grant.user_id).in_(users))
        )
        statement = select(Query).where(col(Query.id).in_(releases), col(Query.id) > window.after)
        if dataset is not None:
            versions = of_same_people(session, dataset_by_name(session, dataset))
            statement = statement.where(
                col(Query.dataset_id).in_([version.id for version in versions])
            )
        rows = session.exec(statement.order_by(col(Query.id)).limit(window.limit + 1)).all()
        highest = highest_ever(session, users)
        accounts = {
            key: open_account(session, key, highest) if highest else None
            for key in {row.dataset_id for row in rows}
        }
        page = window.page(
            rows,
            lambda row: _shared(session, users, row, accounts[row.dataset_id]),
            lambda row: required(row.id),
        )
    by = composing(server.computing, principal.name)
    return Page([item.view(by) for item in page.items], page.next_cursor)


@dataclass(frozen=True)
class _Shared:
    """Hold the data of one query, before they are composed."""

    query: str
    dataset: str
    version: int
    stream: bool
    lossless: bool
    points: list[PointView]
    together: Line
    independent: Line

    def view(self, by: Compose) -> SharedQueryView:
        """Compose the data, without the database."""
        return SharedQueryView(
            query=self.query,
            dataset=self.dataset,
            version=self.version,
            stream=self.stream,
            lossless=self.lossless,
            points=self.points,
            together=composed([self.together], by),
            independent=composed([self.independent], by),
        )


def _person(session: Session, user: User) -> PersonView:
    tier = clearance_of(session, required(user.id))
    return PersonView(user.name, roles_of(user), tier.name if tier else None, user.is_active)


def _shared(
    session: Session, users: Sequence[int], query: Query, account: TierAccount | None
) -> _Shared:
    rows = holdings(session, user_ids=users, query_id=required(query.id))
    kind, dataset = kind_of(query), session.get_one(Dataset, query.dataset_id)
    by_rung: dict[int, list[Holding]] = {}
    for row in rows:
        by_rung.setdefault(row.release.rung, []).append(row)
    return _Shared(
        query=query.readable,
        dataset=dataset.name,
        version=dataset.version,
        stream=kind.is_stream,
        lossless=kind.lossless,
        points=[_point(session, query, kind, by_rung[rung]) for rung in sorted(by_rung)],
        together=_line(dataset, account, query, kind.levels.telling(by_rung), paid=True),
        independent=_line(dataset, account, query, [row.release.rung for row in rows], paid=False),
    )


def _line(
    dataset: Dataset,
    account: TierAccount | None,
    query: Query,
    rungs: Sequence[int],
    *,
    paid: bool,
) -> Line:
    return Line(dataset, account, Counter(placed(query, rung) for rung in rungs), paid)


def _point(session: Session, query: Query, kind: QueryKind, rows: Sequence[Holding]) -> PointView:
    rung = rows[0].release.rung
    return PointView(
        kind.level(rung),
        kind.current_error(session, query, rung),
        list(dict.fromkeys(row.tier.name for row in rows)),
        list(dict.fromkeys(row.user.name for row in rows)),
    )
