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


def test_values_of_steps_are_differences_of_the_totals_that_were_read(
    browse: Open, world: World
) -> None:
    ian = browse("ian")
    plain = totals(ian, "tier=internal&from=2&to=7")
    assert "Value of each step" not in plain.replace("Show the value of each step", "")
    before = len(world.answer("GET", "/api/v1/audit/events?kind=stream", by="olga")["items"])
    page = totals(ian, "tier=internal&from=2&to=7&each=1")
    after = world.answer("GET", "/api/v1/audit/events?kind=stream", by="olga")["items"]
    # Totals are read as without them, and nothing else.
    assert len(after) == before + 1
    assert 'name="each" value="1" checked' in page
    assert "Each is a running total less the one before" in page
    values = page[page.index('id="values"') :]
    steps = re.findall(r"<bdi>(\d+)</bdi></th>", values[: values.index("</table>")])
    assert steps == ["3", "4", "5", "6", "7"]
    assert "The interval is" in values
    alone = totals(ian, "tier=internal&from=4&to=4&each=1")
    assert "read the total before it as well" in alone
