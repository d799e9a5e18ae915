"""Show datasets, their queries and streams."""

from typing import Final

from flask import Response, request

from penstock.errors import InvalidInput
from penstock.services.catalogue import listing
from penstock.services.catalogue.choices import Choice
from penstock.services.context import Server
from penstock.services.datasets import allowances, datasets, look_alikes
from penstock.services.operations import key_rotation
from penstock.services.overviews import catalogue_parts
from penstock.services.pagination import LARGEST_LIMIT, Window
from penstock.services.queries import category_checks, queries
from penstock.services.requests import news
from penstock.services.schemas.views import DatasetView
from penstock.services.streams import streams
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import SIGNED_IN, Pages
from penstock.web.presenters.pages import catalogue_links

pages = Pages()

PARTS: Final = ("queries", "datasets", "streams")
"""The lists of the catalogue, of which further pages have one."""


@pages.get("/catalogue", SIGNED_IN, menu="Catalogue")
def catalogue(visit: Visit) -> Response:
    """Show the datasets, queries and streams that the caller may see, or those chosen.

    The first page has the first ones of each; ``part`` names the list of a further page.
    """
    try:
        choice = Choice.parse(request.args)
    except InvalidInput as problem:
        return visit.page("analyst/catalogue.html", 422, choice=Choice(), refusal=problem.detail)
    server, caller = visit.server, visit.principal
    part = request.args.get("part", "")
    part = part if part in PARTS else "queries"
    begins = "cursor" not in request.args
    listed = listing.listing(server, caller, visit.window(), choice) if part == "queries" else None
    begins = begins and listed is not None
    visible, opened = catalogue_parts.NOTHING, catalogue_parts.NOTHING
    if begins or part == "datasets":
        visible = catalogue_parts.chosen_datasets(server, caller, visit.window(), choice)
    if begins or part == "streams":
        opened = catalogue_parts.chosen_streams(server, caller, visit.window(), choice)
    has_news = begins and not choice.narrows and visit.may("analyst")
    return visit.page(
        "analyst/catalogue.html",
        choice=choice,
        orders=catalogue_links.orders(choice),
        chips=catalogue_links.chips(choice),
        datasets=visible.items,
        more_datasets=visit.onward(visible, part="datasets"),
        streams=opened.items,
        more_streams=visit.onward(opened, part="streams"),
        listed=listed,
        queries=[item.query for item in listed.page.items] if listed else [],
        marks={item.query.name: item.marks for item in listed.page.items} if listed else {},
        allowances=allowances.usable(server, caller) if visible.items else {},
        onward=visit.onward(listed.page) if listed else None,
        begins=begins,
        decided=news.decided(server, caller) if has_news else [],
        commented=news.commented(server, caller) if has_news else [],
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
