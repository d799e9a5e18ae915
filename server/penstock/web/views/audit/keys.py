"""Show which of the provider's keys wraps which dataset."""

from flask import Response

from penstock.services.operations import key_status
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, Pages

pages = Pages()


@pages.get("/keys", ADMIN, menu="Keys")
def keys(visit: Visit) -> Response:
    """Show the names of the keys in use; keys themselves are never shown."""
    view = key_status.look(visit.server, visit.principal)
    return visit.page("audit/keys.html", keys=view)
