"""Provide every page, and who may see it."""

from typing import NamedTuple

from tests.api.world import World, propose
from tests.web.every_page.admin_rows import ADMIN_ROWS
from tests.web.every_page.auditor_rows import AUDITOR_ROWS
from tests.web.every_page.own_rows import COMPOSED_ROWS, OWN_ROWS, REQUEST_ROWS
from tests.web.world import Browser
from werkzeug.test import TestResponse

from penstock.web import PAGES


class Row(NamedTuple):
    """Hold one page: how it is asked for, and the status for each of ``CALLERS``."""

    name: str
    path: str
    noa: int
    ann: int
    ian: int
    root: int
    olga: int
    fields: tuple[tuple[str, str], ...] = ()


PURPOSE = (("purpose", "The yearly report"), ("once", "30"))
INTERNAL = (("tier", "internal"),)
SQL = (
    ("dataset", "loans"),
    ("sql", "SELECT COUNT(*) FROM loans WHERE book > 9"),
    ("name", "all loans"),
    ("max_groups", "1"),
    ("max_rows", "3"),
    ("level public", "0.01"),
    ("level internal", "0.01"),
)


# noa has no clearance, ann is cleared for public, ian for internal, root is an admin and
# olga an auditor.  RELEASE stands for ann's release.  The rows are asked in this order, so
# that histories come before what would lengthen them.
MATRIX = [
    #   page                path                             noa  ann  ian root olga
    Row("sign_out", "/sign-out", 303, 303, 303, 303, 303),
    Row("home", "/home", 200, 200, 200, 200, 200),
    Row("catalogue", "/catalogue", 200, 200, 200, 200, 200),
    Row("dataset", "/datasets/sites", 404, 200, 200, 200, 200),
    Row("dataset", "/datasets/closed", 404, 404, 200, 200, 200),
    Row("ask_sql", "/ask/sql", 200, 200, 200, 200, 403),
    Row("ask_sql", "/ask/sql?dataset=loans", 200, 200, 200, 200, 403),
    Row("preview_sql", "/ask/sql/preview", 422, 200, 200, 200, 403, SQL),
    Row("preview_sql", "/ask/sql/preview", 422, 422, 422, 422, 403),
    Row("try_sql", "/ask/sql/dummy", 404, 200, 200, 200, 403, SQL),
    Row("register_sql", "/ask/sql", 422, 403, 403, 303, 403, (*SQL, ("once", "21"))),
    Row("request_sql", "/ask/sql/request", 422, 422, 422, 403, 403, SQL),
    Row("request_sql", "/ask/sql/request", 422, 303, 303, 403, 403, (*SQL, *PURPOSE)),
    Row("query", "/queries/visits", 404, 200, 200, 200, 200),
    Row("query", "/queries/secret", 404, 404, 200, 200, 200),
    Row("query", "/queries/books", 404, 200, 200, 200, 200),
    Row("history", "/history", 200, 200, 200, 403, 200),
    Row("history", "/history?query=visits", 404, 200, 404, 403, 200),
    Row("history", "/history?user=ann", 403, 200, 403, 403, 200),
    Row("consequences", "/queries/visits/request", 404, 200, 200, 403, 403),
    Row("consequences", "/queries/visits/request?tier=internal", 404, 422, 200, 403, 403),
    Row("consequences", "/queries/secret/request", 404, 404, 200, 403, 403),
    Row("request_release", "/queries/visits/releases", 404, 303, 303, 403, 403),
    Row("request_release", "/queries/visits/releases", 404, 403, 303, 403, 403, INTERNAL),
    Row("request_release", "/queries/secret/releases", 404, 404, 303, 403, 403),
    Row("stream", "/streams/arrivals", 404, 200, 200, 200, 200),
    Row("stream", "/streams/rising", 404, 404, 200, 200, 200),
    Row("stream_totals", "/streams/arrivals/totals", 404, 200, 200, 403, 403),
    Row("stream_totals", "/streams/arrivals/totals?from=2", 404, 200, 200, 403, 403),
    Row("stream_totals", "/streams/arrivals/totals?tier=internal", 404, 422, 200, 403, 403),
    Row("stream_totals", "/streams/rising/totals", 404, 404, 200, 403, 403),
    Row("release", "/releases/RELEASE", 404, 200, 404, 403, 403),
    Row("release", "/releases/RELEASE?quantity=total", 404, 200, 404, 403, 403),
    Row("release", "/releases/RELEASE?quantity=mode", 404, 422, 404, 403, 403),
    Row("download", "/releases/RELEASE/csv", 404, 200, 404, 403, 403),
    Row("download", "/releases/RELEASE/exe", 422, 422, 422, 403, 403),
    Row("stream_chart", "/streams/arrivals/chart/svg", 404, 200, 200, 403, 403),
    Row("stream_chart", "/streams/arrivals/chart/exe", 404, 422, 422, 403, 403),
    Row("stream_chart", "/streams/arrivals/chart/svg?number=99", 404, 422, 422, 403, 403),
    Row("stream_chart", "/streams/arrivals/chart/svg?tier=internal", 404, 403, 200, 403, 403),
    Row("stream_chart", "/streams/rising/chart/svg", 404, 404, 200, 403, 403),
    Row("query_chart", "/queries/visits/chart/svg", 404, 200, 200, 403, 403),
    Row("query_chart", "/queries/visits/chart/exe", 404, 422, 422, 403, 403),
    Row("query_chart", "/queries/secret/chart/svg", 404, 404, 200, 403, 403),
    Row("release_chart", "/releases/RELEASE/chart/svg", 404, 200, 404, 403, 403),
    Row("release_chart", "/releases/RELEASE/chart/exe", 404, 422, 404, 403, 403),
    # A pushed vector is no table of counts.
    Row("synthetic_rows", "/releases/RELEASE/synthetic/csv", 404, 422, 404, 403, 403),
    Row("synthetic_rows", "/releases/RELEASE/synthetic/exe", 422, 422, 422, 403, 403),
    Row("budgets", "/budgets", 200, 200, 200, 200, 200),
    *(Row(*one) for one in REQUEST_ROWS),
    *(Row(*one) for one in ADMIN_ROWS),
    *(Row(*one) for one in COMPOSED_ROWS),
    *(Row(*one) for one in AUDITOR_ROWS),
    *(Row(*one) for one in OWN_ROWS),
]


REQUEST = {
    "name": "loans of some books",
    "dataset": "loans",
    "aggregate": {"type": "count"},
    "where": [{"column": "book", "op": ">", "value": 3}],
    "contribution": {"max_groups": 1, "max_rows_per_group": 3},
    "mechanism": "gaussian",
    "levels": {"internal": {"epsilon": 0.01}},
    "purpose": "The yearly report",
}

VERBS = {page.name: page.verb for page in PAGES}


def asked(browser: Browser, row: Row, key: str = "") -> TestResponse:
    """Return the answer to one row of the matrix."""
    path = row.path
    if "RELEASE" in path:
        held = browser.world.answer("GET", "/api/v1/releases", by="ann")["items"]
        path = path.replace("RELEASE", held[0]["id"])
    if "REQUEST" in path:
        path = path.replace("REQUEST", requested(browser.world))
    if "PROPOSAL" in path:
        path = path.replace("PROPOSAL", propose(browser.world))
    if "EXPORT" in path:
        path = path.replace("EXPORT", exported(browser.world))
    if VERBS[row.name] == "GET":
        return browser.get(path)
    return browser.led(browser.send(path, form_key=key, **dict(row.fields)))


def requested(world: World) -> str:
    """Let ian request a query, unless he did, and return the identifier of the request."""
    sent = world.answer("GET", "/api/v1/requests", by="ian")["items"]
    sent = sent or [world.answer("POST", "/api/v1/requests", REQUEST, by="ian")]
    identifier: str = sent[0]["id"]
    return identifier


def exported(world: World) -> str:
    """Start a piece of work of olga's, always the same one, and return its name."""
    olga = Browser(world, world.client.application.test_client())
    olga.sign_in("olga")
    place = olga.submit("/proofs/export", once="matrix").location
    return place.removeprefix("/my-work/").partition("?")[0]
