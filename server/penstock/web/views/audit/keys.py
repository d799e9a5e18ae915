"""Which of the provider's keys keeps which dataset."""

from flask import Response

from penstock.services.operations import key_status
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, Pages

pages = Pages()


@pages.get("/keys", ADMIN, menu="Keys")
def keys(visit: Visit) -> Response:
    """The keys in use, by name: a key never shows itself."""
    view = key_status.look(visit.server, visit.principal)
    return visit.page("audit/keys.html", keys=view)
