"""The pages for people, rendered here: they work without a script, and no rule lives in them.

* ``pages``     how a page is declared: verb, address, policy, view
* ``views``     the pages, by subject; each calls the services that the API's routes call
* ``wiring``    from declarations to Flask: session, role, form key, headers
* ``visit``     one request, as the views see it
* ``origin``    which browser may send a form, and the cookie of a session
* ``refusals``  problems as pages
* ``releases``, ``totals``, ``spending``  what services answer with, as charts take it
* ``happenings``  what filters of the log ask for
* ``asking``    what a query asks, in words
* ``knowledge``  what a set of people knows, as charts take it
* ``example``   what the first page explains itself with
* ``forms``     what was typed into a form, and what is wrong with it, field by field
* ``once``      acts of forms: done once, answered by a redirect or by the form again
* ``working``   long work that forms ask for
* ``rungs``, ``building``, ``drafting``  tiers with people, queries and datasets by form
* ``pictures``  a chart, with the same numbers as a table
* ``charts``    plain numbers in, SVG out
* ``wording``   numbers and times in words
* ``assets``    stylesheets and scripts, all from this server
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
