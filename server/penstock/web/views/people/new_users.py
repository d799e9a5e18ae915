"""Create the users of a CSV file, chosen or pasted: shown first, then all of them or none."""

from flask import Response, request
from werkzeug.datastructures import MultiDict

from penstock.services.people import user_lists
from penstock.services.schemas.people.user_files import COLUMNS
from penstock.services.schemas.people.users import MOST_USERS, UserList
from penstock.services.schemas.people.views import NewUsersView
from penstock.web.forms import form_input
from penstock.web.forms.form_input import Form
from penstock.web.http.idempotent_forms import once, tried
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, Pages

pages = Pages()


@pages.get("/new/users", ADMIN)
def new_users(visit: Visit) -> Response:
    """Show the form that takes a file."""
    return _page(visit, Form())


@pages.post("/new/users/preview", ADMIN)
def preview_new_users(visit: Visit) -> Response:
    """Show the users of the file, who are not created yet."""
    raw = _chosen() or _pasted()
    given = MultiDict(request.form)
    # Shown as text, whatever it is; what is refused or accepted are the bytes.
    given["csv"] = raw.decode("utf-8-sig", errors="replace")

    def look() -> Response:
        return _page(visit, Form(given), _created(visit, raw, dry_run=True))

    return tried(look, lambda problem: _page(visit, form_input.refused(given, problem)))


@pages.post("/new/users", ADMIN)
def add_users(visit: Visit) -> Response:
    """Create the users of the file."""
    given = request.form

    def act() -> tuple[Response, str]:
        _created(visit, _pasted(), dry_run=False)
        response = visit.go("people", done="added")
        return response, response.location or ""

    return tried(
        lambda: once(visit, act), lambda problem: _page(visit, form_input.refused(given, problem))
    )


def _chosen() -> bytes:
    """Return the file that was chosen, which is as short as a form; empty if none was."""
    file = request.files.get("file")
    return b"" if file is None else file.read()


def _pasted() -> bytes:
    return request.form.get("csv", "").encode(errors="replace")


def _created(visit: Visit, raw: bytes, *, dry_run: bool) -> NewUsersView:
    specs = user_lists.read_file(visit.server, visit.principal, raw)
    sent = UserList(users=specs, dry_run=dry_run)
    return user_lists.create(visit.server, visit.principal, sent)


def _page(visit: Visit, form: Form, looked: NewUsersView | None = None) -> Response:
    return visit.page(
        "people/new_users.html",
        form.status,
        form=form,
        looked=looked,
        columns=COLUMNS,
        most=MOST_USERS,
    )
