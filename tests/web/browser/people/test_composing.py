"""Test a question that an analyst composes in the form, previews and requests, in a browser."""

import re

import pytest
from tests.web.browser.opening import Open
from tests.web.browser.screens import Screen
from tests.web.browser.sound import Views, require_sound
from tests.web.served import Served

pytestmark = pytest.mark.slow

PURPOSE = "The yearly report on loans"


def composed(window: Screen, name: str, above: str) -> None:
    """Go from the editor to the form, and fill it in."""
    page = window.page
    page.get_by_role("link", name="Ask", exact=True).click()
    page.get_by_role("link", name="Compose it in a form instead").click()
    page.get_by_label("Dataset", exact=True).select_option("loans")
    window.press("Use this dataset")
    window.field("Name").fill(name)
    page.get_by_label("Column", exact=True).nth(1).select_option("book")
    page.get_by_label("Is", exact=True).select_option(">")
    page.get_by_label("Value", exact=True).fill(above)
    page.get_by_label("Groups per person (at most)").fill("1")
    page.get_by_label("Rows in each (at most)").fill("3")
    page.get_by_label("For internal").fill("0.2")


def test_a_question_is_composed_previewed_and_requested_and_going_back_shows_it(
    served: Served, open_screen: Open
) -> None:
    window = open_screen(java_script_enabled=False)
    window.sign_in(served.invite("analyst", "internal"))
    name = f"composed {served.invited}"
    composed(window, name, "70")
    window.press("Preview")
    window.page.get_by_role("region", name="Preview by tier").wait_for()
    assert window.page.get_by_role("button", name=re.compile("^Register")).count() == 0
    window.page.get_by_label("Purpose of a request").fill(PURPOSE)
    window.press("Request question")
    window.reads("Your request is sent")
    window.page.go_back()
    window.page.get_by_role("region", name="Preview by tier").wait_for()
    assert window.page.get_by_label("Name").input_value() == name
    window.page.get_by_role("link", name="Ask in SQL instead").click()
    window.page.get_by_role("link", name=name).wait_for()


def test_the_preview_of_what_is_composed_follows_and_the_form_is_sound(
    served: Served, open_screen: Open, views: Views
) -> None:
    window = open_screen()
    window.sign_in(served.invite("analyst", "internal"))
    # 422: the script asks as soon as the first field is filled in.
    window.expect(422)
    composed(window, f"composed {served.invited}", "71")
    window.page.keyboard.press("Tab")
    window.page.get_by_role("region", name="Preview by tier").wait_for()
    require_sound(window, "an analyst's form", views)
    for kind in ("counts", "sparse", "sql"):
        window.go(f"/new/query?kind={kind}&dataset=loans")
        require_sound(window, f"an analyst's form of {kind}", views)


def test_going_back_from_a_request_in_sql_shows_the_question(
    served: Served, open_screen: Open
) -> None:
    window = open_screen(java_script_enabled=False)
    window.sign_in(served.invite("analyst", "internal"))
    window.go("/ask/sql?dataset=loans")
    sql = "SELECT COUNT(*) AS n FROM loans WHERE book > 72"
    window.page.locator("#sql").fill(sql)
    window.page.get_by_label("Rows in each").fill("3")
    window.page.get_by_label("Epsilon for internal").fill("0.2")
    window.press("Preview")
    window.page.get_by_role("region", name="Preview by tier").wait_for()
    window.page.get_by_label("Purpose of a request").fill(PURPOSE)
    window.press("Request question")
    window.reads("Your request is sent")
    window.page.go_back()
    window.page.get_by_role("region", name="Preview by tier").wait_for()
    assert window.page.locator("#sql").input_value() == sql
