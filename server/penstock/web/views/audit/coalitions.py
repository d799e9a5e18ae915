"""Show the losses of all tiers in all datasets, and the joint exposure of any set of people."""

from typing import Any

from flask import Response, request

from penstock.errors import InvalidInput, NotFound
from penstock.services.datasets import datasets
from penstock.services.exposure import by_query as services
from penstock.services.exposure import by_tier, exposure
from penstock.services.pagination import LARGEST_LIMIT, Window
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import AUDITOR, Pages
from penstock.web.presenters import exposure_charts

pages = Pages()


@pages.get("/exposure", AUDITOR, menu="Who could learn what")
def coalition(visit: Visit) -> Response:
    """Show the joint privacy loss of the chosen people, and what they have of each query.

    Without people, the losses of every tier in each dataset are shown.
    """
    server, caller = visit.server, visit.principal
    chosen = exposure_charts.names(request.args)
    dataset = request.args.get("dataset", "").strip() or None
    shown: dict[str, Any] = {
        "people": services.listing(server, caller, Window(LARGEST_LIMIT)),
        "datasets": datasets.listing(server, caller, Window(LARGEST_LIMIT)).items,
        "chosen": chosen,
        "dataset": dataset,
    }
    try:
        if not chosen:
            matrix = by_tier.look(server, caller, dataset)
            return visit.page("audit/coalition.html", matrix=matrix, **shown)
        view = exposure.of(server, caller, chosen, dataset)
        window = visit.window(exposure_charts.SHOWN)
        queries = services.shared(server, caller, chosen, window, dataset)
    except (InvalidInput, NotFound) as problem:
        status = 404 if isinstance(problem, NotFound) else 422
        return visit.page("audit/coalition.html", status, refusal=problem.detail, **shown)
    return visit.page(
        "audit/coalition.html",
        exposure=view,
        total=exposure_charts.total(view),
        queries=exposure_charts.by_query(queries.items),
        onward=visit.onward(queries),
        **shown,
    )
