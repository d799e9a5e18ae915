"""Test a stream's page: levels side by side, each read recorded."""

import re
from html import unescape

from tests.api.world import World
from tests.web.world import Browser, Open


def totals(browser: Browser, query: str) -> str:
    answer = browser.get(f"/streams/arrivals/totals?{query}")
    assert answer.status_code == 200, answer.text
    return answer.text


def test_levels_of_a_stream_are_drawn_side_by_side_and_recorded_each(
    browse: Open, world: World
) -> None:
    ian = browse("ian")
    alone = {tier: totals(ian, f"tier={tier}&from=2&to=7") for tier in ("public", "internal")}
    before = world.answer("GET", "/api/v1/audit/events?kind=stream", by="olga")["items"]
    page = totals(ian, "tier=public&tier=internal&from=2&to=7")
    after = world.answer("GET", "/api/v1/audit/events?kind=stream", by="olga")["items"]
    assert [leaf["tier"] for leaf in after[len(before) :]] == ["internal", "public"]
    body = page[page.index("<caption>") :]
    for tier, own in alone.items():
        assert f"{tier}: value" in body
        for number in re.findall(r'<td class="right">([^<]*)</td>', own[own.index("<caption>") :])[
            :18
        ]:
            assert f">{number}</td>" in body
    # Values and totals of two levels, at two widths.
    assert page.count('class="band"') == 2 * 2 * 2


def test_nothing_is_read_where_one_of_the_levels_is_refused(browse: Open, world: World) -> None:
    ann = browse("ann")
    answer = ann.get("/streams/arrivals/totals?tier=public&tier=internal")
    assert answer.status_code == 422
    assert world.answer("GET", "/api/v1/audit/events?kind=stream", by="olga")["items"] == []
    assert 'value="public" checked' in answer.text


def test_values_of_steps_are_differences_of_the_totals_that_were_read(
    browse: Open, world: World
) -> None:
    ian = browse("ian")
    before = len(world.answer("GET", "/api/v1/audit/events?kind=stream", by="olga")["items"])
    page = totals(ian, "tier=internal&from=2&to=7")
    after = world.answer("GET", "/api/v1/audit/events?kind=stream", by="olga")["items"]
    # Totals are read, and nothing else.
    assert len(after) == before + 1
    assert "The value of a step is its running total less the one before" in page
    steps = re.findall(r"<bdi>(\d+)</bdi></th><td class=\"right\">([^<]*)<", page)
    assert [step for step, _ in steps] == ["2", "3", "4", "5", "6", "7"]
    assert [bool(value) for _, value in steps] == [False] + [True] * 5
    assert "The interval is" in page
    alone = totals(ian, "tier=internal&from=4&to=4")
    assert "read the total before it as well" in alone


def test_a_chart_is_a_file_of_the_range_that_was_read(browse: Open, world: World) -> None:
    ian = browse("ian")
    page = totals(ian, "tier=internal&from=2&to=7")
    (address,) = set(re.findall(r'href="(/streams/[^"]*/chart/svg[^"]*)"', page))
    before = len(world.answer("GET", "/api/v1/audit/events?kind=stream", by="olga")["items"])
    file = ian.get(unescape(address))
    assert (file.status_code, file.mimetype) == (200, "image/svg+xml")
    (message,) = re.findall(r'<p class="message"><bdi>([^<]*)</bdi>', page)
    assert f">{message}</title>" in file.text
    assert file.headers["Content-Disposition"] == 'attachment; filename="arrivals.svg"'
    after = world.answer("GET", "/api/v1/audit/events?kind=stream", by="olga")["items"]
    assert len(after) == before + 1
