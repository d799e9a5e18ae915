"""Preview a stream and its cost, and other structures at the same guarantee.

It reads only specs and accounts, and changes nothing.  Analysts see tiers up to their own, as in
``query_preview``.
"""

from dataclasses import replace

from penstock.services.access.principals import Principal
from penstock.services.allowances.own_names import require_unused
from penstock.services.computations import computations
from penstock.services.computations.stream_quotes import quote_stream
from penstock.services.context import Server
from penstock.services.datasets.datasets import visible_below, visible_dataset
from penstock.services.ledger.charges import accounts_of, require_free_name
from penstock.services.previews.query_preview import refused
from penstock.services.schemas.stream_previews import StreamPreviewView
from penstock.services.schemas.streams import StreamRequest
from penstock.services.streams.stream_terms import terms_of


def preview_stream(
    server: Server, principal: Principal, request: StreamRequest, patience: float = 0.0
) -> StreamPreviewView:
    """Preview what opening ``request`` would do, and compare other structures.

    It waits ``patience`` seconds for a computation that the same user has just started.  Raises
    what opening would, except for lack of budget, which the answer states.
    """
    principal.require("analyst", "admin")
    with server.database.read() as session:
        limit = visible_below(session, principal)
        dataset = visible_dataset(session, principal, request.dataset)
        accounts = accounts_of(session, dataset, limit)
    terms = terms_of(server, dataset, request)
    priced = server.computing.run(
        principal.name, patience, quote_stream, request, terms, accounts, limit
    )
    quote = computations.among(priced.quote, accounts)
    with server.database.read() as session:
        require_free_name(session, request.name, limit)
        if limit is None:
            require_unused(session, request.name)
        problem = refused(session, dataset, request.max_levels, priced.dimension, quote, limit)
    return replace(priced.view, refusal=None if problem is None else problem.detail)
