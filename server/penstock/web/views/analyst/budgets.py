"""Show the budgets granted, spent and left."""

from typing import Final

from flask import Response, request

from penstock.services import budgets as services
from penstock.services.datasets import datasets
from penstock.services.overviews import burn_downs
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import SIGNED_IN, Pages
from penstock.web.presenters import budget_charts
from penstock.web.presenters.figure import Picture
from penstock.web.presenters.pages.burn_downs import burned

pages = Pages()

SHOWN: Final = 10
"""The datasets on a page: each takes some fifteen statements."""

MOST_COURSES: Final = 6
"""The most datasets on a page that has what was left of each over time."""


@pages.get("/budgets", SIGNED_IN, menu="Budgets")
def budgets(visit: Visit) -> Response:
    """Show the budgets of all visible datasets, or of one: the caller's tier, or all for overseers.

    Where there are many datasets, what was left over time is shown of one.
    """
    chosen = request.args.get("dataset", "")
    page = None if chosen else datasets.listing(visit.server, visit.principal, visit.window(SHOWN))
    names = [item.name for item in page.items] if page else [chosen]
    shown = [services.show(visit.server, visit.principal, name) for name in names]
    many = len(names) > MOST_COURSES
    return visit.page(
        "analyst/budgets.html",
        chosen=chosen,
        budgets=[
            (
                budget_charts.shown(budget, place),
                None if many else _course(visit, budget.dataset, place),
            )
            for place, budget in enumerate(shown)
        ],
        many=many,
        onward=visit.onward(page) if page else None,
    )


def _course(visit: Visit, dataset: str, place: int) -> Picture | None:
    return burned(burn_downs.look(visit.server, visit.principal, dataset), place)
