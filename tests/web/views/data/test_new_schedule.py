"""Test a schedule made by form: previewed, refused with what was typed, made once."""

from collections.abc import Callable
from html import unescape

import pytest
from tests.api.world import World
from tests.web.every_page.contents import LARGEST_PAGE, require_own, weight
from tests.web.views.people.acting import follow, leaves
from tests.web.world import Browser, text_of

PATH = "/new/schedule"
PREVIEW = f"{PATH}/preview"
FORM = {
    "name": "weekly",
    "dataset": "loans",
    "cron": "0 3 * * 1",
    "timezone": "Europe/Berlin",
    "uri": "loans-{date}.csv",
    "epsilon public": "0.5",
    "epsilon internal": "2",
    "total public": "5",
    "total internal": "100",
    "queries": '[{"name": "people-{date}", "aggregate": {"type": "count_units"},'
    ' "mechanism": "gaussian", "share": 0.25}]',
    "missed": "skip",
    "refused": "go_on",
    "days": "366",
}


def test_the_form_begins_with_the_files_name_and_the_budgets(root: Browser, world: World) -> None:
    uri = world.answer("GET", "/api/v1/datasets/loans", by="root")["source"]["uri"]
    link = f'href="{PATH}?dataset=loans"'
    assert link in root.get("/datasets/loans").text
    assert link not in root.get("/datasets/sites").text
    assert f'href="{PATH}"' in root.get("/catalogue").text
    page = root.get(f"{PATH}?dataset=loans")
    assert f'value="{uri.replace(".csv", "-{date}.csv")}"' in page.text
    assert 'name="epsilon internal" value="4.0"' in page.text
    assert 'name="total internal" value=""' in page.text
    choices = root.get(PATH).text
    assert '<option value="loans">' in choices
    assert '<option value="sites">' not in choices, "its values are pushed"
    for path in (PATH, f"{PATH}?dataset=loans"):
        answer = root.get(path)
        require_own(answer, path)
        assert weight(root, answer.text) < LARGEST_PAGE


def test_what_it_will_charge_is_previewed_and_then_it_is_made_switched_off(
    root: Browser, world: World
) -> None:
    before = leaves(world)
    page = root.submit(PREVIEW, **FORM, once="1")
    words = text_of(page)
    assert page.status_code == 200
    assert "10 occurrences , the first on 2026-11-23 02:00 UTC" in words
    assert "The schedule ends on 2027-02-01 02:00 UTC" in words
    assert "internal 2 25% 20 100" in words
    assert "public 0.5 25% 5 5" in words
    assert FORM["queries"] in unescape(page.text)
    assert leaves(world) == before
    require_own(page, PREVIEW)
    shorter = text_of(root.submit(PREVIEW, **{**FORM, "days": "31"}, once="1"))
    assert "5 occurrences until" in shorter
    assert "The schedule ends on" not in shorter
    done = follow(root, root.submit(PATH, **FORM, once="1"))
    assert "The schedule is made. It is off" in text_of(done)
    made = world.answer("GET", "/api/v1/schedules/weekly", by="root")
    assert (made["on"], made["by"]) == (False, "root")
    assert made["spec"]["timezone"] == "Europe/Berlin"
    assert (made["spec"]["missed"], made["spec"]["refused"]) == ("skip", "go_on")


def test_it_is_made_once_however_often_its_form_is_sent(root: Browser, world: World) -> None:
    first = root.submit(PATH, **FORM, once="s" * 32)
    after = leaves(world)
    assert root.submit(PATH, **FORM, once="s" * 32).location == first.location
    assert leaves(world) == after
    twin = root.submit(PATH, **FORM, once="t" * 32)
    assert (twin.status_code, "already; choose another name" in text_of(twin)) == (409, True)
    assert 'value="loans-{date}.csv"' in twin.text


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"name": ""}, "name"),
        ({"cron": "hourly"}, "cron"),
        ({"timezone": "Mars"}, "timezone"),
        ({"uri": ""}, "file"),
        ({"disjoint_units": "1"}, "disjoint"),
        ({"max_units": "many"}, "max_units"),
        ({"epsilon public": "x"}, "epsilon-2"),
        ({"total public": "0"}, "total-2"),
        ({"queries": "[{]"}, "queries"),
        ({"queries": '[{"name": "a-{date}"}]'}, "queries"),
        ({"streams": '[{"stream": "daily"}]'}, "streams"),
        ({"missed": "never"}, "missed"),
        ({"refused": "never"}, "refused"),
        ({"days": "0"}, "days"),
    ],
)
def test_a_refusal_stands_beside_its_field_and_keeps_what_was_typed(
    root: Browser, world: World, changes: dict[str, str], place: str
) -> None:
    before = leaves(world)
    for path in (PREVIEW, PATH):
        answer = root.submit(path, **{**FORM, **changes}, once="2")
        assert answer.status_code == 422, text_of(answer)
        assert answer.text.count('-wrong"') == 1, text_of(answer)
        assert f'id="{place}-wrong"' in answer.text, text_of(answer)
        shown = unescape(answer.text)
        for name, typed in {**FORM, **changes}.items():
            if name in ("queries", "streams"):
                assert f"\n{typed}</textarea>" in shown
            elif name not in ("dataset", "missed", "refused", "disjoint_units"):
                assert f'name="{name}" value="{typed}"' in shown
        assert ("checked" in shown) == ("disjoint_units" in changes)
    assert leaves(world) == before


def test_more_occurrences_than_are_computed_are_refused_beside_the_days(root: Browser) -> None:
    answer = root.submit(PREVIEW, **{**FORM, "cron": "* * * * *"})
    assert answer.status_code == 422
    assert 'id="days-wrong"' in answer.text


def test_an_occurrence_that_would_be_refused_is_said_in_the_preview(
    root: Browser, open_copy: Callable[..., World]
) -> None:
    costly = {**FORM, "queries": FORM["queries"].replace("0.25", "1")}
    twice = costly["queries"].strip("[]")
    costly["queries"] = f"[{twice}, {twice.replace('people', 'others')}]"
    answer = root.submit(PREVIEW, **costly)
    assert answer.status_code == 200
    assert "Its next occurrence would be refused. The version" in text_of(answer)
    ruled = open_copy(two_person_rule=True)
    alone = Browser(ruled, ruled.client.application.test_client())
    alone.sign_in("root")
    assert "cannot exceed the largest" in text_of(alone.get(f"{PATH}?dataset=loans"))
    larger = text_of(alone.submit(PREVIEW, **{**FORM, "epsilon internal": "50"}))
    assert "Its next occurrence would be refused." in larger
