"""The release history: analysts read their own, auditors everybody's without the values."""

from sqlmodel import col, select

from penstock.connectors.fields import folded
from penstock.errors import Forbidden, NotFound
from penstock.persistence.tables import Query
from penstock.services.held import holdings
from penstock.services.lookup import query_by_name, required, user_by_name
from penstock.services.paging import Window
from penstock.services.principals import Principal
from penstock.services.server import Server
from penstock.services.state import open_state
from penstock.services.views import HistoryItemView, Page, ReleaseView


def listing(
    server: Server,
    principal: Principal,
    window: Window,
    *,
    query: str | None = None,
    user: str | None = None,
) -> Page[HistoryItemView]:
    """Hand-outs, the oldest first: all for an auditor, one's own for everybody else.

    Raises ``Forbidden`` for the history of another, ``NotFound`` for an unknown name.
    """
    principal.require("analyst", "auditor")
    audits = "auditor" in principal.roles
    if user is not None and not audits and folded(user) != folded(principal.name):
        raise Forbidden("Only an auditor reads the history of others.")
    with server.database.read() as session:
        users = None if audits else [required(principal.user_id)]
        if user is not None and audits:
            users = [required(user_by_name(session, user).id)]
        query_id = None
        if query is not None:
            # To an analyst, a query that they hold nothing of is as good as missing.
            found = query_by_name(session, query)
            query_id = required(found.id)
            if not audits and not holdings(session, user_ids=users, query_id=query_id, limit=1):
                raise NotFound(f"There is no query {query!r}.")
        rows = holdings(
            session,
            user_ids=users,
            query_id=query_id,
            streams=False,
            after=window.after,
            limit=window.limit + 1,
        )
        return window.page(rows, lambda row: row.item(), lambda row: row.place)


def show(server: Server, principal: Principal, public_id: str) -> HistoryItemView:
    """One hand-out: the caller's own, or for an auditor the first of that release.

    Raises ``NotFound``, also for a release that only others hold.
    """
    principal.require("analyst", "auditor")
    users = None if "auditor" in principal.roles else [required(principal.user_id)]
    with server.database.read() as session:
        rows = holdings(session, user_ids=users, public_id=public_id, streams=False, limit=1)
        if not rows:
            raise NotFound(f"There is no release {public_id!r}.")
        return rows[0].item()


def values(server: Server, principal: Principal, public_id: str) -> ReleaseView:
    """A release with its values, for somebody who was handed it.  Raises ``NotFound``."""
    principal.require("analyst")
    with server.database.read() as session:
        rows = holdings(
            session,
            user_ids=[required(principal.user_id)],
            public_id=public_id,
            streams=False,
            limit=1,
        )
        if not rows:
            raise NotFound(f"There is no release {public_id!r}.")
        row = rows[0]
        server.sequencer.cover(row.leaf)
        return row.view(open_state(server, row.dataset, row.query, row.release))


def held(server: Server, principal: Principal, query: str, *, most: int) -> list[ReleaseView]:
    """What the caller was handed of a query, with values: the ``most`` accurate levels of it.

    The most accurate one first; empty where they hold none, and where there is no such query.
    """
    principal.require("analyst")
    with server.database.read() as session:
        found = session.exec(select(Query).where(col(Query.folded) == folded(query))).first()
        if found is None:
            return []
        rows = holdings(
            session,
            user_ids=[required(principal.user_id)],
            query_id=required(found.id),
            streams=False,
        )
        rows = sorted(rows, key=lambda row: row.release.rung)[:most]
        for row in rows:
            server.sequencer.cover(row.leaf)
        return [row.view(open_state(server, row.dataset, row.query, row.release)) for row in rows]
