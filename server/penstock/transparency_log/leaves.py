"""Append to the audit log: a leaf for every first grant and every change that permits one.

A leaf is canonical JSON (UTF-8, sorted keys, no spaces); its hash is that of RFC 9162, section
2.1.1.  It is appended in the transaction that it records, without a place in the tree, which the
sequencer gives it before the request is answered.  It never holds values, only HMACs of them.

Proofs show hashes of leaves to users who may not read the leaves.  So since version 2 each leaf
holds a nonce of 128 bits; a leaf of version 1, which had none, can be found from its hash by anyone
who can guess all of its content.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from sqlalchemy import bindparam, insert
from sqlmodel import Session

from penstock.persistence.row_numbers import take as take_numbers
from penstock.persistence.statements.prepared import Prepared
from penstock.persistence.tables.columns import metadata
from penstock.persistence.tables.log import Leaf, Octets
from penstock.transparency_log import merkle
from penstock.transparency_log.views import ReceiptView

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VERSION = 2
NONCE_SIZE = 16
"""The size in bytes; a leaf holds the nonce in hexadecimal."""

NONCES = "nonces"
"""The key in ``Session.info`` of the function that draws nonces (``os.urandom``)."""

CLOCK = "clock"
"""The kind of the leaf that declares a time of the log wrong."""

REFUSALS = "refusals"
"""The kind of the leaf that counts refused requests."""

KINDS = (
    *("release", "dataset", "query", "tier", "user", "clearance"),
    *("budget", "level", "token", "key", "restore", "stream", "proposal", "suspension"),
    CLOCK,
    REFUSALS,
    *("schedule", "allowance", "request", "group", "invitation", "wording", "upload"),
)

_NONCE = re.compile(f"[0-9a-f]{{{2 * NONCE_SIZE}}}")

APPENDED = "leaves"
"""The key in ``Session.info`` of the leaves that its one transaction appended."""

END = "end of the log"
"""The key in ``Session.info`` of what gives the transaction's leaves their places at once."""

_INSERT = insert(metadata.tables["leaf"])

_COLUMNS = ("index", "bytes", "hash", "kind", "at", "actor", "user", "dataset", "query")

_STORE = Prepared(
    _INSERT.values(
        {
            name: bindparam(name, type_=metadata.tables["leaf"].c[name].type)
            for name in ("id", *_COLUMNS)
        }
    ).inline()
)

leaf_hash = merkle.leaf_hash


@dataclass(slots=True)
class AppendedLeaf:
    """Hold a leaf that a transaction appends: the columns of its row, and the note that covers it.

    ``index`` and ``note`` are None until it has its place.
    """

    bytes: Octets
    hash: Octets
    kind: str
    at: datetime
    actor: str
    user: str | None
    dataset: str | None
    query: str | None
    id: int | None = None
    index: int | None = None
    note: str | None = None

    def row(self) -> dict[str, Any]:
        """Return the columns of its row; without ``id`` if the database chooses it."""
        values = {name: getattr(self, name) for name in _COLUMNS}
        return values if self.id is None else {"id": self.id, **values}


class Places(Protocol):
    """Give leaves their places in the tree, in the transaction that appends them."""

    def place(self, session: Session, leaf: AppendedLeaf) -> None:
        """Give a leaf its place."""
        ...


def append(
    session: Session,
    *,
    kind: str,
    at: datetime,
    actor: str,
    user: str | None = None,
    dataset: str | None = None,
    query: str | None = None,
    **more: object,
) -> AppendedLeaf:
    """Append one leaf; ``more`` are its further fields, left out if ``None``.

    The session carries the source of its nonce; without that nothing is appended.  The answer waits
    until the leaf is in the tree, under a checkpoint that the witness saw: the session passes the
    leaf on for that.
    """
    leaf = made(
        session,
        kind=kind,
        at=at,
        actor=actor,
        user=user,
        dataset=dataset,
        query=query,
        **more,
    )
    append_all(session, [leaf])
    return leaf


def append_all(session: Session, made_leaves: Sequence[AppendedLeaf]) -> None:
    """Append leaves that were ``made``, in their order, in one statement.

    Those without a number are given one.
    """
    session.flush()  # rows that were added before the leaves are stored before them
    for leaf in made_leaves:
        give_place(session, leaf)
    connection = session.connection()
    unnumbered = [leaf for leaf in made_leaves if leaf.id is None]
    if len(made_leaves) == 1 == len(unnumbered):
        (leaf,) = made_leaves
        (leaf.id,) = connection.execute(_INSERT, leaf.row()).inserted_primary_key or (None,)
        return
    # With their numbers, the database need not return these one by one.
    if unnumbered:
        numbers = take_numbers(connection, str(Leaf.__tablename__), len(unnumbered))
        for leaf, number in zip(unnumbered, numbers, strict=True):
            leaf.id = number
    if made_leaves:
        _STORE.change_all(connection, [leaf.row() for leaf in made_leaves])


def give_place(session: Session, leaf: AppendedLeaf) -> None:
    """Give a leaf its place, if the transaction knows the end of the log, and wait for it later.

    It is for callers that store the leaf's row themselves.
    """
    end: Places | None = session.info.get(END)
    if end is not None:
        end.place(session, leaf)
    session.info.setdefault(APPENDED, []).append(leaf)


def made(
    session: Session,
    *,
    kind: str,
    at: datetime,
    actor: str,
    user: str | None = None,
    dataset: str | None = None,
    query: str | None = None,
    **more: object,
) -> AppendedLeaf:
    """Make a leaf for ``append_all``, with the same fields as in ``append``."""
    fields: dict[str, object] = {
        "v": VERSION,
        "kind": kind,
        "at": timestamp(at),
        "actor": actor,
        "user": user,
        "dataset": dataset,
        "query": query,
        **more,
    }
    draw: Callable[[int], bytes] = session.info[NONCES]
    fields["nonce"] = draw(NONCE_SIZE).hex()
    content = canonical({name: value for name, value in fields.items() if value is not None})
    return AppendedLeaf(content, leaf_hash(content), kind, at, actor, user, dataset, query)


def well_versed(fields: Mapping[str, object]) -> bool:
    """Return True if a leaf fits its version: with a nonce since version 2, without one before."""
    version, nonce = fields.get("v"), fields.get("nonce")
    if version == 1:
        return nonce is None
    digits = isinstance(nonce, str) and _NONCE.fullmatch(nonce)
    return version == VERSION and bool(digits)


def canonical(fields: Mapping[str, object]) -> bytes:
    """Return a leaf's fields as canonical JSON."""
    return json.dumps(
        fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    ).encode()


def value_hmac(key: bytes, release_id: str, steps: "NDArray[np.int64]") -> str:
    """Return an HMAC-SHA256 of a release's lattice integers: it proves them and hides them."""
    mac = hmac.new(key, release_id.encode() + b"\x00", hashlib.sha256)
    mac.update(steps.astype("<i8", order="C", copy=False).data)
    return mac.hexdigest()


def timestamp(at: datetime) -> str:
    """Return RFC 3339 in UTC, to the microsecond."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def note_of(leaf: Leaf | AppendedLeaf) -> str | None:
    """Return the note of the first checkpoint that covers a leaf."""
    note: str | None = leaf.note  # type: ignore[union-attr]  # of rows, it is mapped beside columns
    return note


def receipt_of(leaf: Leaf | AppendedLeaf) -> ReceiptView:
    """Return a leaf's receipt."""
    # If the bytes were altered, the reader finds that they have another hash.
    kept: object = leaf.bytes
    text = kept.decode(errors="replace") if isinstance(kept, bytes) else str(kept)
    return ReceiptView(leaf.index, leaf.hash.hex(), text, note_of(leaf))
