"""Say which leaves of the log are events for the webhook, and what is sent of each.

An event has names, numbers of budgets and identifiers from a closed list, all of which an auditor
reads in the log: no value, spec, token, purpose or exposure, of which leaves may hold some.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlmodel import Session, col, select

from penstock.errors import IntegrityViolation, Suspended
from penstock.persistence.tables.log import Leaf
from penstock.persistence.tables.people import Tier
from penstock.services.context import Server
from penstock.transparency_log import leaves, suspension, tree_store

LogEventName = Literal[
    "budget.raised",
    "clearance.raised",
    "dataset.shredded",
    "proposal.opened",
    "server.suspended",
    "server.resumed",
]

KINDS = ("budget", "clearance", "key", "proposal", "restore", suspension.KIND)
"""The kinds of the leaves that may be events."""


@dataclass(frozen=True)
class LogEvent:
    """Hold what a leaf tells, and the fields that are sent of it."""

    name: LogEventName
    fields: Mapping[str, object]


def event_of(session: Session, leaf: Leaf) -> LogEvent | None:
    """Return the event that a leaf is, or None if nothing was raised, or it is another change.

    Raises ``KeyError``, ``TypeError`` or ``ValueError`` for a leaf that no server wrote.
    """
    fields = json.loads(leaf.bytes)
    match fields["kind"], fields.get("state"):
        case "budget", _:
            return _raised_budget(session, leaf, fields)
        case "clearance", _:
            return _raised_clearance(session, leaf, fields)
        case "key", _ if fields.get("shredded"):
            shredded = {"dataset": fields["dataset"], "version": fields["version"]}
            return LogEvent("dataset.shredded", shredded)
        case "proposal", "open":
            about = {"proposal": fields["proposal"], "act": fields["act"]}
            dataset = fields["request"].get("dataset")
            return LogEvent("proposal.opened", {**about, "dataset": dataset})
        case suspension.KIND, "found":
            return LogEvent("server.suspended", _sizes(fields))
        case (suspension.KIND, "ended") | ("restore", _):
            acknowledged = fields["kind"] == "restore"
            return LogEvent("server.resumed", {**_sizes(fields), "acknowledged": acknowledged})
    return None


def body_fields(server: Server, session: Session, leaf: Leaf) -> dict[str, object]:
    """Return what is sent of a leaf that is an event, once the log proves it.

    Raises ``IntegrityViolation``; a leaf of a suspension may have no place yet, and is then sent
    only by a process that finds itself suspended.
    """
    if leaf.index is not None:
        tree_store.require_proven(session, leaf)
    else:
        _require_suspended(server, leaf)
    try:
        event = event_of(session, leaf)
    except (KeyError, TypeError, ValueError):
        event = None
    if event is None:
        raise IntegrityViolation("A leaf is no event any more; the message about it is not sent.")
    return {"leaf": leaf.index, "by": leaf.actor, **event.fields}


def _require_suspended(server: Server, leaf: Leaf) -> None:
    if leaf.kind == suspension.KIND and leaves.leaf_hash(leaf.bytes) == leaf.hash:
        try:
            server.sequencer.require_sound()
        except Suspended:
            return
    raise IntegrityViolation("A leaf that is not in the log yet is no suspension of this server.")


def _raised_budget(session: Session, leaf: Leaf, fields: Mapping[str, Any]) -> LogEvent | None:
    """Return the event of a budget that is above the last one of its dataset and tier, if any."""
    statement = _before(leaf).where(
        col(Leaf.kind) == "budget", col(Leaf.dataset) == fields["dataset"]
    )
    earlier = map(json.loads, session.exec(statement))
    last = next((each for each in earlier if each["tier"] == fields["tier"]), None)
    epsilon, delta = fields["epsilon"], fields["delta"]
    if last is not None and epsilon <= last["epsilon"] and delta <= last["delta"]:
        return None
    names = {"dataset": fields["dataset"], "tier": fields["tier"]}
    now = {"epsilon": epsilon, "delta": delta}
    before = {f"{name}_before": None if last is None else last[name] for name in now}
    return LogEvent("budget.raised", {**names, **now, **before})


def _raised_clearance(session: Session, leaf: Leaf, fields: Mapping[str, Any]) -> LogEvent | None:
    """Return the event of a clearance above the user's last one, if it is.

    A tier that was deleted since has no rank any more, so that such a change is an event.
    """
    tier, before = fields.get("tier"), _last_tier(session, leaf, fields["user"])
    present = select(Tier.name, Tier.rank).where(col(Tier.deleted_at).is_(None))
    ranks = dict(session.exec(present).all())
    known = tier in ranks and before in ranks
    if tier is None or (known and ranks[tier] <= ranks[before]):
        return None
    return LogEvent(
        "clearance.raised", {"user": fields["user"], "tier": tier, "tier_before": before}
    )


def _last_tier(session: Session, leaf: Leaf, user: str) -> Any:
    """Return the tier that a user had before a leaf: of the last clearance, or as created."""
    named = _before(leaf).where(col(Leaf.user) == user)
    last = session.exec(named.where(col(Leaf.kind) == "clearance").limit(1)).first()
    if last is None:
        last = session.exec(
            named.where(col(Leaf.kind) == "user").order_by(None).order_by(col(Leaf.index)).limit(1)
        ).first()
    return None if last is None else json.loads(last).get("tier")


def _before(leaf: Leaf) -> Any:
    """Return the statement of the bytes of leaves before one, the newest first."""
    return select(Leaf.bytes).where(col(Leaf.index) < leaf.index).order_by(col(Leaf.index).desc())


def _sizes(fields: Mapping[str, Any]) -> dict[str, object]:
    """Return how many leaves the witness saw, and how many the database had."""
    return {"witnessed": fields.get("witnessed"), "leaves": fields.get("leaves")}
