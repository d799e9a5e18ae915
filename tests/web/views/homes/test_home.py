"""Test what everybody arrives at, by role: their own, what waits, what is new in the log."""

import re

import pytest
from tests.api.world import QUERY, World
from tests.web.every_page.matrix import requested
from tests.web.world import Browser, Open, text_of

from penstock.errors import Suspended
from penstock.services.access.principals import acting_as
from penstock.services.audit import proof_status
from penstock.services.overviews import log_news, own_data, spent_shares
from penstock.web.views.homes.home import SEEN_COOKIE


@pytest.fixture
def olga(browse: Open) -> Browser:
    return browse("olga")


def test_everybody_arrives_here_after_signing_in(browse: Open) -> None:
    browser = browse()
    answer = browser.send("/sign-in", token=browser.world.tokens["ann"], next="")
    assert answer.location == "/signed-in?next=/home"
    assert 'aria-current="page"' in browser.get("/home").text.partition("</nav>")[0]


def test_each_role_has_its_own_sections(browse: Open) -> None:
    sections = {
        "ann": ["datasets", "results", "requests"],
        "root": ["waiting", "activity"],
        "olga": ["news", "worst", "health"],
    }
    for name, expected in sections.items():
        main = browse(name).get("/home").text.partition("<main")[2]
        assert re.findall(r'<h2 id="(\w+)"', main) == expected


def test_a_dataset_that_is_hidden_is_not_shown_nor_figures_of_other_tiers(
    browse: Open, world: World
) -> None:
    ann, ian = text_of(browse("ann").get("/home")), text_of(browse("ian").get("/home"))
    assert "closed" in ian
    assert "closed" not in ann
    assert "internal , epsilon 4" in ian
    assert "public , epsilon 1" in ann
    for hidden in ("internal", "epsilon 4", "secret", "rising"):
        assert hidden not in ann, hidden
    before = browse("ann").get("/home").text
    larger = {"budgets": {"internal": {"epsilon": 9}}}
    world.answer("PATCH", "/api/v1/datasets/sites", larger, by="root")
    hidden_query = {**QUERY, "name": "above", "levels": {"internal": {"epsilon": 1}}}
    world.answer("POST", "/api/v1/queries", hidden_query, by="root")
    world.answer("POST", "/api/v1/queries/above/releases", {}, by="ian")
    key = re.compile(r'name="form_key" value="\w+"')
    assert key.sub("", browse("ann").get("/home").text) == key.sub("", before)


def test_a_release_is_shown_with_its_chart_and_leads_to_its_query(browse: Open) -> None:
    browser = browse("ian")
    assert "You have received no release yet" in text_of(browser.get("/home"))
    browser.submit("/queries/visits/releases")
    page = browser.get("/home").text
    assert '<h3><a href="/queries/visits">' in page
    assert "result0" in page
    assert "You have received no release yet" not in page
    assert "You have received no release yet" in text_of(browse("noa").get("/home"))


def test_a_release_whose_query_is_out_of_sight_leads_to_itself(browse: Open, world: World) -> None:
    held = world.answer("POST", "/api/v1/queries/secret/releases", {}, by="ian")["id"]
    world.answer("PATCH", "/api/v1/users/ian", {"clearance": "public"}, by="root")
    page = browse("ian").get("/home").text
    assert f'<h3><a href="/releases/{held}">' in page
    assert 'href="/queries/secret"' not in page


def test_of_long_lists_the_first_are_shown_and_it_is_said(
    browse: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_data, "MOST_DATASETS", 1)
    monkeypatch.setattr(own_data, "MOST_NUMBERS", 1)
    browser = browse("ian")
    browser.submit("/queries/visits/releases")
    words = text_of(browser.get("/home"))
    assert "These are 1 of 3" in words
    assert "The first 1 of 2 numbers" in words
    monkeypatch.setattr(spent_shares, "LOOKED_AT", 1)
    assert "of the 1 newest, of 3 datasets" in text_of(browse("root").get("/home"))
    assert "of the 1 newest of 3 datasets" in text_of(browse("olga").get("/home"))


def test_requests_are_shown_with_their_state_to_who_sent_them(browse: Open, world: World) -> None:
    assert "You have requested no query" in text_of(browse("ian").get("/home"))
    sent = requested(world)
    page = browse("ian").get("/home")
    assert f'href="/requests/{sent}"' in page.text
    assert "waiting for a decision" in text_of(page)
    assert sent not in browse("ann").get("/home").text
    assert 'class="presses"><a href="/requests"' in browse("root").get("/home").text


def test_somebody_without_a_clearance_is_told_what_to_do(browse: Open) -> None:
    words = text_of(browse("noa").get("/home"))
    assert "You have no clearance" in words
    assert "Ask an admin for a tier" in words


def test_admins_see_what_was_changed_and_not_who_received_what(browse: Open, world: World) -> None:
    world.answer("POST", "/api/v1/queries/visits/releases", {}, by="ann")
    words = text_of(browse("root").get("/home"))
    assert "rising was registered over dataset sites" in words
    assert "received" not in words.replace("who received what is for auditors", "")


def test_figures_lead_to_the_pages_that_deal_with_them(root: Browser) -> None:
    page = root.get("/home").text
    links = re.findall(r'<li(?: class="presses")?><a href="([^"]+)"><span class="title">', page)
    assert links == ["/requests", "/proposals?state=open", "/budgets", "/docs/", "/keys", "/users"]
    for link in links[:3] + links[4:]:
        assert root.get(link).status_code == 200


def test_what_was_seen_is_remembered_by_the_browser_as_a_number(
    olga: Browser, world: World
) -> None:
    page = olga.get("/home")
    assert "remembers no earlier look" in text_of(page)
    found = re.search(r'name="size" value="(\d+)"', page.text)
    assert found is not None
    answer = olga.submit("/home/seen", size=found.group(1))
    assert (answer.status_code, answer.location) == (303, "/home")
    (kept,) = answer.headers.getlist("Set-Cookie")
    pair, *attributes = kept.split("; ")
    assert pair == f"{SEEN_COOKIE}={found.group(1)}"
    life = "Max-Age=31536000"
    assert {"Secure", "HttpOnly", life, "Path=/", "SameSite=Strict"} <= set(attributes)
    size = int(found.group(1))
    before = log_news.since(world.server, acting_as(world.server, "olga"), size).new
    world.answer("POST", "/api/v1/queries/visits/releases", {}, by="ian")
    page = olga.get("/home")
    assert f"had {size:,} entries when you looked last" in text_of(page)
    assert f"and {before + 1} more since" in text_of(page)
    assert 'href="/timeline?kind=release"><strong>1</strong> release</a>' in page.text


def test_nothing_new_is_said_and_a_shorter_log_is_an_alarm(olga: Browser) -> None:
    size = re.search(r'name="size" value="(\d+)"', olga.get("/home").text)
    assert size is not None
    olga.submit("/home/seen", size=str(int(size.group(1)) + 100))
    words = text_of(olga.get("/home"))
    assert "fewer entries than this browser has seen" in words


@pytest.mark.parametrize("size", ["", "-1", "x", "9" * 16, "٣"])
def test_what_is_no_size_is_remembered_as_none(olga: Browser, size: str) -> None:
    olga.submit("/home/seen", size=size)
    cookie = olga.client.get_cookie(SEEN_COOKIE, "127.0.0.1")
    assert cookie is not None
    assert cookie.value == "0"
    olga.client.set_cookie(SEEN_COOKIE, size, domain="127.0.0.1", secure=True)
    assert "remembers no earlier look" in text_of(olga.get("/home"))


def test_auditors_see_the_worst_case_of_each_dataset_beside_its_budget(olga: Browser) -> None:
    page = olga.get("/home")
    assert 'href="/exposure?dataset=sites"' in page.text
    assert re.search(r"epsilon [\d.]+ of 4\b", text_of(page))


def test_a_suspended_server_is_said_to_be_so(
    olga: Browser, monkeypatch: pytest.MonkeyPatch, world: World
) -> None:
    assert "The log is healthy." in text_of(olga.get("/home"))
    whole = proof_status.status(world.server, acting_as(world.server, "olga"))
    assert whole.sound

    def fail() -> None:
        raise Suspended("The witness saw more.")

    monkeypatch.setattr(type(world.server.sequencer), "require_sound", lambda _: fail())
    words = text_of(olga.get("/home"))
    assert "The log is healthy." not in words
    assert "The witness saw more." in words
