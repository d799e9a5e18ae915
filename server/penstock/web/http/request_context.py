"""One request for a page, as the views see it."""

from dataclasses import dataclass, replace
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
"""Items on a page of a list."""

PATIENCE = 20.0
"""Seconds that a preview which somebody asked for by a button waits for the one before."""


@dataclass(frozen=True)
class Visit:
    """The server, what its requests share, who asks, and the secret of their session.

    ``caller`` is ``None`` and ``secret`` empty on pages that anybody may see.
    """

    server: Server
    limits: Limits
    runner: Runner
    caller: Principal | None = None
    secret: str = ""

    def by(self, caller: Principal, secret: str) -> "Visit":
        """Return this visit as one of ``caller``, whose session has ``secret``."""
        return replace(self, caller=caller, secret=secret)

    @property
    def principal(self) -> Principal:
        """The caller.  Only pages that anybody may see have none."""
        if self.caller is None:
            raise RuntimeError("a page without a session asked for its caller")
        return self.caller

    @property
    def form_key(self) -> str:
        """What the session's forms carry."""
        return sessions.form_key(self.server, self.secret) if self.secret else ""

    @property
    def trouble(self) -> str | None:
        """Why nothing is drawn or changed now, where that is known."""
        return restores.trouble(self.server)

    def may(self, *roles: str) -> bool:
        """Whether the caller has one of ``roles``; what is not offered is refused as well."""
        return self.caller is not None and not self.caller.roles.isdisjoint(roles)

    def page(self, template: str, status: int = 200, **shown: Any) -> Response:
        """A page; ``visit`` and what is ``shown`` are known to its template."""
        return make_response(render_template(template, visit=self, **shown), status)

    def go(self, page: str, **names: str | None) -> Response:
        """Send the browser to another page, whatever it asked with."""
        place = url_for(f"web.{page}", _external=False, **names)
        return Response(status=303, headers={"Location": place})

    def window(self, limit: int = SHOWN) -> Window:
        """Which part of this page's list is asked for.  Raises ``InvalidInput``."""
        sealed = request.args.get("cursor")
        opened = Cursors(self.server).open(request.path, sealed) if sealed else None
        return Window.parse(str(limit), opened)

    def onward(self, page: Page[Any]) -> str | None:
        """The address of this list's next part, with the filters that it has."""
        if page.next_cursor is None:
            return None
        sealed = Cursors(self.server).seal(request.path, page.next_cursor)
        given = request.args.items(multi=True)
        kept = [(name, text) for name, text in given if name != "cursor"]
        return (
            f"{quote(request.script_root + request.path)}?{urlencode([*kept, ('cursor', sealed)])}"
        )

    @property
    def patience(self) -> float:
        """How many seconds a preview waits for the caller's last one to be done.

        What a script asks for while they type does not wait.
        """
        return 0.0 if self.is_part else PATIENCE

    @property
    def is_part(self) -> bool:
        """Whether a script of ours asks for a part of a page rather than for all of it."""
        return "HX-Request" in request.headers
