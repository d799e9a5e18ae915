"""The audit log: one leaf for every first hand-out and every change that could permit one.

A leaf is canonical JSON (UTF-8, sorted keys, no spaces); its hash is that of RFC 9162,
section 2.1.1.  It is appended in the transaction of what it records.  Values never stand
in it, only HMACs of them.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session, col, func, select

from penstock.persistence import lock_log
from penstock.persistence.tables import Leaf

VERSION = 1
KINDS = (
    *("release", "dataset", "query", "tier", "user", "clearance"),
    *("budget", "level", "token", "key", "restore", "stream"),
)

_LAST_INDEX = select(func.max(col(Leaf.index)))


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
) -> Leaf:
    """Append one leaf; ``more`` are its further fields, left out where ``None``.

    The end of the log is locked until the commit, so that the index that is next now is
    next then, and nobody reads of an index before those below it.  Append last: others
    wait for it.
    """
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
    content = canonical({name: value for name, value in fields.items() if value is not None})
    lock_log(session)
    last = session.exec(_LAST_INDEX).one()
    leaf = Leaf(
        index=0 if last is None else last + 1,
        bytes=content,
        hash=leaf_hash(content),
        kind=kind,
        at=at,
        actor=actor,
        user=user,
        dataset=dataset,
        query=query,
    )
    session.add(leaf)
    session.flush()
    return leaf


def canonical(fields: Mapping[str, object]) -> bytes:
    """Canonical JSON of a leaf's fields."""
    return json.dumps(
        fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    ).encode()


def leaf_hash(content: bytes) -> bytes:
    """``SHA256(0x00 | leaf)``, RFC 9162, section 2.1.1."""
    return hashlib.sha256(b"\x00" + content).digest()


def value_hmac(key: bytes, release_id: str, steps: NDArray[np.int64]) -> str:
    """An HMAC-SHA256 of a release's lattice integers, which proves them and hides them."""
    mac = hmac.new(key, release_id.encode() + b"\x00", hashlib.sha256)
    mac.update(np.ascontiguousarray(steps, dtype="<i8").data)
    return mac.hexdigest()


def timestamp(at: datetime) -> str:
    """RFC 3339 in UTC, to the microsecond."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
