"""Show the budgets granted, spent and left."""

from flask import Response

from penstock.services import budgets as services
from penstock.services.datasets import datasets
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import SIGNED_IN, Pages
from penstock.web.presenters import budget_charts

pages = Pages()


@pages.get("/budgets", SIGNED_IN, menu="Budgets")
def budgets(visit: Visit) -> Response:
    """Show the budgets of all visible datasets: the caller's tier, or all for overseers."""
    page = datasets.listing(visit.server, visit.principal, visit.window())
    return visit.page(
        "analyst/budgets.html",
        budgets=[
            budget_charts.shown(services.show(visit.server, visit.principal, item.name), place)
            for place, item in enumerate(page.items)
        ],
        onward=visit.onward(page),
    )
