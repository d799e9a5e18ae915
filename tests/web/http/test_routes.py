"""Test that pages are declared with a verb, a path and a policy, under the names of their views."""

from flask import Response

from penstock.web import PAGES
from penstock.web.http.routes import ADMIN, PageRoute, Pages, Visit


def test_a_view_is_declared_as_it_stands() -> None:
    pages = Pages()

    @pages.get("/things", ADMIN, menu="Things")
    def things(visit: Visit) -> Response:
        raise NotImplementedError

    @pages.post("/things", ADMIN)
    def add(visit: Visit) -> Response:
        raise NotImplementedError

    assert pages.declared == [
        PageRoute("GET", "/things", ADMIN, things, "Things"),
        PageRoute("POST", "/things", ADMIN, add),
    ]
    assert [page.name for page in pages.declared] == ["things", "add"]


def test_every_page_has_a_name_an_address_and_who_may_see_it() -> None:
    assert len({page.name for page in PAGES}) == len(PAGES)
    assert len({(page.verb, page.path) for page in PAGES}) == len(PAGES)
    for page in PAGES:
        assert page.verb in {"GET", "POST"}
        assert page.policy.needs_session or not page.policy.roles
        assert page.verb == "GET" or not page.menu
