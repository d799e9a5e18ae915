"""The audit log: one leaf for every first hand-out and every change that could permit one.

A leaf is canonical JSON (UTF-8, sorted keys, no spaces); its hash is that of RFC 9162,
section 2.1.1.  It is appended in the transaction of what it records, without a place in
the tree: that is given by the sequencer, before anybody is answered.  Values never stand
in it, only HMACs of them.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session

from penstock import merkle
from penstock.persistence.tables import Leaf

VERSION = 1
KINDS = (
    *("release", "dataset", "query", "tier", "user", "clearance"),
    *("budget", "level", "token", "key", "restore", "stream", "proposal", "suspension"),
)

APPENDED = "leaves"
"""The key in ``Session.info`` of the leaves that its one transaction appended."""

leaf_hash = merkle.leaf_hash


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

    The answer waits until the leaf is in the tree, under a checkpoint that the witness saw:
    the session carries it to whoever sees to that.
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
    leaf = Leaf(
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
    session.info.setdefault(APPENDED, []).append(leaf)
    return leaf


def canonical(fields: Mapping[str, object]) -> bytes:
    """Canonical JSON of a leaf's fields."""
    return json.dumps(
        fields, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
    ).encode()


def value_hmac(key: bytes, release_id: str, steps: NDArray[np.int64]) -> str:
    """An HMAC-SHA256 of a release's lattice integers, which proves them and hides them."""
    mac = hmac.new(key, release_id.encode() + b"\x00", hashlib.sha256)
    mac.update(np.ascontiguousarray(steps, dtype="<i8").data)
    return mac.hexdigest()


def timestamp(at: datetime) -> str:
    """RFC 3339 in UTC, to the microsecond."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
