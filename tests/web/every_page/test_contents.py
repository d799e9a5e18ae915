"""Test what stands on the pages: everything that it should, in our words, and nothing that runs."""

import json
import re
from urllib.parse import quote

import pytest
from tests.api.world import QUERY, World
from tests.web.every_page.contents import LARGEST_PAGE, require_own, weight
from tests.web.world import HOSTILE, Browser, Open, text_of
from werkzeug.test import TestResponse

from penstock.errors import DatabaseUnavailable
from penstock.http.edge import HEADERS as EVERYWHERE
from penstock.services.access import sessions
from penstock.services.datasets import datasets
from penstock.web.charts.results.releases import MOST_KEYS
from penstock.web.http.blueprint import HEADERS

NAMED = quote(HOSTILE, safe="")
ADDRESSES = [
    *(
        "/?about=1",
        "/sign-in",
        "/home",
        "/catalogue",
        "/datasets/sites",
        "/datasets/loans",
        "/queries/visits",
    ),
    *("/queries/books", f"/queries/{NAMED}", "/queries/visits/request?tier=public"),
    *("/streams/arrivals", "/streams/arrivals/totals", "/history", "/budgets", "/nothing"),
]
AUDITED = [
    *(
        "/home?audits",
        "/timeline",
        "/timeline?kind=x",
        "/exposure",
        f"/exposure?user=ian&dataset={NAMED}",
    ),
    *("/exposure?user=ann&user=ian", "/proofs", "/proofs/inclusion?index=0"),
    *("/proofs/consistency?from=1&to=2", "/proofs/verification", "/proofs/inclusion?index=x"),
]
Seen = dict[str, TestResponse]


@pytest.fixture
def ian(browse: Open) -> Browser:
    """Return a user who holds a release of every query."""
    browser = browse("ian")
    for name in ("visits", "books", NAMED):
        for tier in ("public", "internal"):
            path = f"/queries/{name}/releases"
            assert browser.submit(path, tier=tier).status_code == 303
    return browser


@pytest.fixture(scope="module")
def seen_before() -> dict[str, Seen]:
    """Return what was seen, by the kind of the database."""
    return {}


@pytest.fixture
def seen(backend: str, seen_before: dict[str, Seen], request: pytest.FixtureRequest) -> Seen:
    """Return the pages of analysts and auditors, which are looked at once for all tests."""
    if backend not in seen_before:
        ian: Browser = request.getfixturevalue("ian")
        olga: Browser = request.getfixturevalue("browse")("olga")
        found = {path: ian.get(path) for path in ADDRESSES}
        seen_before[backend] = found | {path: olga.get(path) for path in AUDITED}
    return seen_before[backend]


GUARDED = {
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
}
"""What a page may do, word by word."""

QUIETER = {*GUARDED} - {"script-src 'self'", "img-src 'self' data:", "connect-src 'self'"}
"""What everything else may do, should a browser show it."""


def policy_of(answer: TestResponse) -> set[str]:
    return set(answer.headers["Content-Security-Policy"].split("; "))


def test_pages_are_guarded_and_kept_by_nobody(seen: Seen) -> None:
    for path, answer in seen.items():
        headers = answer.headers
        for name, value in {**EVERYWHERE, **HEADERS}.items():
            assert headers.getlist(name) == [value], path
        assert policy_of(answer) == GUARDED, path
        assert headers["Cache-Control"] == "no-store"


def test_files_and_refusals_are_guarded_as_well(ian: Browser, browse: Open, world: World) -> None:
    held = world.answer("GET", "/api/v1/releases?query=books", by="ian")["items"][0]["id"]
    style = re.search(r'/static/[^"]+css[^"]*', ian.get("/catalogue").text)
    assert style is not None
    files = [
        *(ian.get(f"/releases/{held}/{form}") for form in ("csv", "parquet", "arrow")),
        *(ian.get(path) for path in (style.group(), "/static/icon.svg", "/proofs/checkpoint")),
        *(world.call("GET", path) for path in ("/nothing", "/api/v1/nothing", "/healthz")),
    ]
    for answer in files:
        assert answer.mimetype != "text/html"
        assert policy_of(answer) == QUIETER, answer.request.path
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    refused = [
        browse().get("/catalogue"),
        browse().send("/sign-out"),
        browse("ian").send("/sign-out"),
        browse("ian").send("/sign-out", origin="https://elsewhere.example"),
        ian.get("/tiers"),
        ian.get("/nothing"),
        ian.get("/static/nothing.css"),
        ian.get("/sign-out"),
        ian.submit("/sign-out", more="x" * 70_000),
    ]
    assert [answer.status_code for answer in refused] == [
        303,
        401,
        403,
        403,
        403,
        404,
        404,
        405,
        413,
    ]
    for answer in refused:
        assert policy_of(answer) == GUARDED, answer.request.path
        assert answer.headers["Cache-Control"] == "no-store"


def test_nothing_on_a_page_runs_but_our_script_and_nothing_comes_from_elsewhere(
    seen: Seen,
) -> None:
    for path, answer in seen.items():
        require_own(answer, path)


def test_names_are_text_wherever_they_stand(seen: Seen) -> None:
    shown = 0
    for answer in seen.values():
        page = answer.text
        assert "<script>alert" not in page
        assert "<b onload" not in page
        shown += "x&lt;script&gt;alert(1)" in page
    assert shown >= 7
    assert "{{7*7}}" in seen[f"/queries/{NAMED}"].text


def test_names_in_addresses_and_filters_are_text(ian: Browser) -> None:
    for path in (f"/queries/{NAMED}1", f"/history?query={NAMED}1", f"/sign-in?next=/{NAMED}"):
        page = ian.get(path).text
        assert "<script>alert" not in page
        assert "<b onload" not in page


def test_pages_stay_small(browse: Open, seen: Seen) -> None:
    """Each page without data, and with everything that it loads, as it goes over the wire."""
    browser = browse()
    for path, answer in seen.items():
        assert weight(browser, answer.text) < LARGEST_PAGE, path


def test_a_refusal_says_what_the_api_says(browse: Open, world: World) -> None:
    browser = browse("ann")
    for page, path in (
        ("/queries/secret", "/api/v1/queries/secret"),
        ("/history?user=ian", "/api/v1/releases?user=ian"),
    ):
        problem = json.loads(world.call("GET", path, by="ann").data)
        answer = browser.get(page)
        assert answer.status_code == problem["status"]
        assert problem["title"] in text_of(answer)
        assert problem["detail"] in text_of(answer).replace("&#39;", "'")


def test_what_is_not_available_says_so_on_a_page(
    browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = browse("ann")

    def fail(*_: object) -> None:
        raise DatabaseUnavailable("The database is locked; ask again.")

    monkeypatch.setattr(datasets, "listing", fail)
    answer = browser.get("/catalogue")
    assert (answer.status_code, answer.mimetype) == (503, "text/html")
    assert answer.headers["Retry-After"] == "2"
    assert "The database is locked; ask again." in text_of(answer)
    monkeypatch.setattr(sessions, "resume", fail)
    assert browser.get("/catalogue").status_code == 503
    assert browser.get("/nothing").status_code == 404


def test_programs_get_problems_where_there_is_no_page(world: World) -> None:
    assert world.call("GET", "/nothing").mimetype == "application/problem+json"
    accept = {"Accept": "text/html"}
    assert world.call("GET", "/nothing", headers=accept).mimetype == "text/html"
    beside = world.call("GET", "/api/v1/me", headers=accept)
    assert beside.mimetype == "application/problem+json"


def test_the_numbers_of_a_query_are_those_of_the_api(ian: Browser, world: World) -> None:
    released = world.answer("POST", "/api/v1/queries/visits/releases", {}, by="ian")
    page = ian.get("/queries/visits").text
    for value in released["values"]:
        assert f'<td class="right">{value:,.0f}</td>'.replace("-", "\u2212") in page
    one = ian.get(f"/releases/{released['id']}").text
    assert released["receipt"]["leaf_hash"] in one


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow", "json"])
def test_a_download_is_that_of_the_api(ian: Browser, world: World, form: str) -> None:
    held = world.answer("GET", "/api/v1/releases?query=books", by="ian")["items"][0]["id"]
    page = ian.get(f"/releases/{held}/{form}")
    path = f"/api/v1/releases/{held}/values?format={form}"
    assert page.data == world.call("GET", path, by="ian").data
    assert page.headers["Content-Disposition"] == f'attachment; filename="{held}.{form}"'
    assert page.headers["Cache-Control"] == "no-store"


def test_consequences_are_said_before_anything_is_done(browse: Open, world: World) -> None:
    browser = browse("ian")
    before = world.answer("GET", "/api/v1/audit/events?limit=1000", by="olga")
    words = text_of(browser.get("/queries/visits/request?tier=public"))
    for said in ("No budget is spent", "audit log records permanently", "new to you"):
        assert said in words
    assert world.answer("GET", "/api/v1/audit/events?limit=1000", by="olga") == before
    browser.submit("/queries/visits/releases")
    words = text_of(browser.get("/queries/visits/request?tier=public"))
    assert "nothing beyond the more accurate release" in words
    browser.submit("/queries/visits/releases", tier="public")
    assert "already have this release" in text_of(
        browser.get("/queries/visits/request?tier=public")
    )


def test_a_part_of_a_page_comes_alone(browse: Open, world: World) -> None:
    part = browse("ian").get("/queries/visits/request?tier=public", **{"HX-Request": "true"})
    assert "<html" not in part.text
    assert "Preview of this request" in part.text
    gone = browse().get("/queries/visits/request", **{"HX-Request": "true"})
    assert (gone.status_code, gone.headers["HX-Refresh"]) == (204, "true")


def test_lists_go_on_with_their_filters(browse: Open, world: World) -> None:
    browser = browse("ann")
    for number in range(1, 61):
        body = {"level": 4000.0 + 400 * number}
        world.answer("POST", "/api/v1/queries/visits/releases", body, by="ann")
    first = browser.get("/history?query=visits&endpoint=x&_scheme=y").text
    assert first.count("<tr><th") == 51
    onward = re.search(r'href="(/history\?[^"]+cursor=[^"]+)"', first)
    assert onward is not None
    rest = browser.get(onward.group(1).replace("&amp;", "&"))
    assert "query=visits" in onward.group(1)
    assert 0 < rest.text.count("<tr><th") < 50
    assert browser.get("/history?cursor=made-up").status_code == 422


def test_a_retired_query_shows_what_is_held_and_offers_nothing(ian: Browser, world: World) -> None:
    world.answer("POST", "/api/v1/queries/visits/retire", by="root")
    words = text_of(ian.get("/queries/visits"))
    assert "it has no new releases" in words
    assert "Get results" not in words
    assert ian.submit("/queries/visits/releases").status_code == 409


def test_of_very_many_keys_some_are_shown_and_all_are_in_a_download(
    browse: Open, world: World
) -> None:
    count = 5000
    body = {**QUERY, "name": "long", "keys": [f"k{n}" for n in range(count)], "values": [0] * count}
    world.answer("POST", "/api/v1/queries", body, by="root")
    browser = browse("ian")
    answer = browser.submit("/queries/long/releases")
    page = browser.get(answer.location).text
    assert "5,000 groups" in page
    assert page.count('<tr><th scope="row"><bdi>k') == MOST_KEYS
    held = world.answer("GET", "/api/v1/releases?query=long", by="ian")["items"][0]["id"]
    assert browser.get(f"/releases/{held}/csv").text.count("\n") == count + 1
