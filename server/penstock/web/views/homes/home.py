"""Show callers what concerns them most, by their roles."""

from typing import Any

from flask import Response, request

from penstock.services.audit import events
from penstock.services.operations import backup
from penstock.services.overviews import duties, log_news, own_data, spent_shares, worst_cases
from penstock.services.pagination import Window
from penstock.services.requests import views as requests
from penstock.web.http.csrf import Origin
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import AUDITOR, SIGNED_IN, Pages
from penstock.web.presenters.pages import home_figures

pages = Pages()

SEEN_COOKIE = "penstock-seen"
YEAR = 31_536_000
"""Seconds that a browser remembers how much of the log was seen."""

LONGEST_SIZE = 15
"""The most digits of a size of the log."""

MOST_REQUESTS = 5
MOST_EVENTS = 10
MOST_CASES = 6


@pages.get("/home", SIGNED_IN, menu="Home")
def home(visit: Visit) -> Response:
    """Show what each of the caller's roles is about."""
    shown: dict[str, Any] = {}
    if visit.may("analyst"):
        shown |= _of_analysts(visit)
    if visit.may("admin", "auditor"):
        shown["spent"] = spent_shares.look(visit.server, visit.principal)
    if visit.may("admin"):
        shown |= _of_admins(visit, shown["spent"])
    if visit.may("auditor"):
        shown |= _of_auditors(visit, shown["spent"])
    return visit.page("home/home.html", **shown)


def _of_analysts(visit: Visit) -> dict[str, Any]:
    server, caller = visit.server, visit.principal
    # Of the requests, those who decide see all, and on a page of their own.
    own = None if visit.may("admin") else Window(MOST_REQUESTS)
    results = own_data.results(server, caller)
    return {
        "own": own_data.datasets(server, caller),
        "results": [home_figures.result(view, place) for place, view in enumerate(results)],
        "requests": requests.listing(server, caller, own, newest_first=True).items if own else [],
    }


def _of_admins(visit: Visit, spent: spent_shares.SpentSharesView) -> dict[str, Any]:
    server, caller = visit.server, visit.principal
    waiting, copied = duties.look(server, caller), backup.last(server.settings)
    return {
        "figures": home_figures.figures(waiting, spent, copied, server.clock()),
        "events": events.administered(server, caller, MOST_EVENTS),
    }


def _of_auditors(visit: Visit, spent: spent_shares.SpentSharesView) -> dict[str, Any]:
    server, caller = visit.server, visit.principal
    names = [dataset.dataset for dataset in spent.datasets[:MOST_CASES]]
    return {
        "news": log_news.since(server, caller, _size(request.cookies.get(SEEN_COOKIE))),
        "cases": worst_cases.look(server, caller, names),
        "health": log_news.health(server, caller),
    }


@pages.post("/home/seen", AUDITOR)
def mark_seen(visit: Visit) -> Response:
    """Let the browser remember how much of the log its user has seen: what was on the page."""
    size, answer = _size(request.form.get("size")), visit.go("home")
    secure = Origin(visit.server.settings).keeps_cookies
    answer.set_cookie(SEEN_COOKIE, str(size), YEAR, secure=secure, httponly=True, samesite="Strict")
    return answer


def _size(text: str | None) -> int:
    """Return a size of the log; 0 for anything that is none."""
    known = text and text.isascii() and text.isdigit() and len(text) <= LONGEST_SIZE
    return int(text) if known and text else 0
