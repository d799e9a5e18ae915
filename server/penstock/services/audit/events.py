"""Read the audit log, filtered, oldest or newest first."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlmodel import Session, col, select

from penstock.errors import IntegrityViolation
from penstock.persistence.tables.log import Leaf
from penstock.services.access.principals import Principal
from penstock.services.audit import proofs
from penstock.services.context import Server
from penstock.services.pagination import LARGEST_LIMIT, Page, Window
from penstock.services.schemas.views import (
    EventView,
)
from penstock.transparency_log import leaves, merkle

PART = 500
"""The leaves that are in memory at once while leaves are searched."""

MOST_READ = 20_000
"""The leaves that are searched for one page; the next page continues after them."""

ADMINISTERED = ("dataset", "query", "tier", "user", "clearance", "budget", "level", "proposal")
"""The kinds of leaves that record what admins did.  Pages of admins show all of it; who received
what is for auditors alone."""


@dataclass(frozen=True)
class _StoredLeaf:
    """Hold one leaf as it is stored; SQLite keeps a value of any type."""

    index: int
    content: object
    digest: bytes


def listing(
    server: Server,
    principal: Principal,
    window: Window,
    *,
    user: str | None = None,
    query: str | None = None,
    kind: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    dataset: str | None = None,
    tier: str | None = None,
    actor: str | None = None,
    newest_first: bool = False,
) -> Page[EventView]:
    """Return leaves of the log for an auditor; ``since`` is included, ``until`` is not.

    By ``tier`` leaves are searched one by one: a page may then hold fewer leaves than requested,
    or none, and still have a next page.  With ``newest_first`` a cursor goes backward.  Raises
    ``IntegrityViolation`` if a leaf does not match its hash.
    """
    principal.require("auditor")
    index = col(Leaf.index)
    # A leaf without a place in the tree belongs to an action that nobody was answered about yet.
    statement = select(Leaf.index, Leaf.bytes, Leaf.hash).where(index.is_not(None))
    if newest_first:
        statement = statement.order_by(index.desc())
        if window.after >= 0:
            statement = statement.where(index < window.after)
    else:
        statement = statement.order_by(index).where(index > window.after)
    equal = {
        Leaf.user: user,
        Leaf.query: query,
        Leaf.kind: kind,
        Leaf.dataset: dataset,
        Leaf.actor: actor,
    }
    for column, value in equal.items():
        if value is not None:
            statement = statement.where(col(column) == value)
    if since is not None:
        statement = statement.where(col(Leaf.at) >= since)
    if until is not None:
        statement = statement.where(col(Leaf.at) < until)
    most = window.limit + 1
    with server.database.read() as session:
        if tier is not None:
            return _at_tier(session, statement, window, tier)
        rows = [_StoredLeaf(*row) for row in session.exec(statement.limit(most)).all()]
    return window.page(rows, _view, _place)


def administered(server: Server, principal: Principal, most: int) -> list[EventView]:
    """Return at most so many leaves of what admins did, newest first, for admins and auditors.

    Raises ``Forbidden``, and ``IntegrityViolation`` as ``listing`` does.
    """
    principal.require("admin", "auditor")
    index, rows = col(Leaf.index), []
    with server.database.read() as session:
        # Kind by kind, so that a log of many releases is not searched.
        for kind in ADMINISTERED:
            statement = select(Leaf.index, Leaf.bytes, Leaf.hash).where(
                col(Leaf.kind) == kind, index.is_not(None)
            )
            newest = statement.order_by(col(Leaf.id).desc()).limit(most)
            rows += [_StoredLeaf(*row) for row in session.exec(newest).all()]
    return [_view(row) for row in sorted(rows, key=_place, reverse=True)[:most]]


def every(server: Server, principal: Principal, **filters: Any) -> Iterator[EventView]:
    """Yield all leaves that a filter of ``listing`` leaves, page by page.

    They are those that the newest checkpoint covers when it begins.  Raises as ``listing`` does,
    ``Forbidden`` at once.
    """
    principal.require("auditor")
    return _pages(server, principal, proofs.size(server), filters)


def _pages(
    server: Server, principal: Principal, size: int, filters: dict[str, Any]
) -> Iterator[EventView]:
    window = Window(LARGEST_LIMIT)
    while True:
        page = listing(server, principal, window, **filters)
        yield from (event for event in page.items if (event.index or 0) < size)
        if page.next_cursor is None:
            return
        window = Window.parse(str(LARGEST_LIMIT), page.next_cursor)
        if window.after >= size and not filters.get("newest_first"):
            return


def _at_tier(session: Session, statement: Any, window: Window, tier: str) -> Page[EventView]:
    """Return a page of the leaves that name ``tier``, which only the leaf's own bytes hold."""
    fragment = leaves.canonical({"tier": tier})[1:-1]
    rows: list[_StoredLeaf] = []
    read, last = 0, -1
    in_parts = statement.limit(MOST_READ).execution_options(yield_per=PART)
    # Closed once a page is full, since PostgreSQL keeps the rest ready.
    with session.execute(in_parts) as stored:
        for row in stored:
            read, leaf_row = read + 1, _StoredLeaf(*row)
            last = leaf_row.index
            if not isinstance(leaf_row.content, bytes) or (
                fragment in leaf_row.content and _view(leaf_row).leaf.get("tier") == tier
            ):
                rows.append(leaf_row)
            if len(rows) > window.limit:
                break
    page = window.page(rows, _view, _place)
    if page.next_cursor is None and read == MOST_READ:
        return replace(page, next_cursor=str(last))
    return page


def _place(row: _StoredLeaf) -> int:
    return row.index


def _view(row: _StoredLeaf) -> EventView:
    # The fields come from the bytes that were hashed, never from the columns beside them.
    kept = row.content
    if not isinstance(kept, bytes) or merkle.leaf_hash(kept) != row.digest:
        raise _violated(row)
    try:
        return EventView(row.index, row.digest.hex(), json.loads(kept))
    except (ValueError, RecursionError):
        raise _violated(row) from None


def _violated(row: _StoredLeaf) -> IntegrityViolation:
    return IntegrityViolation(
        f"Leaf {row.index} of the log is not what its hash says; `penstock audit verify` lists"
        " what was altered."
    )
