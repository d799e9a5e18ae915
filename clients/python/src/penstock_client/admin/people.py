"""Administer users, their tokens, invitations, and tiers."""

from collections.abc import Sequence

from penstock_client._http.address import segment
from penstock_client._show.listing import Listing
from penstock_client.admin import documents
from penstock_client.admin.models import (
    Invitation,
    IssuedInvitation,
    IssuedToken,
    Tier,
    Token,
    User,
)
from penstock_client.admin.sending import Sender


class People(Sender):
    """Provide what admins do with users, tokens, invitations and tiers."""

    def users(self) -> Listing[User]:
        """Return all users."""
        return Listing(map(User.read, self._list("/users")), documents.users)

    def user(self, user: str) -> User:
        """Return one user.  Raises ``NotFound``."""
        return User.read(self._show(_user(user), "user"))

    def create_user(self, name: str, roles: Sequence[str], clearance: str | None = None) -> User:
        """Create a user with roles (``analyst``, ``admin``, ``auditor``) and a tier or none.

        Raises ``Conflict`` for a name that is taken, ``InvalidInput`` for an unknown role or tier.
        """
        body = {"name": name, "roles": list(roles), "clearance": clearance}
        return User.read(self._create("/users", body, "user"))

    def set_clearance(self, user: str, clearance: str | None) -> User:
        """Promote or demote a user, at once for all tokens; None takes the clearance away."""
        return User.read(self._change(_user(user), {"clearance": clearance}, "user"))

    def set_roles(self, user: str, roles: Sequence[str]) -> User:
        """Give a user these roles in place of the present ones."""
        return User.read(self._change(_user(user), {"roles": list(roles)}, "user"))

    def disable_user(self, user: str) -> User:
        """Disable a user for good, with all tokens; what they were given stays in the log."""
        return User.read(self._remove(_user(user), "user"))

    def tokens(self, user: str) -> Listing[Token]:
        """Return the tokens of a user, without their secret part."""
        return Listing(map(Token.read, self._list(f"{_user(user)}/tokens")), documents.tokens)

    def issue_token(
        self,
        user: str,
        *,
        expires_in: str | int | None = None,
        scopes: Sequence[str] | None = None,
    ) -> IssuedToken:
        """Issue a token, which the answer alone contains.

        ``expires_in`` is a number of seconds, or a text such as ``30d``.
        """
        given = {"expires_in": expires_in, "scopes": None if scopes is None else list(scopes)}
        body = {name: value for name, value in given.items() if value is not None}
        return IssuedToken.read(self._create(f"{_user(user)}/tokens", body, "token"))

    def revoke_token(self, user: str, prefix: str) -> Token:
        """Revoke a token at once, with those that were issued by it."""
        return Token.read(self._remove(f"{_user(user)}/tokens/{segment(prefix)}", "token"))

    def invitations(self) -> Listing[Invitation]:
        """Return all invitations, without their links."""
        return Listing(map(Invitation.read, self._list("/invitations")), documents.invitations)

    def invite(
        self,
        name: str,
        roles: Sequence[str],
        clearance: str | None = None,
        *,
        expires_in: str | int | None = None,
    ) -> IssuedInvitation:
        """Invite a person to become a user, by a link that the answer alone contains.

        ``expires_in`` is a number of seconds, or a text such as ``2d``.  Raises as ``create_user``
        does.
        """
        body: dict[str, object] = {"name": name, "roles": list(roles), "clearance": clearance}
        if expires_in is not None:
            body["expires_in"] = expires_in
        return IssuedInvitation.read(self._create("/invitations", body, "invitation"))

    def revoke_invitation(self, invitation: str) -> Invitation:
        """Revoke an invitation.  Raises ``Conflict`` if it was accepted."""
        path = f"/invitations/{segment(invitation)}"
        return Invitation.read(self._remove(path, "invitation"))

    def tiers(self) -> Listing[Tier]:
        """Return all tiers, from the least trusted to the most trusted."""
        return Listing(map(Tier.read, self._list("/tiers")), documents.tiers)

    def create_tier(
        self,
        name: str,
        *,
        rank: int | None = None,
        above: str | None = None,
        description: str = "",
    ) -> Tier:
        """Create a tier at a rank, or right above another tier, or on top of all.

        Raises ``Conflict`` for a name or rank that is taken, and for accounts that would overflow.
        """
        given = {"rank": rank, "above": above}
        body = {name_: value for name_, value in given.items() if value is not None}
        return Tier.read(
            self._create("/tiers", {"name": name, "description": description, **body}, "tier")
        )

    def change_tier(
        self,
        tier: str,
        *,
        rank: int | None = None,
        above: str | None = None,
        description: str | None = None,
    ) -> Tier:
        """Move a tier, or describe it anew.  Raises as ``create_tier`` does."""
        given = {"rank": rank, "above": above, "description": description}
        body = {name: value for name, value in given.items() if value is not None}
        return Tier.read(self._change(f"/tiers/{segment(tier)}", body, "tier"))

    def delete_tier(self, tier: str) -> Tier:
        """Delete a tier.  Raises ``Conflict`` if somebody has it, and ``Proposed``."""
        return Tier.read(self._remove(f"/tiers/{segment(tier)}", "tier"))


def _user(user: str) -> str:
    return f"/users/{segment(user)}"
