"""Test a stream's page: levels side by side, each read recorded."""

import re

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
    assert page.count('class="band"') == 2 * 2


def test_nothing_is_read_where_one_of_the_levels_is_refused(browse: Open, world: World) -> None:
    ann = browse("ann")
    answer = ann.get("/streams/arrivals/totals?tier=public&tier=internal")
    assert answer.status_code == 422
    assert world.answer("GET", "/api/v1/audit/events?kind=stream", by="olga")["items"] == []
    assert 'value="public" checked' in answer.text
