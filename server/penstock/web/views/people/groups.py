"""Show what groups of the OpenID provider give, and change it."""

from flask import Response, request

from penstock.connectors.planning.refusals import checked
from penstock.errors import InvalidInput
from penstock.services.access.principals import ROLES
from penstock.services.people import tiers
from penstock.services.schemas.people.groups import GroupMappingSpec
from penstock.services.sign_on import mappings
from penstock.web.forms import form_input
from penstock.web.forms.form_input import Form
from penstock.web.http.idempotent_forms import tried
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, OVERSEER, Pages

pages = Pages()


@pages.get("/groups", OVERSEER, menu="Groups")
def groups(visit: Visit) -> Response:
    """Show the groups that are mapped, and to admins the form that maps one."""
    return _page(visit, Form())


@pages.post("/groups", ADMIN)
def map_group(visit: Visit) -> Response:
    """Map a group; a repeat changes nothing."""
    given = request.form

    def act() -> Response:
        roles, tier = given.getlist("roles"), given.get("tier") or None
        if not roles and tier is None:
            raise InvalidInput("Choose a role, a tier, or both.", pointer="/roles")
        spec = {"group": given.get("group", "").strip(), "roles": roles, "tier": tier}
        mappings.give(visit.server, visit.principal, checked(GroupMappingSpec, spec))
        return visit.go("groups", done="mapped")

    return tried(act, lambda problem: _page(visit, form_input.refused(given, problem)))


@pages.post("/groups/<mapping>/removal", ADMIN)
def unmap_group(visit: Visit, mapping: str) -> Response:
    """Let a group give nothing from now on."""
    mappings.take(visit.server, visit.principal, mapping)
    return visit.go("groups", done="removed")


def _page(visit: Visit, form: Form) -> Response:
    page = mappings.listing(visit.server, visit.principal, visit.window())
    settings = visit.server.settings
    return visit.page(
        "people/groups.html",
        form.status,
        groups=page.items,
        onward=visit.onward(page),
        tiers=tiers.listing(visit.server),
        roles=ROLES,
        form=form,
        done=request.args.get("done"),
        issuer=settings.oidc_issuer,
        claim=settings.oidc_groups_claim,
        creates=settings.oidc_create_users,
    )
