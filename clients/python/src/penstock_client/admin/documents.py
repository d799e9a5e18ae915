"""Turn people, tiers, tokens, schedules, proposals and events into columns and rows."""

from collections.abc import Sequence
from datetime import datetime

from penstock_client._show.documents import yes_or_no
from penstock_client._show.output import Column, Document
from penstock_client.admin.models import Event, Invitation, Proposal, Schedule, Tier, Token, User


def users(answers: Sequence[User]) -> Document:
    """Return users, with one row for each."""
    columns = (
        *map(Column, ("user", "roles", "clearance")),
        Column("active", yes_or_no),
        Column("created_at"),
    )
    rows = [
        (each.name, ", ".join(each.roles), each.clearance, each.active, _text(each.created_at))
        for each in answers
    ]
    return Document([each.answer for each in answers], columns, rows)


def tokens(answers: Sequence[Token]) -> Document:
    """Return tokens, with one row for each."""
    columns = tuple(map(Column, ("prefix", "user", "scopes", "expires", "revoked")))
    rows = [
        (
            each.prefix,
            each.user,
            ", ".join(each.scopes),
            _text(each.expires),
            _text(each.revoked),
        )
        for each in answers
    ]
    return Document([each.answer for each in answers], columns, rows)


def invitations(answers: Sequence[Invitation]) -> Document:
    """Return invitations, with one row for each."""
    columns = tuple(map(Column, ("id", "user", "roles", "clearance", "state", "expires", "by")))
    rows = [
        (
            *(each.id, each.name, ", ".join(each.roles), each.clearance),
            *(each.state, _text(each.expires), each.by),
        )
        for each in answers
    ]
    return Document([each.answer for each in answers], columns, rows)


def tiers(answers: Sequence[Tier]) -> Document:
    """Return tiers, with one row for each, from the least trusted to the most trusted."""
    columns = (Column("tier"), Column("rank", right=True), Column("description"))
    rows = [(each.name, each.rank, each.description) for each in answers]
    return Document([vars(each) for each in answers], columns, rows)


def schedules(answers: Sequence[Schedule]) -> Document:
    """Return schedules, with one row for each."""
    columns = (
        *(Column("schedule"), Column("dataset"), Column("cron"), Column("on", yes_or_no)),
        *(Column("next_at"), Column("reason")),
    )
    rows = [
        (
            each.name,
            each.spec.get("dataset"),
            each.spec.get("cron"),
            each.on,
            _text(each.next_at),
            each.reason,
        )
        for each in answers
    ]
    return Document([each.answer for each in answers], columns, rows)


def proposals(answers: Sequence[Proposal]) -> Document:
    """Return proposals, with one row for each."""
    columns = tuple(
        map(Column, ("proposal", "act", "state", "proposed_by", "proposed_at", "expires_at"))
    )
    rows = [
        (
            *(each.id, each.act, each.state, each.proposed_by),
            *(_text(each.proposed_at), _text(each.expires_at)),
        )
        for each in answers
    ]
    return Document([each.answer for each in answers], columns, rows)


def events(answers: Sequence[Event]) -> Document:
    """Return the log's events, with one row for each."""
    columns = (
        Column("index", right=True),
        *map(Column, ("at", "kind", "actor", "user", "dataset", "query", "tier")),
    )
    rows = [
        (
            *(each.index, _text(each.at), each.kind, each.actor),
            *map(each.answer.get, ("user", "dataset", "query", "tier")),
        )
        for each in answers
    ]
    return Document([each.answer for each in answers], columns, rows)


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
