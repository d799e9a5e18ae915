"""Serve the pages for people: they work without a script, and no rule lives in them.

* ``http``        how a page is declared, and how it becomes an answer
* ``views``       the pages, by subject; each calls the services that the API's routes call
* ``forms``       from what was typed to what a service is asked for
* ``presenters``  from what services answer to what templates and charts take
* ``charts``      plain numbers in, SVG out
"""

from collections.abc import Mapping

from penstock.web.http.blueprint import STATIC, blueprint
from penstock.web.http.routes import ANYBODY
from penstock.web.views import PAGES

POLICIES: Mapping[str, str] = {
    **{page.name: page.policy.sentence for page in PAGES},
    STATIC: ANYBODY.sentence,
}
"""Who may see each endpoint of the blueprint."""

ROUTES: tuple[tuple[str, str], ...] = (
    *((page.verb, page.path) for page in PAGES),
    ("GET", "/static/<path:name>"),
)
"""Verb and address, as Flask writes it, of all that the blueprint serves."""

__all__ = ["PAGES", "POLICIES", "ROUTES", "blueprint"]
