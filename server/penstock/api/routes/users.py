"""Handle requests about users, clearance, tokens, groups, invitations, and the caller."""

from penstock.api.operations import ADMIN, ONESELF_OR_ADMIN, OVERSEER, SIGNED_IN, Operations
from penstock.api.request_context import Call
from penstock.services.pagination import Page, Window
from penstock.services.people import tokens, user_lists, users
from penstock.services.schemas.people.groups import GroupMappingSpec
from penstock.services.schemas.people.invitations import (
    InvitationSpec,
    InvitationView,
    IssuedInvitationView,
)
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserChange, UserList, UserSpec
from penstock.services.schemas.people.views import (
    GroupMappingView,
    IssuedTokenView,
    MeView,
    NewUsersView,
    RevokedTokenView,
    TokenView,
    UserView,
)
from penstock.services.sign_on import invitations, mappings

operations = Operations()


@operations.get("/me", SIGNED_IN)
def show_me(call: Call) -> MeView:
    """Show who the caller is, by the token that came with the request."""
    return users.me(call.server, call.principal)


@operations.get("/users", ADMIN)
def list_users(call: Call, window: Window) -> Page[UserView]:
    """List all users, in the order in which they were created."""
    return users.listing(call.server, call.principal, window)


@operations.post("/users", ADMIN, refusals=(409,))
def create_user(call: Call, request: UserSpec) -> UserView:
    """Create a user."""
    return users.create(call.server, call.principal, request)


@operations.post("/users/import", ADMIN, status=200)
def import_users(call: Call, request: UserList) -> NewUsersView:
    """Create the users of a list: all of them, or none.

    A refusal names every name that is taken or occurs twice, and every clearance that is unknown.
    A dry run looks at the list and creates nobody.
    """
    return user_lists.create(call.server, call.principal, request)


@operations.get("/users/{user}", ADMIN)
def show_user(call: Call, user: str) -> UserView:
    """Show one user."""
    return users.show(call.server, call.principal, user)


@operations.patch("/users/{user}", ADMIN, refusals=(409,))
def change_user(call: Call, user: str, request: UserChange) -> UserView:
    """Promote or demote a user, or change their roles.

    The change takes effect at once, also for tokens already issued. Users keep the releases that
    they were given. The last admin cannot lose that role.
    """
    return users.change(call.server, call.principal, user, request)


@operations.delete("/users/{user}", ADMIN, refusals=(409,))
def disable_user(call: Call, user: str) -> UserView:
    """Disable a user.

    Their tokens are revoked; the record of their releases stays. The last admin cannot be disabled.
    """
    return users.disable(call.server, call.principal, user)


@operations.get("/users/{user}/tokens", ONESELF_OR_ADMIN)
def list_tokens(call: Call, user: str, window: Window) -> Page[TokenView]:
    """List a user's tokens, without their secrets."""
    return tokens.listing(call.server, call.principal, user, window)


@operations.post("/users/{user}/tokens", ONESELF_OR_ADMIN, refusals=(409,))
def issue_token(call: Call, user: str, request: TokenSpec) -> IssuedTokenView:
    """Issue a token. Its secret is shown in this answer only.

    It expires with the token that the request came with, and is revoked with it, also if it is for
    another user. The number of a user's valid tokens is limited: a 409 names some that could be
    revoked.
    """
    return tokens.issue(call.server, call.principal, user, request)


@operations.delete("/users/{user}/tokens/{prefix}", ONESELF_OR_ADMIN)
def revoke_token(call: Call, user: str, prefix: str) -> RevokedTokenView:
    """Revoke a token, and all tokens that were created with it, at once."""
    return tokens.revoke(call.server, call.principal, user, prefix)


@operations.get("/group-mappings", OVERSEER)
def list_group_mappings(call: Call, window: Window) -> Page[GroupMappingView]:
    """List what the groups of the identity provider give to their members."""
    return mappings.listing(call.server, call.principal, window)


@operations.post("/group-mappings", ADMIN, refusals=(409,))
def map_group(call: Call, request: GroupMappingSpec) -> GroupMappingView:
    """Map a group of the identity provider to roles and a tier, in place of an earlier mapping.

    It counts from each member's next sign-in at the provider. The clearance that an admin set for a
    user is never exceeded.
    """
    return mappings.give(call.server, call.principal, request)


@operations.delete("/group-mappings/{mapping}", ADMIN)
def unmap_group(call: Call, mapping: str) -> GroupMappingView:
    """Let a group give nothing from now on.

    It counts from each member's next sign-in at the provider.
    """
    return mappings.take(call.server, call.principal, mapping)


@operations.get("/invitations", ADMIN)
def list_invitations(call: Call, window: Window) -> Page[InvitationView]:
    """List all invitations without their links, in the order in which they were made."""
    return invitations.listing(call.server, call.principal, window)


@operations.post("/invitations", ADMIN, refusals=(409,))
def invite(call: Call, request: InvitationSpec) -> IssuedInvitationView:
    """Invite a person. The link is shown in this answer only.

    Whoever accepts it first becomes the user, and gets a token, until the invitation expires or is
    revoked, and while the admin who invited is one and their token is valid. It ends no later than
    the token that the request came with.
    """
    return invitations.invite(call.server, call.principal, request)


@operations.delete("/invitations/{invitation}", ADMIN, refusals=(409,))
def revoke_invitation(call: Call, invitation: str) -> InvitationView:
    """Revoke an invitation that was not accepted."""
    return invitations.revoke(call.server, call.principal, invitation)
