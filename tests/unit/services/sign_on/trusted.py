"""Trust an OpenID provider, map its groups, and say who signed in there."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from penstock.openid.relying_party import Account
from penstock.services.access.principals import OPERATOR, Principal
from penstock.services.context import Server
from penstock.services.schemas.people.groups import GroupMappingSpec
from penstock.services.sign_on import mappings

ISSUER = "https://id.example.org"


def trusting(server: Server, **more: Any) -> Server:
    """Return a server whose people sign in at a provider, by groups."""
    chosen = {
        "oidc_issuer": ISSUER,
        "oidc_client_id": "penstock",
        "oidc_groups_claim": "groups",
        "oidc_create_users": True,
        **more,
    }
    return replace(server, settings=server.settings.model_copy(update=chosen))


def mapped(
    server: Server,
    group: str,
    *roles: str,
    tier: str | None = None,
    by: Principal = OPERATOR,
) -> str:
    spec = GroupMappingSpec.model_validate({"group": group, "roles": list(roles), "tier": tier})
    return mappings.give(server, by, spec).id


def account(name: str, groups: Iterable[str] = (), **more: Any) -> Account:
    given = {"issuer": ISSUER, "subject": f"id of {name}", "session": None, **more}
    return Account(user=name, groups=frozenset(groups), **given)
