"""Show datasets, their queries and streams."""

from flask import Response, request

from penstock.services.context import Server
from penstock.services.datasets import allowances, datasets, look_alikes
from penstock.services.operations import key_rotation
from penstock.services.pagination import LARGEST_LIMIT, Window
from penstock.services.queries import category_checks, queries
from penstock.services.requests import news
from penstock.services.schemas.views import DatasetView
from penstock.services.streams import streams
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import SIGNED_IN, Pages

pages = Pages()


@pages.get("/catalogue", SIGNED_IN, menu="Catalogue")
def catalogue(visit: Visit) -> Response:
    """Show all datasets, queries and streams that the caller may see."""
    server, caller = visit.server, visit.principal
    page = queries.listing(server, caller, visit.window())
    begins = "cursor" not in request.args
    return visit.page(
        "analyst/catalogue.html",
        datasets=datasets.listing(server, caller, Window(LARGEST_LIMIT)).items if begins else [],
        streams=streams.listing(server, caller, Window(LARGEST_LIMIT)).items if begins else [],
        queries=page.items,
        allowances=allowances.usable(server, caller) if begins else {},
        onward=visit.onward(page),
        begins=begins,
        decided=news.decided(server, caller) if begins and visit.may("analyst") else [],
        commented=news.commented(server, caller) if begins and visit.may("analyst") else [],
        days=news.DAYS,
    )


@pages.get("/datasets/<dataset>", SIGNED_IN)
def dataset(visit: Visit, dataset: str) -> Response:
    """Show one dataset with its columns, queries and streams."""
    server, caller = visit.server, visit.principal
    shown = datasets.show(server, caller, dataset)
    page = queries.listing(server, caller, visit.window(), shown.name)
    return visit.page(
        "analyst/dataset.html",
        dataset=shown,
        allowance=allowances.usable(server, caller).get(shown.name),
        readable=key_rotation.readable(server, shown.name),
        checks=_checks(visit.server, shown) if visit.may("admin") else {},
        added="added" in request.args,
        notices=_notices(visit, shown.name),
        corrected="corrected" in request.args,
        joined="joined" in request.args,
        queries=page.items,
        streams=streams.listing(server, caller, Window(LARGEST_LIMIT), shown.name).items,
        onward=visit.onward(page),
    )


def _checks(server: Server, shown: DatasetView) -> dict[str, dict[str, object]]:
    """Return by column the fields of the form that checks its categories."""
    if not shown.budgets:
        return {}
    *_, tier = shown.budgets
    return {
        name: {
            "dataset": shown.name,
            "name": category_checks.free_name(server, shown.name, name),
            "aggregate": "uncategorized",
            "column": name,
            "max_rows": None if shown.privacy_unit == {"rows": 1} else 1,
            "mechanism": category_checks.noise_of(shown),
            f"level {tier}": category_checks.EPSILON,
        }
        for name, column in shown.columns.items()
        if column.get("categories")
    }


def _notices(visit: Visit, name: str) -> list[str]:
    """Return notices about a dataset that was registered just now; for admins only."""
    if "added" not in request.args or not visit.may("admin"):
        return []
    return look_alikes.notices_of(visit.server, visit.principal, name)
