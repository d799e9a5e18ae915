"""End sessions of the pages when the provider says that theirs ended."""

from datetime import timedelta

from sqlmodel import col, delete

from penstock.errors import MalformedInput
from penstock.openid.issuer import LEEWAY, Refused
from penstock.persistence.tables.sessions import WebSession
from penstock.services.access import used_once
from penstock.services.context import Server
from penstock.services.sign_on.flow import digest, party_of


def end(server: Server, token: str) -> None:
    """End the sessions that a logout token names: one of an account's, or all of them.

    A session whose sign-in named no session of the provider ends with each of its account.  Raises
    ``MalformedInput`` with one text for every token that is not valid or was used before,
    ``IdentityUnavailable``, and ``NotFound`` if nobody signs in at a provider.
    """
    party = party_of(server)
    with server.database.read() as session:
        server.clock.look(session)
    try:
        notice = party.notice(token, server.clock())
    except Refused as problem:
        raise _refusal() from problem
    until = notice.expires + timedelta(seconds=LEEWAY)
    if not used_once.use(server, "log-out", notice.name, until):
        raise _refusal()
    own = delete(WebSession)
    if notice.subject is not None:
        own = own.where(col(WebSession.subject) == digest(notice.issuer, notice.subject))
    if notice.session is not None:
        there = col(WebSession.provider_session)
        same = there == digest(notice.issuer, notice.session)
        own = own.where(same if notice.subject is None else same | there.is_(None))
    with server.database.write_own_rows() as session:
        session.exec(own)


def _refusal() -> MalformedInput:
    return MalformedInput("This is no logout token for this server, or it was used before.")
