"""Read the release history: analysts their own, auditors that of all users without values."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import inspect
from sqlmodel import Session

from penstock.errors import Forbidden, InvalidInput, NotFound
from penstock.persistence.dialects import long_content
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.columns import metadata
from penstock.persistence.tables.queries import Query
from penstock.services.access.principals import Principal
from penstock.services.allowances.own_names import all_answering, answering, chosen_of, no_query
from penstock.services.context import Server
from penstock.services.datasets.datasets import visible_below
from penstock.services.ledger.version_chains import versions_of
from penstock.services.noise.estimates.reading import AS_REGISTERED, EstimateChoice, reread
from penstock.services.noise.estimates.sized_counts import Shown, with_size
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.long_vectors.long_vector import Steps
from penstock.services.noise.long_vectors.parts import first_part, ranged
from penstock.services.noise.sealed_state import stored_state
from penstock.services.noise.sealing import SealedRelease, StoredRelease
from penstock.services.pagination import Page, Window
from penstock.services.releases.grants import Holding, holdings
from penstock.services.releases.locked_state import LONG
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.people import tier_by_name, user_by_name
from penstock.services.repository.queries import is_stream
from penstock.services.schemas.views import (
    HistoryItemView,
    ReleaseView,
)
from penstock.spec_fields import folded

_RELEASE = metadata.tables["release"]
_SEALED = "ciphertext"


def listing(
    server: Server,
    principal: Principal,
    window: Window,
    *,
    query: str | None = None,
    user: str | None = None,
    dataset: str | None = None,
    tier: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Page[HistoryItemView]:
    """List hand-outs, the oldest first: all for an auditor, otherwise the caller's own.

    ``since`` is included, ``until`` is not; a dataset is all of its versions.  Raises
    ``Forbidden`` for the history of another, ``NotFound`` for an unknown name.
    """
    principal.require("analyst", "auditor")
    audits = "auditor" in principal.roles
    if user is not None and not audits and folded(user) != folded(principal.name):
        raise Forbidden("Only auditors can read the history of others.")
    with server.database.read() as session:
        users = None if audits else [required(principal.user_id)]
        if user is not None and audits:
            users = [required(user_by_name(session, user).id)]
        own = None if audits else users
        rows = holdings(
            session,
            user_ids=users,
            query_id=None if query is None else _query(session, principal, query, own),
            dataset_ids=None if dataset is None else _versions(session, dataset, own),
            tier_id=None if tier is None else required(tier_by_name(session, tier).id),
            streams=False,
            since=since,
            until=until,
            after=window.after,
            limit=window.limit + 1,
        )
        return window.page(rows, lambda row: row.item(), lambda row: row.place)


def show(server: Server, principal: Principal, public_id: str) -> HistoryItemView:
    """Show one hand-out: the caller's own, or for an auditor the first of that release.

    Raises ``NotFound``, also for a release that only others hold.
    """
    principal.require("analyst", "auditor")
    users = None if "auditor" in principal.roles else [required(principal.user_id)]
    with server.database.read() as session:
        rows = holdings(session, user_ids=users, public_id=public_id, streams=False, limit=1)
        if not rows:
            raise NotFound(f"There is no release {public_id!r}.")
        return rows[0].item()


def values(
    server: Server,
    principal: Principal,
    public_id: str,
    *,
    first: int | None = None,
    last: int | None = None,
    choice: EstimateChoice = AS_REGISTERED,
    size_release: str | None = None,
) -> ReleaseView:
    """Show a release with its values to a user who holds it: all, or a range with both its ends.

    Positions count from 0; estimates, as they were chosen, are shown with every range.  Counts of a
    declared size are read with that of ``size_release`` instead, which the user holds as well.
    Raises ``NotFound``, and ``InvalidInput`` for positions or estimates that the release does not
    have, and for a ``size_release`` that does not fit it.
    """
    principal.require("analyst")
    if size_release == "":
        raise InvalidInput(
            "Name the release that has the size, or leave size_release out.",
            pointer="/size_release",
        )
    names = [public_id] if size_release is None else [public_id, size_release]
    with server.database.read() as session:
        rows = [_own_holding(session, principal, name) for name in names]
        opened = [_opened(session, server, row) for row in rows]
    views = _shown(server, rows, opened)
    view = reread(views[0], choice)
    if size_release is not None:
        own, size = (
            Shown(row.query, row.release.rung, each)
            for row, each in zip(rows, [view, views[1]], strict=True)
        )
        view = with_size(own, size)
    return view if first is None and last is None else ranged(view, first, last)


def _own_holding(session: Session, principal: Principal, public_id: str) -> Holding:
    """Return what the caller holds of a release, unsealed yet.  Raises ``NotFound``."""
    users = [required(principal.user_id)]
    rows = holdings(session, user_ids=users, public_id=public_id, streams=False, limit=1)
    if not rows:
        raise NotFound(f"There is no release {public_id!r}.")
    return rows[0]


def levels(server: Server, principal: Principal, query: str) -> list[HistoryItemView]:
    """Return every level of a query that the caller was handed, the most accurate first.

    The result is empty if they hold none, and if there is no such query.
    """
    principal.require("analyst")
    with server.database.read() as session:
        return [row.item() for row in _holdings_of_query(session, principal, query)]


def of_query(
    server: Server,
    principal: Principal,
    query: str,
    *,
    most: int,
    chosen: Collection[str] = (),
) -> list[ReleaseView]:
    """Return the same with values: those of the ``chosen`` releases, or of all; at most ``most``.

    Releases that are not the caller's are ignored, as if they did not exist.
    """
    principal.require("analyst")
    with server.database.read() as session:
        rows = [
            row
            for row in _holdings_of_query(session, principal, query, values=True)
            if not chosen or row.release.public_id in chosen
        ][:most]
        opened = [_opened(session, server, row) for row in rows]
    return [first_part(view) for view in _shown(server, rows, opened)]


def _opened(session: Session, server: Server, row: Holding) -> Steps:
    """Return what is stored of a release; a vector that is not loaded yet is read in pieces."""
    release: SealedRelease = row.release
    if _SEALED in inspect(row.release).unloaded:
        key = required(row.release.id)
        sealed = long_content(session.connection(), _RELEASE.c[_SEALED], key)
        release = StoredRelease(key, row.release.public_id, release.rung, release.seq, sealed)
    return stored_state(server, row.dataset, row.query, release)


def _shown(server: Server, rows: Sequence[Holding], opened: Sequence[Steps]) -> list[ReleaseView]:
    """Return releases with values, once the log has them; no transaction is open meanwhile."""
    for row in rows:
        server.sequencer.cover(row.leaf)
    return [row.view(steps) for row, steps in zip(rows, opened, strict=True)]


def _holdings_of_query(
    session: Session, principal: Principal, query: str, *, values: bool = False
) -> list[Holding]:
    """Return what the caller holds of a query, with sealed ``values`` if they are not long."""
    row = _seen(session, principal, query) or _read(session, principal, query)
    if row is None:
        return []
    rows = holdings(
        session,
        user_ids=[required(principal.user_id)],
        query_id=required(row.id),
        streams=False,
        sealed=values and kind_of(row).size(row) < LONG,
    )
    return sorted(rows, key=lambda row: row.release.rung)


def _query(session: Session, principal: Principal, name: str, own: Sequence[int] | None) -> int:
    """Return a query; for an analyst who holds no release of it, raise as if it were missing."""
    query = _seen(session, principal, name)
    if own is not None and (query is None or not _holds(session, own, query)):
        query = _read(session, principal, name)
    if query is None or is_stream(query):
        limit = visible_below(session, principal)
        if limit is None and not principal.roles & {"admin", "auditor"}:
            raise NotFound(f"There is no query {name!r}.")
        raise no_query(session, name, limit)
    return required(query.id)


def _seen(session: Session, principal: Principal, name: str) -> Query | None:
    """Return the query in the caller's sight that a name stands for."""
    limit = visible_below(session, principal)
    if limit is None and not principal.roles & {"admin", "auditor"}:
        return None
    return answering(session, name, limit)


def _read(session: Session, principal: Principal, name: str) -> Query | None:
    """Return the query that a name stands for among those that the caller holds releases of.

    Some may be out of their sight by now.
    """
    own, limit = [required(principal.user_id)], visible_below(session, principal)
    rows = [row for row in all_answering(session, name, None) if _holds(session, own, row)]
    return chosen_of(rows, name, limit)


def _holds(session: Session, user_ids: Sequence[int], query: Query) -> bool:
    rows = holdings(session, user_ids=user_ids, query_id=required(query.id), limit=1)
    return bool(rows)


def _versions(session: Session, name: str, own: Sequence[int] | None) -> list[int]:
    """Return all versions of a dataset; analysts see those they hold releases of."""
    keys = [
        required(version.id) for version in versions_of(session, dataset_by_name(session, name))
    ]
    if own is not None and not holdings(session, user_ids=own, dataset_ids=keys, limit=1):
        raise NotFound(f"There is no dataset {name!r}.")
    return keys
