"""Write the leaves of tokens, and compare the table of tokens with them."""

from collections.abc import Iterator
from datetime import datetime

from sqlmodel import Session, select

from penstock.persistence.tables.people import Token, User
from penstock.services.access.admin_actions import record
from penstock.services.access.principals import Principal
from penstock.transparency_log import leaves
from penstock.transparency_log.logged_subject import LeafFields, name_of
from penstock.transparency_log.sights import Sight


def record_token(
    session: Session,
    principal: Principal,
    user: User,
    token: Token,
    parent: Token | None,
    at: datetime,
) -> None:
    """Append the leaf of a token of ``user`` that was made with ``parent``, if with any."""
    record(
        session,
        principal,
        "token",
        at,
        user=user.name,
        token=token.prefix,
        scopes=token.scopes.split(","),
        expires=leaves.timestamp(token.expires_at),
        parent=parent.prefix if parent else None,
    )


def record_revocation(
    session: Session, principal: Principal, user: User, token: Token, at: datetime
) -> None:
    """Append the leaf of a token that was revoked."""
    record(session, principal, "token", at, user=user.name, token=token.prefix, revoked=True)


class LoggedTokens:
    """Hold the tokens that the log has; those of disabled users count as revoked."""

    def __init__(self) -> None:
        self._tokens: dict[str, object] = {}
        self._revoked: set[str] = set()
        self._disabled: set[str] = set()

    def take(self, leaf: LeafFields) -> None:
        """Read the leaf of a token, or of a user who was disabled."""
        match leaf["kind"]:
            case "user" if leaf.get("active") is False:
                self._disabled.add(leaf["user"])
            case "token" if leaf.get("revoked"):
                self._revoked.add(leaf["token"])
            case "token":
                made = leaf["user"], leaf["scopes"], leaf["expires"], leaf.get("parent")
                self._tokens[leaf["token"]] = made

    def differences(self, session: Session, _seen: Sight) -> Iterator[str]:
        """Yield messages where tokens differ, or are revoked in one place alone."""
        tokens = session.exec(select(Token)).all()
        users = {user.id: user for user in session.exec(select(User)).all()}
        prefixes = {token.id: token.prefix for token in tokens}
        stored: dict[str, object] = {
            token.prefix: (
                name_of(users.get(token.user_id)),
                token.scopes.split(","),
                leaves.timestamp(token.expires_at),
                prefixes.get(token.parent_id) if token.parent_id else None,
            )
            for token in tokens
        }
        if stored != self._tokens:
            yield "the tokens are not those of the log"
        for token in tokens:
            owner = name_of(users.get(token.user_id))
            revoked = token.prefix in self._revoked or owner in self._disabled
            if revoked != (token.revoked_at is not None):
                yield (
                    f"token {token.prefix} is revoked in the log and not here, or the other way"
                    " round"
                )
