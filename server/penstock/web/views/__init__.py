"""Show the pages, by subject.  A view parses only its form; rules live in the services.

* ``homes``    the page at which everybody arrives
* ``analyst``  pages of every reader
* ``data``     registering and changing datasets, queries and streams, by admins
* ``people``   tiers, users and clearance
* ``audit``    the log, coalitions, keys, restores
* ``wordings`` titles and other texts for readers
"""

from penstock.web.http.routes import PageRoute
from penstock.web.views.analyst import (
    appearance,
    budgets,
    catalogue,
    history,
    own_jobs,
    own_tokens,
    queries,
    questions,
    sign_in,
    single_sign_on,
    streams,
)
from penstock.web.views.audit import coalitions, keys, log, proofs, reports, restore, shredding
from penstock.web.views.data import (
    allowances,
    declarations,
    levels,
    new_dataset,
    new_query,
    new_schedule,
    new_stream,
    new_version,
    raising_budgets,
    retiring,
    same_people,
    schedules,
)
from penstock.web.views.homes import home
from penstock.web.views.people import (
    clearance,
    groups,
    invitations,
    new_users,
    proposals,
    request_decisions,
    requests,
    tiers,
    users,
)
from penstock.web.views.wordings import texts

_READ = (
    sign_in,
    single_sign_on,
    appearance,
    home,
    catalogue,
    questions,
    requests,
    queries,
    streams,
    history,
    budgets,
    own_tokens,
)
_ADMINISTERED = (
    request_decisions,
    raising_budgets,
    allowances,
    levels,
    retiring,
    new_dataset,
    declarations,
    new_query,
    new_version,
    same_people,
    texts,
    new_stream,
    schedules,
    new_schedule,
    tiers,
    clearance,
    users,
    new_users,
    groups,
    invitations,
    proposals,
    keys,
    shredding,
    restore,
)
_AUDITED = (log, coalitions, proofs, reports)

PAGES: tuple[PageRoute, ...] = tuple(
    page
    for subject in (*_READ, *_ADMINISTERED, *_AUDITED, own_jobs)
    for page in subject.pages.declared
)
"""All pages, without static files."""
