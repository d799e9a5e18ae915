"""Rotate the pepper while the server runs, and drop retired peppers.

A rotation first writes the file, with the new pepper and all earlier ones, then the database's
check and the log.  An interruption in between does no harm: running servers use the new pepper
already, and rotating again writes what is missing instead of making another.  Dropping first
revokes the tokens that still use a retired pepper, and destroys it afterwards; run again, it
completes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement
from sqlmodel import Session, col, func, select

from penstock.encryption.secrets import PEPPER
from penstock.persistence.tables.people import Token, User
from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.operations import secret_checks, secret_renewal
from penstock.services.people import token_lineage
from penstock.services.people.logged_tokens import record_revocation


@dataclass(frozen=True)
class PepperView:
    """Hold a pepper's number, and how many valid tokens are digested under it."""

    number: int
    retired: bool
    tokens: int


@dataclass(frozen=True)
class PeppersView:
    """Hold the stored peppers, the newest first."""

    peppers: list[PepperView]


def show(server: Server, principal: Principal) -> PeppersView:
    """Return the stored peppers.  Raises ``Forbidden`` and ``KeysUnavailable``."""
    principal.require("admin")
    secrets = server.stored.now
    number = func.coalesce(Token.pepper, 1)
    with server.database.read() as session:
        counted = dict(
            session.exec(
                select(number, func.count()).where(*_valid(server.clock())).group_by(number)
            ).all()
        )
    return PeppersView(
        [
            PepperView(pepper, pepper != secrets.newest, counted.get(pepper, 0))
            for pepper in sorted(secrets.peppers, reverse=True)
        ]
    )


def rotate(server: Server, principal: Principal) -> PeppersView:
    """Make a new pepper, and retire the one before; tokens move to it when they are used.

    It is made as ``secret_renewal.renew`` does.  Raises ``Forbidden`` and ``KeysUnavailable``.
    """
    principal.require("admin")
    secret_renewal.renew(server, principal, PEPPER)
    return show(server, principal)


def drop(server: Server, principal: Principal) -> PeppersView:
    """Revoke the tokens that use retired peppers, and destroy these peppers.

    Backups that have no newer pepper can never be opened again, and sessions that began under a
    retired one end.  Raises ``Forbidden`` and ``KeysUnavailable``.
    """
    principal.require("admin")
    with server.database.write() as session:
        secrets, now = server.stored.now, server.clock()
        # Otherwise the database would require a pepper that is gone.
        secret_checks.add(session, secrets, (PEPPER,))
        resting = _resting(session, secrets.newest, now)
        for token in resting:
            user = session.get_one(User, token.user_id)
            record_revocation(session, principal, user, token, now)
        token_lineage.end_all(session, principal, resting, now)
        dropped = sorted(number for number in secrets.peppers if number != secrets.newest)
        record(session, principal, "key", now, secret=PEPPER, dropped=dropped)
    # Committed first: no row may remain that looks valid and that nobody can check.
    server.stored.drop_peppers()
    return show(server, principal)


def _resting(session: Session, newest: int, now: datetime) -> Sequence[Token]:
    return session.exec(
        select(Token)
        .where(*_valid(now), func.coalesce(Token.pepper, 1) < newest)
        .order_by(col(Token.id))
    ).all()


def _valid(now: datetime) -> tuple[ColumnElement[bool], ...]:
    return col(Token.revoked_at).is_(None), col(Token.expires_at) > now
