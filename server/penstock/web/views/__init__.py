"""The pages, by subject.  A view parses nothing but its form: it calls services and shows."""

from penstock.web.http.routes import Page
from penstock.web.views import (
    budgets,
    catalogue,
    clearance,
    coalitions,
    declarations,
    entry,
    granting,
    history,
    keys,
    levels,
    new_dataset,
    new_query,
    new_stream,
    new_version,
    own_tokens,
    people,
    proofs,
    proposals,
    queries,
    restore,
    retiring,
    same_people,
    shredding,
    streams,
    tiers,
    timeline,
    work,
)

_READ = (entry, catalogue, queries, streams, history, budgets, own_tokens)
_ADMINISTERED = (
    granting,
    levels,
    retiring,
    new_dataset,
    declarations,
    new_query,
    new_version,
    same_people,
    new_stream,
    tiers,
    clearance,
    people,
    proposals,
    keys,
    shredding,
    restore,
)
_AUDITED = (timeline, coalitions, proofs)

PAGES: tuple[Page, ...] = tuple(
    page for subject in (*_READ, *_ADMINISTERED, *_AUDITED, work) for page in subject.pages.declared
)
"""Every page but the files beside them."""
