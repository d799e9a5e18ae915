"""Represent one request for a page, as the views see it."""

from dataclasses import dataclass, replace
from string import ascii_letters, digits
from typing import Any
from urllib.parse import quote, urlencode

from flask import Response, make_response, render_template, request, url_for

from penstock.http.counting.rate_limits import Limits
from penstock.http.cursors import Cursors
from penstock.services.access import sessions
from penstock.services.access.principals import Principal
from penstock.services.audit import restores
from penstock.services.context import Server
from penstock.services.jobs.runner import Runner
from penstock.services.pagination import Page, Window

SHOWN = 50
"""Number of items on a page of a list."""

SCHEME_COOKIE = "penstock-scheme"
SCHEMES = ("light", "dark")

PLAIN = frozenset(f"{ascii_letters}{digits}-_.")
LONGEST_NAME = 100
"""Letters of the name of a file, and their largest number: the last ones remain."""

PATIENCE = 20.0
"""Seconds that a preview started by a button waits for the user's previous one."""


@dataclass(frozen=True)
class Visit:
    """Hold the server, what all requests share, the caller, and the secret of their session.

    On public pages ``caller`` is ``None`` and ``secret`` is empty.
    """

    server: Server
    limits: Limits
    runner: Runner
    caller: Principal | None = None
    secret: str = ""

    def by(self, caller: Principal, secret: str) -> "Visit":
        """Return a copy of this visit for ``caller``, whose session has ``secret``."""
        return replace(self, caller=caller, secret=secret)

    @property
    def principal(self) -> Principal:
        """Return the caller; only public pages have none."""
        if self.caller is None:
            raise RuntimeError("a page without a session has no caller")
        return self.caller

    @property
    def form_key(self) -> str:
        """Return the key that the session's forms carry."""
        return sessions.form_key(self.server, self.secret) if self.secret else ""

    @property
    def trouble(self) -> str | None:
        """Return the reason why nothing can be drawn or changed now, if any."""
        return restores.trouble(self.server)

    @property
    def place(self) -> str:
        """Return the path of this page, without what was asked of it."""
        return quote(request.script_root + request.path)

    @property
    def scheme(self) -> str:
        """Return the colors that the browser's user chose; empty if the system decides."""
        chosen = request.cookies.get(SCHEME_COOKIE, "")
        return chosen if chosen in SCHEMES else ""

    def may(self, *roles: str) -> bool:
        """Return True if the caller has one of ``roles``; it hides links, and services refuse."""
        return self.caller is not None and not self.caller.roles.isdisjoint(roles)

    def question(self) -> None:
        """Count a question that the caller tries or sends.  Raises ``TooManyRequests``."""
        self.limits.question(self.principal)

    def page(self, template: str, status: int = 200, **shown: Any) -> Response:
        """Return a page; its template gets ``visit`` and everything in ``shown``."""
        return make_response(render_template(template, visit=self, **shown), status)

    def file(self, content: bytes, kind: str, name: str) -> Response:
        """Return a file to keep; of its name there remains what every system takes."""
        plain = "".join(letter if letter in PLAIN else "-" for letter in name)[-LONGEST_NAME:]
        answer = Response(content, mimetype=kind)
        answer.headers["Content-Disposition"] = f'attachment; filename="{plain.lstrip("-.")}"'
        return answer

    def go(self, page: str, **names: str | None) -> Response:
        """Redirect the browser to another page with GET, whatever the method of this request."""
        place = url_for(f"web.{page}", _external=False, **names)
        return Response(status=303, headers={"Location": place})

    def window(self, limit: int = SHOWN) -> Window:
        """Return the requested part of this page's list.  Raises ``InvalidInput``."""
        sealed = request.args.get("cursor")
        opened = Cursors(self.server).open(request.path, sealed) if sealed else None
        return Window.parse(str(limit), opened)

    def onward(self, page: Page[Any], **also: str) -> str | None:
        """Return the address of this list's next page with the same filters, if there is one.

        ``also`` has what the address says instead of or besides them.
        """
        if page.next_cursor is None:
            return None
        sealed = Cursors(self.server).seal(request.path, page.next_cursor)
        given = request.args.items(multi=True)
        replaced = {**also, "cursor": sealed}
        kept = [(name, text) for name, text in given if name not in replaced]
        words = urlencode([*kept, *replaced.items()])
        return f"{quote(request.script_root + request.path)}?{words}"

    @property
    def patience(self) -> float:
        """Return how many seconds a preview waits for the caller's previous one.

        Requests of a script while the user types do not wait.
        """
        return 0.0 if self.is_part else PATIENCE

    @property
    def is_part(self) -> bool:
        """Return True if this server's script requests a part of a page."""
        return "HX-Request" in request.headers
