"""Serve the web pages; they work without scripts and contain no business rules.

* ``http``        declarations of pages, and the handling of their requests
* ``views``       the pages, by subject; each calls the same services as the API's routes
* ``forms``       reads what was typed and builds the specs that services take
* ``presenters``  turns the answers of services into what templates and charts take
* ``charts``      draws SVG from plain numbers
"""

from collections.abc import Mapping

from penstock.web.http.blueprint import FILES, blueprint
from penstock.web.http.routes import ANYBODY
from penstock.web.views import PAGES

POLICIES: Mapping[str, str] = {
    **{page.name: page.policy.sentence for page in PAGES},
    **dict.fromkeys(FILES, ANYBODY.sentence),
}
"""For each endpoint of the blueprint, who may see it."""

ROUTES: tuple[tuple[str, str], ...] = (
    *((page.verb, page.path) for page in PAGES),
    *(("GET", path) for path in FILES.values()),
)
"""Verb and path (in Flask's notation) of everything that the blueprint serves."""

__all__ = ["PAGES", "POLICIES", "ROUTES", "blueprint"]
