"""Reading the audit log: filtered, in the order in which it was written."""

import json
from datetime import datetime

from sqlmodel import col, select

from penstock import merkle
from penstock.errors import IntegrityViolation
from penstock.persistence.tables import Leaf
from penstock.services.paging import Window
from penstock.services.principals import Principal
from penstock.services.server import Server
from penstock.services.views import EventView, Page


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
) -> Page[EventView]:
    """Leaves of the log for an auditor; ``since`` is included, ``until`` is not.

    Raises ``IntegrityViolation`` where one of them is not what its hash says.
    """
    principal.require("auditor")
    # What has no place in the tree yet is nobody's answer yet either.
    statement = select(Leaf).where(col(Leaf.index) > window.after).order_by(col(Leaf.index))
    if user is not None:
        statement = statement.where(col(Leaf.user) == user)
    if query is not None:
        statement = statement.where(col(Leaf.query) == query)
    if kind is not None:
        statement = statement.where(col(Leaf.kind) == kind)
    if since is not None:
        statement = statement.where(col(Leaf.at) >= since)
    if until is not None:
        statement = statement.where(col(Leaf.at) < until)
    with server.database.read() as session:
        rows = session.exec(statement.limit(window.limit + 1)).all()
    return window.page(rows, _view, _place)


def _place(leaf: Leaf) -> int:
    return leaf.index if leaf.index is not None else -1


def _view(leaf: Leaf) -> EventView:
    # The fields come from the bytes that were hashed, never from the columns beside them.
    # SQLite keeps whatever type it is given.
    kept: object = leaf.bytes
    if not isinstance(kept, bytes) or merkle.leaf_hash(kept) != leaf.hash:
        raise _violated(leaf)
    try:
        return EventView(leaf.index, leaf.hash.hex(), json.loads(kept))
    except (ValueError, RecursionError):
        raise _violated(leaf) from None


def _violated(leaf: Leaf) -> IntegrityViolation:
    return IntegrityViolation(
        f"Leaf {leaf.index} of the log is not what its hash says; `penstock audit verify` lists"
        " what was altered."
    )
