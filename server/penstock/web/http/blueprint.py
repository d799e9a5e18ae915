"""Build the Flask blueprint: find the session, check it, call the view, set headers.

As in the API, a caller without a session or the role is refused before the request's content is
read, and the refusal equals the API's: the same status and words after the same delay.
"""

from collections.abc import Callable, Mapping

from flask import Blueprint, Response, g, request, url_for
from werkzeug.exceptions import LengthRequired

from penstock.errors import Forbidden, NotAuthenticated, PenstockError
from penstock.http.counting.rate_limits import Limits
from penstock.http.edge import name_caller
from penstock.services.access import sessions
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.jobs.runner import Runner
from penstock.services.people import clearances
from penstock.services.requests import news
from penstock.services.retry import again
from penstock.web.http import error_pages, page_jobs
from penstock.web.http.client_wheel import ClientWheel
from penstock.web.http.csrf import COOKIE, Origin
from penstock.web.http.documentation import Documentation
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import PageRoute
from penstock.web.http.static_files import Assets
from penstock.web.http.uploading import form_parts
from penstock.web.presenters import template_filters
from penstock.web.presenters.pages.menu import Section, help_of, sections
from penstock.web.views import PAGES

LARGEST_FORM = 65_536
STATIC = "static"
DOCUMENTATION = ("documentation", "documentation_root", "documentation_page")
FILES = {
    STATIC: "/static/<path:name>",
    **dict(zip(DOCUMENTATION, ("/docs/", "/docs", "/docs/<path:name>"), strict=True)),
    "clients": "/clients/",
    "client_wheel": "/clients/<name>",
}
"""By endpoint, the paths of what is served from files, to everybody."""

FRONT = next(page for page in PAGES if page.path == "/")

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
        " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    # With "no-referrer", browsers would not send the Origin of forms.
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
"""Headers in addition to those of every response; ``data:`` is for small pictures in the
stylesheet."""


def blueprint(server: Server, limits: Limits, runner: Runner) -> Blueprint:
    """Return the blueprint of all pages; ``limits`` and ``runner`` belong to the whole process."""
    made = Blueprint("web", "penstock.web", template_folder="templates", static_folder=None)
    assets, origin, visitor = Assets(), Origin(server.settings), Visit(server, limits, runner)
    for page in PAGES:
        made.add_url_rule(
            page.path,
            endpoint=page.name,
            view_func=_view(visitor, page, origin),
            methods=[page.verb],
            provide_automatic_options=False,
        )
    site, client = Documentation(), ClientWheel()
    answers: tuple[Callable[..., Response], ...] = (
        assets.answer,
        site.answer,
        site.root,
        site.answer,
        client.answer,
        client.answer,
    )
    for (endpoint, path), answer in zip(FILES.items(), answers, strict=True):
        made.add_url_rule(
            path,
            endpoint=endpoint,
            view_func=answer,
            methods=["GET"],
            strict_slashes=True,
            provide_automatic_options=False,
        )
    for name, filter_ in template_filters.FILTERS.items():
        made.add_app_template_filter(filter_, name)
    made.add_app_template_global(assets.address, "asset")
    made.add_app_template_global(client.wheel, "client_wheel")
    made.add_app_template_global(_menu, "menu")
    made.add_app_template_global(help_of, "help_of")
    made.add_app_template_global(page_jobs.has_any, "has_work")
    made.add_app_template_global(_waiting, "requests_waiting")
    made.add_app_template_global(_tier, "tier_of")

    def guarded(response: Response) -> Response:
        answer = error_pages.as_page(response, lambda: g.get("visit") or _signed_in(visitor))
        if answer.mimetype == "text/html" and (
            request.blueprint == "web" or answer is not response
        ):
            answer.headers.update(HEADERS)
        return answer

    made.after_app_request(guarded)
    return made


def _signed_in(visitor: Visit) -> Visit:
    """Return the visit of the signed-in user, for the menu of a public page or an error page.

    Without a valid session, or if it cannot be checked now, no user is signed in.
    """
    secret = request.cookies.get(COOKIE, "")
    if not secret:
        return visitor
    try:
        return visitor.by(sessions.resume(visitor.server, secret), secret)
    except PenstockError:
        return visitor


def _view(visitor: Visit, page: PageRoute, origin: Origin) -> Callable[..., Response]:
    def view(**names: str) -> Response:
        request.max_content_length = request.max_form_memory_size = LARGEST_FORM
        if page.takes_file:
            request.max_content_length = visitor.server.settings.upload_limit or LARGEST_FORM
        elif "Transfer-Encoding" in request.headers:
            raise LengthRequired  # of unknown length; reading could take forever
        secret = request.cookies.get(COOKIE, "")
        visit = _signed_in(visitor) if page is FRONT else visitor
        if page.policy.needs_session:
            try:
                caller = again(lambda: sessions.resume(visitor.server, secret))
            except NotAuthenticated:
                if page.verb == "GET":
                    return _to_sign_in(had_session=bool(secret))
                raise
            visit = g.visit = visitor.by(caller, secret)
            _admit(visit, page, caller)
        if page.verb != "GET" and page.policy.from_pages:
            origin.require(request.headers.get("Origin"), request.host)
            if page.takes_file:
                # Its key comes before the file: no byte of that is stored for another's form.
                upload = form_parts.opened(request, LARGEST_FORM)
                _require_key(visit, upload.fields)
                return page.view(visit, upload=upload, **names)
            if page.policy.needs_session:
                _require_key(visit, request.form)
        return page.view(visit, **names)

    return view


def _menu(visit: Visit) -> list[Section]:
    """Return the sections of the caller's menu."""
    return sections(
        (page.name, page.menu)
        for page in PAGES
        if page.menu and (not page.policy.roles or visit.may(*page.policy.roles))
    )


def _tier(visit: Visit) -> str | None:
    """Return the tier of an analyst; None for others, and if it cannot be read now."""
    if not visit.may("analyst"):
        return None
    try:
        return clearances.tier_of(visit.server, visit.principal)
    except PenstockError:
        return None


def _waiting(visit: Visit) -> int:
    """Return how many requests wait for an admin; 0 for others, and if it cannot be checked now."""
    if not visit.may("admin"):
        return 0
    try:
        return news.waiting(visit.server, visit.principal)
    except PenstockError:
        return 0


def _admit(visit: Visit, page: PageRoute, caller: Principal) -> None:
    name_caller(caller.name)
    visit.limits.request(caller.name)
    if page.policy.roles:
        caller.require(*page.policy.roles)


def _require_key(visit: Visit, fields: Mapping[str, str]) -> None:
    sent = fields.get("form_key", "")
    if not (visit.secret and sessions.is_form_key(visit.server, visit.secret, sent)):
        raise Forbidden(
            "The form does not belong to this session: it was opened before the last sign-in, or"
            " it comes from another site. Nothing was done. Go back, reload the page and send the"
            " form again."
        )


def _to_sign_in(*, had_session: bool) -> Response:
    """Redirect to the sign-in page, which leads back; for a part of a page, reload the whole."""
    if "HX-Request" in request.headers:
        return Response(status=204, headers={"HX-Refresh": "true"})
    onward = request.script_root + request.full_path.rstrip("?")
    place = url_for("web.sign_in_form", next=onward, ended="1" if had_session else None)
    return Response(status=303, headers={"Location": place})
