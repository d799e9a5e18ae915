"""Test pages of schedules: listed, shown with what they charge, switched on and off, removed."""

import re
from datetime import timedelta
from typing import Any

import pytest
from tests.api.queries.loans import ROWS
from tests.api.world import World
from tests.web.every_page.contents import LARGEST_PAGE, require_own, weight
from tests.web.views.people.acting import follow, leaves
from tests.web.world import SCHEDULE, Browser, Open, text_of

from penstock.errors import NotFound
from penstock.services.jobs.runner import Runner
from penstock.services.schedules import occurrences, pricing, schedules

PATH = "/schedules/daily"
SHOWN = re.compile(r'name="shown" value="([0-9a-f]{64})"')


def agreed(browser: Browser, days: str = "31") -> dict[str, str]:
    """Return what the form sends once its box is ticked."""
    shown = SHOWN.search(browser.get(f"{PATH}?days={days}").text)
    assert shown is not None
    return {"shown": shown.group(1), "days": days, "agreed": "1"}


def is_on(world: World) -> bool:
    answer = world.answer("GET", "/api/v1/schedules/daily", by="root")
    return bool(answer["on"])


def test_schedules_are_listed_for_admins_and_auditors(
    root: Browser, browse: Open, world: World
) -> None:
    for browser in (root, browse("olga")):
        page = browser.get("/schedules")
        assert "daily loans 0 3 * * * UTC off not due root" in text_of(page)
        assert 'href="/schedules"' in browser.get("/catalogue").text
        assert 'href="/schedules?dataset=loans"' in browser.get("/datasets/loans").text
        require_own(page, "/schedules")
    assert "Make a schedule" not in text_of(browse("olga").get("/schedules"))
    assert "daily" in text_of(root.get("/schedules?dataset=LOANS"))
    assert "There is no schedule of this dataset" in text_of(root.get("/schedules?dataset=sites"))
    world.answer("PATCH", f"/api/v1{PATH}", {"on": True}, by="root")
    assert "on 2026-11-21 03:00 UTC root" in text_of(root.get("/schedules"))


def test_a_schedule_made_again_while_the_form_is_read_is_not_switched_on(
    root: Browser, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was looked at between the form and the switch, and replaced after that."""
    fields = agreed(root)
    switch = schedules.switch

    def made_again(*args: Any, **named: Any) -> Any:
        own = world.answer("DELETE", f"/api/v1{PATH}", by="root")
        world.clock.now += timedelta(seconds=1)
        world.answer("POST", "/api/v1/schedules", own["spec"], by="root")
        return switch(*args, **named)

    monkeypatch.setattr(schedules, "switch", made_again)
    answer = root.submit(f"{PATH}/on", **fields)
    assert (answer.status_code, is_on(world)) == (409, False)
    assert "the one that is meant" in text_of(answer)


def test_a_page_says_what_it_will_charge_until_a_date(
    root: Browser, browse: Open, world: World
) -> None:
    before = leaves(world)
    page = root.get(f"{PATH}?days=5")
    words = text_of(page)
    assert "5 occurrences until 2026-11-25 12:00 UTC" in words
    assert "internal 2 10% 10 40" in words
    assert "together epsilon 10 of internal , epsilon 2.5 of public" in words
    assert "at most epsilon 40 of internal , epsilon 10 of public" in words
    assert "number of privacy units" in words
    assert "the file loans-{date}.csv" in words
    require_own(page, PATH)
    assert weight(root, page.text) < LARGEST_PAGE
    olga = text_of(browse("olga").get(PATH))
    assert "number of privacy units" in olga
    for words in ("Switch on", "Remove this schedule", "What it will charge"):
        assert words not in olga
    assert leaves(world) == before
    wrong = root.get(f"{PATH}?days=0")
    assert (wrong.status_code, 'id="days-wrong"' in wrong.text) == (422, True)
    assert "Switch on" not in wrong.text


def test_it_is_switched_on_by_who_agreed_to_what_was_shown(root: Browser, world: World) -> None:
    fields = agreed(root)
    done = follow(root, root.submit(f"{PATH}/on", **fields))
    assert "The schedule is on, and acts for root" in text_of(done)
    assert "next due 2026-11-21 03:00 UTC" in text_of(done)
    assert "Switch on" not in done.text
    after = leaves(world)
    assert root.submit(f"{PATH}/on", **fields).status_code == 303
    assert leaves(world) == after
    assert is_on(world)
    off = follow(root, root.submit(f"{PATH}/off"))
    assert "The schedule is off" in text_of(off)
    assert not is_on(world)


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        ({"agreed": None}, 422, "Tick the box"),
        ({"shown": "0" * 64}, 409, "has changed since the forecast was shown"),
        ({"shown": None}, 409, "has changed since the forecast was shown"),
        ({"days": "0"}, 422, "whole number of days"),
    ],
)
def test_it_stays_off_without_a_forecast_or_consent(
    root: Browser, world: World, changes: dict[str, str | None], status: int, words: str
) -> None:
    fields = {**agreed(root), **changes}
    before = leaves(world)
    sent = {name: value for name, value in fields.items() if value is not None}
    answer = root.submit(f"{PATH}/on", **sent)
    assert (answer.status_code, words in text_of(answer)) == (status, True)
    assert leaves(world) == before


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"total": {"public": 10, "internal": 400}}, "at most epsilon 400 of internal"),
        ({"cron": "0 * * * *"}, "0 * * * * in the time zone UTC"),
    ],
)
def test_another_schedule_of_the_same_name_needs_consent_again(
    root: Browser, world: World, changes: dict[str, Any], words: str
) -> None:
    fields = agreed(root)
    world.answer("DELETE", f"/api/v1{PATH}", by="root")
    world.answer("POST", "/api/v1/schedules", {**SCHEDULE, **changes}, by="root")
    answer = root.submit(f"{PATH}/on", **fields)
    assert answer.status_code == 409
    assert words in text_of(answer)
    assert not is_on(world)


def test_what_would_be_refused_cannot_be_switched_on(root: Browser, world: World) -> None:
    fields = agreed(root)
    world.answer("DELETE", f"/api/v1{PATH}", by="root")
    (query,) = SCHEDULE["queries"]
    both = [{**query, "name": f"{name}-{{date}}", "share": 1} for name in ("a", "b")]
    world.answer("POST", "/api/v1/schedules", {**SCHEDULE, "queries": both}, by="root")
    page = root.get(PATH)
    assert "Its next occurrence would be refused. The version" in text_of(page)
    assert "Switch on" not in page.text
    answer = root.submit(f"{PATH}/on", **fields)
    assert (answer.status_code, is_on(world)) == (409, False)


def test_a_withdrawn_dataset_leaves_the_page_readable(
    root: Browser, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.services.schedules.forecast.dataset_by_name", _gone)
    page = root.get(PATH)
    assert page.status_code == 200
    assert "Its next occurrence would be refused. There is no dataset" in text_of(page)
    assert "Switch on" not in page.text


def _gone(*_: object) -> None:
    raise NotFound("There is no dataset of this name.")


FED = {
    "name": "persons",
    "dataset": "loans",
    "mechanism": "gaussian",
    "structure": "binary",
    "length": 3,
    "sensitivity": {"l1": 1},
    "max_steps_per_unit": 2,
    "levels": {"public": {"epsilon": 0.05}, "internal": {"epsilon": 0.2}},
}
FEED = {
    "stream": "persons",
    "query": {"aggregate": {"type": "count_units"}, "contribution": {"max_groups": 1}},
}


def test_streams_are_shown_with_their_elements_and_where_their_room_ends(
    root: Browser, world: World
) -> None:
    file = world.server.settings.home.with_name("fed-2026-11-21.csv")
    file.write_text(f"{ROWS}Zebediah,7,ab\n", encoding="utf-8")
    source = {"engine": "duckdb", "uri": str(file).replace("2026-11-21", "{date}")}
    world.answer("POST", "/api/v1/streams", FED, by="root")
    version = {**SCHEDULE["version"], "source": source}
    made = {**SCHEDULE, "name": "fed", "version": version, "streams": [FEED], "queries": []}
    world.answer("POST", "/api/v1/schedules", made, by="root")
    page = root.get("/schedules/fed?days=10")
    words = text_of(page)
    assert "persons 0 3 3 2 2026-11-24 03:00 UTC" in words
    assert "Next element of stream persons Statistic number of privacy units" in words
    require_own(page, "/schedules/fed")
    world.answer("PATCH", "/api/v1/schedules/fed", {"on": True}, by="root")
    world.clock.now += timedelta(hours=15)
    occurrences.look(world.server, Runner(world.server, patience=120, pulse=None, host="here"))
    root.sign_in("root")  # the session has ended meanwhile
    assert "done 2 persons 1 2026-11-21 03:00 UTC none" in text_of(root.get("/schedules/fed"))


def test_occurrences_are_shown_with_their_problems_and_the_reason_why_it_is_off(
    root: Browser, world: World
) -> None:
    file = world.server.settings.home.with_name("loans-2026-11-21.csv")
    file.write_text(f"{ROWS}Zebediah,7,ab\n", encoding="utf-8")
    source = {"engine": "duckdb", "uri": str(file).replace("2026-11-21", "{date}")}
    version = {**SCHEDULE["version"], "source": source}
    made = {**SCHEDULE, "name": "soon", "version": version}
    world.answer("POST", "/api/v1/schedules", made, by="root")
    world.answer("PATCH", "/api/v1/schedules/soon", {"on": True}, by="root")
    runner = Runner(world.server, patience=120, pulse=None, host="here")
    for hours in (15, 24):
        world.clock.now += timedelta(hours=hours)
        occurrences.look(world.server, runner)
    root.sign_in("root")  # the session has ended meanwhile
    page = root.get("/schedules/soon")
    words = text_of(page)
    assert "2026-11-21 03:00 UTC done 2 2026-11-21 03:00 UTC none" in words
    assert "2026-11-22 03:00 UTC refused none" in words
    assert "It was switched off." in words
    assert "The 1 version that it registered before is in the sum." in words
    assert "switched off :" in text_of(root.get("/schedules"))
    require_own(page, "/schedules/soon")


def test_a_schedule_that_is_off_is_removed_once_its_name_is_typed(
    root: Browser, world: World
) -> None:
    wrong = root.submit(f"{PATH}/removal", sure="day")
    assert (wrong.status_code, 'id="sure-wrong"' in wrong.text) == (422, True)
    world.answer("PATCH", f"/api/v1{PATH}", {"on": True}, by="root")
    assert "Remove this schedule" not in root.get(PATH).text
    refused = root.submit(f"{PATH}/removal", sure="daily")
    assert (refused.status_code, "switch it off first" in text_of(refused)) == (409, True)
    world.answer("PATCH", f"/api/v1{PATH}", {"on": False}, by="root")
    done = follow(root, root.submit(f"{PATH}/removal", sure=" DAILY "))
    assert "The schedule is removed" in text_of(done)
    assert root.get(PATH).status_code == 404


def test_the_forecast_of_a_schedule_that_is_on_is_computed_when_it_is_asked_for(
    root: Browser, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pricing takes time, and the page of a schedule that is on need not wait for it."""
    world.answer("PATCH", f"/api/v1{PATH}", {"on": True}, by="root")
    counted: list[object] = []
    whole = pricing.priced

    def count(*given: Any) -> list[pricing.TierPrice]:
        counted.append(given)
        return whole(*given)

    monkeypatch.setattr("penstock.services.schedules.forecast.priced", count)
    assert "Sum until then" not in root.get(PATH).text
    assert counted == []
    assert "Sum until then" in root.get(f"{PATH}?days=10").text
    assert len(counted) == 1
