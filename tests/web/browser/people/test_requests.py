"""Test a question that one person requests and another approves, in two browsers."""

import re

import pytest
from tests.web.browser.asking import ASK
from tests.web.browser.opening import Open
from tests.web.browser.screens import Screen
from tests.web.browser.sound import Views, require_sound
from tests.web.served import Served

pytestmark = pytest.mark.slow

SQL = "SELECT COUNT(*) AS n FROM loans WHERE book > 7 AND book < 900"
PURPOSE = "The yearly report on loans"


def requested(window: Screen, name: str) -> None:
    """Write a question, look at its preview, and request it.

    A script would ask for previews of its own meanwhile, one at a time, and be told to wait.
    """
    window.page.get_by_role("link", name="Ask", exact=True).click()
    window.page.get_by_label("Dataset", exact=True).select_option("loans")
    window.press("Use this dataset")
    window.page.locator("#sql").fill(SQL)
    window.page.get_by_label("Name", exact=True).fill(name)
    window.page.get_by_label("Rows in each").fill("3")
    window.page.get_by_label("Epsilon for internal").fill("0.2")
    window.press("Preview")
    window.page.get_by_role("region", name="Preview by tier").wait_for()
    assert window.page.get_by_role("button", name="Register question").count() == 0
    window.expect(422)
    window.press("Request question")
    window.reads("Nothing was done.")
    assert window.page.locator("#sql").input_value() == SQL
    window.page.get_by_label("Purpose of a request").fill(PURPOSE)
    window.press("Request question")
    window.reads("Your request is sent")


def approved(window: Screen, name: str, views: Views) -> None:
    """Find the request in the inbox, comment on it, lower its level, and approve it."""
    window.page.get_by_role("link", name=re.compile(r"^Requests \(")).click()
    window.reads(PURPOSE)
    require_sound(window, "the inbox of requests", views)
    window.page.get_by_role("link", name=f"Decide {name}").click()
    window.field("Epsilon for internal").fill("0.1")
    window.page.get_by_label("Comment", exact=True).fill("Half of it is enough.")
    window.page.get_by_role("rowheader", name="internal", exact=True).first.wait_for()
    window.page.get_by_role("cell", name="0.1", exact=True).wait_for()
    window.press("Send comment only")
    window.reads("Your comment is sent.")
    assert window.page.get_by_label("Epsilon for internal").input_value() == "0.1"
    require_sound(window, "a request to decide", views)
    window.press("Approve and register")
    window.reads("The query is registered")


def test_a_question_is_requested_by_one_person_and_approved_by_another(
    served: Served, open_screen: Open, views: Views
) -> None:
    token = served.invite("analyst", "internal")
    name = f"asked {served.invited}"
    plain, admin, analyst = open_screen(java_script_enabled=False), open_screen(), open_screen()
    plain.sign_in(token)
    requested(plain, name)
    admin.sign_in(served.invite("admin"))
    approved(admin, name, views)
    analyst.sign_in(token)
    analyst.reads("approved by")
    require_sound(analyst, "what was decided", views)
    analyst.page.get_by_role("link", name=name, exact=True).first.click()
    analyst.reads("Half of it is enough.")
    require_sound(analyst, "a request that was decided", views)
    analyst.page.get_by_role("link", name=f"Get results of query {name}").click()
    analyst.press(ASK)
    analyst.reads("You received this release")
