"""Test the analyst's way through the pages, in Chromium, and what may go wrong on it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.web.browser.asking import ASK
from tests.web.browser.screens import Screen
from tests.web.browser.sound import EVERY, Views, require_sound
from tests.web.served import Served

pytestmark = pytest.mark.slow

Open = Callable[..., Screen]


def held(window: Screen) -> int:
    """Return how many releases the history lists."""
    window.go("/history")
    return window.page.get_by_role("region", name="Releases").locator("tbody tr").count()


def test_an_analyst_reads_asks_downloads_and_leaves(served: Served, window: Screen) -> None:
    window.go("/")
    window.page.get_by_label("Token").fill(served.invite("analyst", "internal"))
    window.press("Sign in")
    window.page.wait_for_url("**/home")
    window.go("/catalogue")
    window.page.get_by_role("link", name="visits", exact=True).click()
    window.reads("You have no release of this query yet.")
    window.reads("No budget is spent")
    window.press(ASK)
    window.reads("You received this release")
    assert window.page.locator("svg.chart:visible").count()
    window.page.get_by_label("Level of tier").select_option("public")
    window.reads("nothing beyond the more accurate release")
    window.press("Request this release")
    window.reads("You received this release")
    levels = window.page.get_by_role("region", name="Your releases")
    assert levels.locator("tbody tr").count() == 2
    with window.page.expect_download() as started:
        levels.get_by_role("link", name="CSV at public").click()
    lines = Path(started.value.path()).read_text().splitlines()
    assert lines[0] == '"key","value","lower","upper"'
    assert len(lines) == 3
    window.page.get_by_role("link", name="History").click()
    window.page.get_by_role("region", name="Releases").wait_for()
    window.page.get_by_label("Query").fill("visits")
    window.press("Filter")
    window.page.wait_for_url("**/history?query=visits&*")
    window.page.get_by_role("link", name="Budgets").click()
    window.page.get_by_role("region", name="Budgets of sites").wait_for()
    window.press("Sign out")
    window.reads("You are signed out.")


def test_a_stream_and_a_histogram_are_drawn(served: Served, window: Screen) -> None:
    window.sign_in(served.invite("analyst", "internal"))
    window.go("/streams/arrivals")
    window.page.get_by_label("From step").fill("2")
    window.press("Read the totals")
    window.page.get_by_role("heading", name="Running totals at internal").wait_for()
    assert window.page.locator("svg.chart:visible").count()
    window.page.get_by_text("The same numbers as a table").click()
    assert window.page.get_by_role("row", name="8").count()
    window.go("/queries/books")
    window.press(ASK)
    window.reads("You received this release")
    assert window.page.locator("svg.chart:visible").count()


def test_another_role_is_offered_nothing_and_refused(served: Served, window: Screen) -> None:
    window.sign_in(served.invite("auditor"))
    window.go("/queries/visits")
    window.reads("Definition")
    assert window.page.get_by_role("button", name=ASK).count() == 0
    window.expect(403)
    window.go("/queries/visits/request")
    window.reads("This takes the role analyst")


def test_whoever_is_shut_out_learns_it_at_the_next_click(served: Served, window: Screen) -> None:
    token = served.invite("analyst", "public")
    window.sign_in(token)
    window.go("/queries/visits")
    served.revoke(token, f"analyst{served.invited}")
    window.page.get_by_label("Level of tier").select_option("public")
    window.reads("Your session has ended")
    window.page.get_by_label("Token").fill(served.invite("analyst", "public"))
    window.press("Sign in")
    window.page.wait_for_url("**/queries/visits")


def test_a_form_without_its_key_is_refused(served: Served, window: Screen) -> None:
    window.sign_in(served.invite("analyst", "public"))
    window.go("/queries/visits")
    window.page.evaluate("document.querySelectorAll('[name=form_key]').forEach(e => e.remove())")
    window.expect(403)
    window.press(ASK)
    window.reads("does not belong to this session")
    assert held(window) == 0


def test_going_back_asks_for_nothing_again(served: Served, window: Screen) -> None:
    window.sign_in(served.invite("analyst", "public"))
    window.go("/queries/visits")
    window.press(ASK)
    window.reads("You received this release")
    window.page.reload()
    window.page.go_back()
    window.page.go_forward()
    window.reads("Your results")
    assert held(window) == 1


def test_going_back_after_signing_out_shows_nothing(served: Served, window: Screen) -> None:
    window.sign_in(served.invite("analyst", "public"))
    window.go("/budgets")
    window.press("Sign out")
    window.reads("You are signed out.")
    window.page.go_back()
    window.page.wait_for_url("**/sign-in?next=/budgets**")
    assert window.page.get_by_role("region", name="Budgets of sites").count() == 0


def test_a_form_in_a_tab_of_a_session_that_ended_in_another(served: Served, window: Screen) -> None:
    window.sign_in(served.invite("analyst", "public"))
    window.go("/queries/visits")
    other = window.tab()
    other.goto(window.url + "/catalogue")
    other.get_by_role("button", name="Sign out").click()
    other.get_by_text("You are signed out.").wait_for()
    window.expect(401)
    window.press(ASK)
    window.reads("Nothing was done.")


def test_a_slow_server_hands_out_once_however_often_one_presses(
    served: Served, window: Screen
) -> None:
    window.sign_in(served.invite("analyst", "public"))
    window.go("/queries/visits")
    with window.held():
        window.page.get_by_role("button", name=ASK).dblclick()
    window.page.wait_for_url("**/queries/visits?given=*")
    window.reads("Show this release")
    assert held(window) == 1


def test_everything_works_without_a_script(served: Served, open_screen: Open) -> None:
    window = open_screen(java_script_enabled=False)
    window.sign_in(served.invite("analyst", "internal"))
    window.go("/queries/visits")
    window.page.get_by_label("Or epsilon, at most").fill("0.05")
    window.press("Preview this request")
    window.page.wait_for_url("**/request?tier=&epsilon=0.05")
    window.press("Request this release")
    window.reads("You received this release")
    window.press("Sign out")
    window.reads("You are signed out.")


def test_the_keyboard_suffices(served: Served, window: Screen) -> None:
    window.go("/sign-in")
    keyboard = window.page.keyboard
    keyboard.press("Tab")
    assert window.page.evaluate("document.activeElement.textContent") == "Skip to content"
    keyboard.press("Enter")
    keyboard.press("Tab")
    keyboard.insert_text(served.invite("analyst", "public"))
    keyboard.press("Enter")
    window.page.wait_for_url("**/home")
    window.go("/catalogue")
    # Other tests make queries too, which would be before this one.
    for key in ("Tab", "Enter", "Tab"):
        keyboard.press(key)
    keyboard.insert_text("visits")
    keyboard.press("Enter")
    window.page.wait_for_url("**/catalogue?search=visits*")
    for key in ("Tab", "Enter"):
        keyboard.press(key)
    for _ in range(40):
        keyboard.press("Tab")
        if window.page.evaluate("document.activeElement.textContent") == "visits":
            break
    assert window.page.evaluate("document.activeElement.textContent") == "visits"
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert window.page.evaluate(outline) == "solid"
    keyboard.press("Enter")
    window.page.wait_for_url("**/queries/visits")


PAGES = [
    "/home",
    "/budgets?dataset=sites",
    "/queries/books",
    "/queries/visits/request?epsilon=x",
    "/nothing",
    "/docs/",
]
SEEN_BY_ROLES = [
    *("/datasets/sites", "/datasets/loans", "/queries/visits"),
    *("/queries/visits/request?tier=public", "/streams/arrivals", "/streams/arrivals/totals"),
]
"""Pages that some role opens in test_troubles_in_a_browser at every change."""


@pytest.mark.parametrize("without_session", ["/", "/sign-in?ended=1", "/signed-in"])
def test_open_pages_pass_the_accessibility_check(
    window: Screen, without_session: str, views: Views
) -> None:
    window.expect(400)
    window.go(without_session)
    require_sound(window, without_session, views)


def test_every_page_passes_the_accessibility_check(
    served: Served, window: Screen, views: Views
) -> None:
    window.sign_in(served.invite("analyst", "internal"))
    for query in ("visits", "books"):
        window.go(f"/queries/{query}")
        window.press(ASK)
        window.reads("You received this release")
    release = window.page.get_by_role("region", name="Your releases").get_by_role("link").first
    address = release.get_attribute("href")
    assert address is not None
    window.expect(404, 422)
    for path in (*PAGES, address, *(SEEN_BY_ROLES if views is EVERY else ())):
        window.go(path)
        require_sound(window, path, views)


def test_a_release_is_computed_from_where_it_is_shown(served: Served, window: Screen) -> None:
    window.sign_in(served.invite("analyst", "internal"))
    window.go("/queries/visits")
    window.press(ASK)
    window.reads("You received this release")
    window.page.get_by_role("link", name="Show this release").click()
    window.page.get_by_role("heading", name="Compute from these numbers").wait_for()
    window.press("Compute")
    window.reads("Total of all 2 keys")
    require_sound(window, "/releases/with-a-total", EVERY)
    window.expect(422)
    window.page.get_by_label("Compute", exact=True).select_option("ratio")
    window.page.get_by_label("Keys", exact=True).select_option(index=0)
    window.press("Compute")
    window.reads("Nothing was done. Choose at least one key.")
    require_sound(window, "/releases/refused", EVERY)
    window.page.get_by_label("Other keys").select_option(index=1)
    window.press("Compute")
    window.reads("By Fieller’s method.")
