"""Sign in at the provider: send the browser there, and begin a session when it comes back.

An attempt's secrets are in the browser alone, which holds them sealed; what comes back without
them is refused before the provider is asked.  An attempt counts once, and for ``LIFE``.
"""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from penstock.errors import Forbidden, NotAuthenticated, NotFound
from penstock.openid.issuer import Refused
from penstock.openid.relying_party import Attempt, RelyingParty
from penstock.services.access import sessions, used_once
from penstock.services.access.sessions import SignedIn
from penstock.services.context import Server
from penstock.services.sign_on import accounts

LIFE: Final = timedelta(minutes=10)


def begin(server: Server) -> tuple[str, Attempt]:
    """Return the provider's address for a new attempt, and its secrets.

    Raises ``NotFound`` if nobody can sign in at a provider, and ``IdentityUnavailable``.
    """
    attempt = Attempt.fresh()
    return party_of(server).address(attempt), attempt


def finish(
    server: Server, attempt: Attempt, begun: datetime, answer: Mapping[str, str], former: str
) -> SignedIn:
    """Begin the session of the person with whom the provider answered, in place of ``former``.

    Raises ``NotAuthenticated`` with one text for every answer that does not belong to the attempt
    or is not valid, ``Forbidden`` for people who may not sign in, ``IdentityUnavailable``, and
    ``NotFound`` as ``begin`` does.
    """
    party = party_of(server)
    with server.database.read() as session:
        server.clock.look(session)
    now = server.clock()
    if not hmac.compare_digest(answer.get("state", "").encode(), attempt.state.encode()):
        raise refusal()
    if not begun <= now < begun + LIFE:
        raise refusal()
    if not used_once.use(server, "sign-on", attempt.state, begun + LIFE):
        raise refusal()
    if "error" in answer:
        raise Forbidden("The identity provider did not sign you in. Nothing was done.")
    try:
        account = party.redeem(answer, attempt, now)
    except Refused as problem:
        raise refusal() from problem
    principal = accounts.admit(server, account)
    return sessions.begin(
        server,
        principal,
        former,
        subject=digest(account.issuer, account.subject),
        provider_session=digest(account.issuer, account.session) if account.session else None,
    )


def digest(issuer: str, name: str) -> bytes:
    """Return the SHA-256 digest under which sessions keep a provider's account or session."""
    return hashlib.sha256(f"{issuer}\0{name}".encode()).digest()


def refusal() -> NotAuthenticated:
    """Return the refusal of an answer, whatever is wrong with it."""
    return NotAuthenticated(
        "The sign-in at the identity provider was not begun in this browser in the last"
        f" {LIFE.seconds // 60} minutes, was used already, or is not valid. Sign in again."
    )


def party_of(server: Server) -> RelyingParty:
    """Return what signs people in at the provider.  Raises ``NotFound`` if there is no provider."""
    if server.relying_party is None:
        raise NotFound("Nobody can sign in at an identity provider here.")
    return server.relying_party
