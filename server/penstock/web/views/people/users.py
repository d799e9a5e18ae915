"""Show, add and disable users, and manage their roles and tokens."""

from flask import Response, request

from penstock.connectors.planning.refusals import checked
from penstock.errors import PenstockError
from penstock.services.access.principals import ROLES
from penstock.services.pagination import LARGEST_LIMIT, Window
from penstock.services.people import tiers, tokens, users
from penstock.services.schemas.people.users import UserChange, UserSpec
from penstock.web.forms import form_input
from penstock.web.forms.confirmation import require_named
from penstock.web.forms.form_input import Form
from penstock.web.forms.people import token_form
from penstock.web.forms.people.user_form import person
from penstock.web.http.idempotent_forms import once, tried
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, Pages
from penstock.web.presenters.pages.token_states import with_states

pages = Pages()


@pages.get("/users", ADMIN, menu="People")
def people(visit: Visit) -> Response:
    """Show all users, with the form that adds one."""
    return _people(visit, Form())


@pages.post("/users", ADMIN)
def add_user(visit: Visit) -> Response:
    """Add a user, who can do nothing until they have a token."""
    given = request.form

    def act() -> tuple[Response, str]:
        made = users.create(visit.server, visit.principal, checked(UserSpec, person(given)))
        response = visit.go("user", user=made.name, done="added")
        return response, response.location or ""

    return tried(
        lambda: once(visit, act), lambda problem: _people(visit, form_input.refused(given, problem))
    )


@pages.get("/users/<user>", ADMIN)
def user(visit: Visit, user: str) -> Response:
    """Show one user: roles, clearance, tokens."""
    return _user(visit, user, Form())


@pages.post("/users/<user>/roles", ADMIN)
def change_roles(visit: Visit, user: str) -> Response:
    """Change the roles of a user."""

    def act() -> Response:
        change = checked(UserChange, {"roles": request.form.getlist("roles")})
        changed = users.change(visit.server, visit.principal, user, change)
        return visit.go("user", user=changed.name, done="changed")

    return tried(act, lambda problem: _refused(visit, user, problem))


@pages.post("/users/<user>/disabling", ADMIN)
def disable_user(visit: Visit, user: str) -> Response:
    """Disable a user."""

    def act() -> Response:
        require_named(request.form, user)
        done = users.disable(visit.server, visit.principal, user)
        return visit.go("user", user=done.name, done="disabled")

    return tried(act, lambda problem: _refused(visit, user, problem))


@pages.post("/users/<user>/tokens", ADMIN)
def issue_token(visit: Visit, user: str) -> Response:
    """Issue a token; only this response shows it."""
    later = visit.go("user", user=user, done="issued")
    return tried(
        lambda: token_form.issue(visit, user, later), lambda problem: _refused(visit, user, problem)
    )


@pages.post("/users/<user>/tokens/<prefix>/revocation", ADMIN)
def revoke_token(visit: Visit, user: str, prefix: str) -> Response:
    """Revoke a token at once."""
    gone = tokens.revoke(visit.server, visit.principal, user, prefix)
    return visit.go("user", user=gone.user, done="revoked")


def _people(visit: Visit, form: Form) -> Response:
    page = users.listing(visit.server, visit.principal, visit.window())
    return visit.page(
        "people/users.html",
        form.status,
        people=page.items,
        onward=visit.onward(page),
        tiers=tiers.listing(visit.server),
        roles=ROLES,
        form=form,
        done=request.args.get("done"),
    )


def _user(visit: Visit, name: str, form: Form) -> Response:
    view = users.show(visit.server, visit.principal, name)
    views = tokens.listing(visit.server, visit.principal, view.name, Window(LARGEST_LIMIT)).items
    return visit.page(
        "people/user.html",
        form.status,
        user=view,
        tokens=with_states(views, visit.server.clock()),
        next=tokens.preview(visit.server, visit.principal, view.name),
        roles=ROLES,
        form=form,
        done=request.args.get("done"),
    )


def _refused(visit: Visit, name: str, problem: PenstockError) -> Response:
    return _user(visit, name, form_input.refused(request.form, problem))
