"""Presume who sends a token, from its last request, until the request's own look-up confirms it.

Authentication reads the rows of the token and of its user.  A request that reads the database by
one statement anyway can read both rows in the same statement, if it knows what to look for before
it knows its caller.  So the rows of the last request say who it probably is.  Only a caller who
sent the right secret is presumed to be anybody, and nothing is answered, refused, drawn or charged
to a presumed caller: the rows in that statement are authenticated as ever, and have to be the same.
"""

from dataclasses import dataclass

from penstock.encryption.secrets import Secrets
from penstock.persistence.statements.glances import Glance
from penstock.services.access import peppers
from penstock.services.access.principals import (
    KnownToken,
    KnownUser,
    Principal,
    is_valid,
    known_in,
    limited,
)
from penstock.services.access.token_format import prefix_of, well_formed
from penstock.services.context import Server


@dataclass(frozen=True)
class Presumed:
    """Hold a caller whose token was genuine by the rows of its last request, and by ``secrets``."""

    prefix: str
    stored: KnownToken
    user: KnownUser
    secrets: Secrets

    @property
    def principal(self) -> Principal:
        """Return the caller, who is still to be confirmed."""
        return limited(self.user, self.stored.scopes, self.stored.expires_at, self.stored.id)


def presumed(server: Server, token: str) -> Presumed | None:
    """Return who sends ``token``, as far as its last request tells; None if that does not tell."""
    if not well_formed(token):
        return None
    prefix = prefix_of(token)
    known = server.signed_in.get(prefix)
    if known is None:
        return None
    stored, user = known
    secrets = server.stored.now
    if peppers.number_of(stored) != secrets.newest:
        return None
    if not peppers.is_genuine(secrets, stored, token):
        return None
    return Presumed(prefix, stored, user, secrets)


def confirmed(server: Server, glance: Glance, caller: Presumed) -> Principal | None:
    """Return a presumed caller whose rows are unchanged in ``glance``, and still valid.

    None if they are not: the caller is then to be authenticated as if nothing had been presumed.
    """
    if known_in(server, glance) != (caller.stored, caller.user):
        return None
    # After the rows, as in authentication: a pepper may have been dropped in between.
    if server.stored.now is not caller.secrets:
        return None
    if not (is_valid(caller.stored, server.clock()) and caller.user.is_active):
        return None
    return caller.principal
