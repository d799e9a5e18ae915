"""Test the history's filters, which stand in its address, for analysts and for auditors."""

import re
from datetime import UTC, timedelta
from urllib.parse import quote, urlencode

import pytest
from tests.api.world import World
from tests.web.world import HOSTILE, Browser, Open, text_of

from penstock.services.access.principals import acting_as
from penstock.services.pagination import Window
from penstock.services.releases import history

LINE = re.compile(r'aria-label="Proof of leaf (\d+)"')


@pytest.fixture
def given(world: World) -> list[int]:
    """Return the leaves of what ian holds: two levels of two queries of two datasets."""
    for query in ("visits", "books"):
        for tier in ("public", "internal"):
            world.clock.now += timedelta(hours=1)
            world.answer("POST", f"/api/v1/queries/{query}/releases", {"tier": tier}, by="ian")
    items = world.answer("GET", "/api/v1/releases", by="ian")["items"]
    return [item["receipt"]["index"] for item in items]


def listed(browser: Browser, **filters: str) -> list[int]:
    answer = browser.get(f"/history?{urlencode(filters)}")
    assert answer.status_code == 200, answer.text
    return [int(index) for index in LINE.findall(answer.text)]


def test_a_filter_leaves_what_fits(browse: Open, given: list[int]) -> None:
    ian = browse("ian")
    assert listed(ian) == given
    assert listed(ian, query="visits") == listed(ian, dataset="sites") == given[:2]
    assert listed(ian, query="books") == listed(ian, dataset="loans") == given[2:]
    assert listed(ian, tier="public") == given[::2]
    assert listed(ian, tier="internal", query="books") == given[3:]


def test_times_are_from_the_first_on_and_before_the_second(
    browse: Open, world: World, given: list[int]
) -> None:
    ian = browse("ian")
    items = history.listing(world.server, acting_as(world.server, "ian"), Window()).items
    second = items[1].released_at.astimezone(UTC)
    at = second.replace(tzinfo=None).isoformat()
    assert listed(ian, since=at) == given[1:]
    assert listed(ian, until=at) == given[:1]
    just = (second + timedelta(seconds=1)).replace(tzinfo=None).isoformat()
    assert listed(ian, since=at, until=just) == given[1:2]
    assert listed(ian, since="2100-01-01") == []
    assert "No release matches" in text_of(ian.get("/history?since=2100-01-01"))


def test_an_auditor_filters_everybodys(browse: Open, world: World, given: list[int]) -> None:
    world.answer("POST", "/api/v1/queries/visits/releases", {}, by="ann")
    olga = browse("olga")
    (anns,) = set(listed(olga, user="ann")) - set(listed(olga, user="ian"))
    assert listed(olga, user="ian") == given
    assert anns in listed(olga, tier="public", query="visits")
    assert anns not in listed(olga, tier="internal")


@pytest.mark.parametrize(
    "filters", ["since=yesterday", "until=9", "since=2026-02-01&until=2026-01-01"]
)
def test_filters_that_mean_nothing_are_refused_and_stay(browse: Open, filters: str) -> None:
    answer = browse("ian").get(f"/history?{filters}&query=visits")
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert 'name="query" value="visits"' in answer.text
    for part in filters.split("&"):
        name, value = part.split("=")
        assert f'name="{name}" value="{value}"' in answer.text


@pytest.mark.parametrize("name", ["dataset", "query"])
def test_what_an_analyst_holds_nothing_of_is_as_good_as_missing(browse: Open, name: str) -> None:
    ann = browse("ann")
    hidden = {"dataset": "closed", "query": "secret"}[name]
    there, missing = (ann.get(f"/history?{name}={value}") for value in (hidden, "absent"))
    assert there.status_code == missing.status_code == 404
    assert ann.get(f"/history?{name}={quote(HOSTILE, safe='')}").status_code == 404
    assert browse("olga").get(f"/history?{name}={hidden}").status_code == 200
