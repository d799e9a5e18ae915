"""Test each role's main path by Tab, Enter, Space and letters alone, with focus visible."""

import pytest
from tests.web.browser.screens import Screen
from tests.web.served import Served

pytestmark = pytest.mark.slow

NAME = """() => {
    const one = document.activeElement;
    const labels = [...(one.labels || [])].map(label => label.textContent);
    return (one.ariaLabel || labels.join(" ") || one.textContent).replace(/\\s+/g, " ").trim();
}"""
SEEN = """() => {
    const one = document.activeElement, style = getComputedStyle(one);
    const box = one.getBoundingClientRect();
    return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2
        && box.width > 0 && box.height > 0;
}"""
MOST_STOPS = 200


def reach(window: Screen, name: str) -> None:
    """Press Tab until what is called so has the focus; every stop on the way is to be seen."""
    for _ in range(MOST_STOPS):
        window.page.keyboard.press("Tab")
        found = window.page.evaluate(NAME)
        if window.page.evaluate("document.activeElement !== document.body"):
            assert window.page.evaluate(SEEN), f"the focus on {found!r} is not seen"
        if found.startswith(name):
            return
    raise AssertionError(f"no Tab leads to {name!r}")


def enter(window: Screen, name: str) -> None:
    reach(window, name)
    window.page.keyboard.press("Enter")


def sign_in(window: Screen, token: str) -> None:
    window.go("/sign-in")
    reach(window, "Token")
    window.page.keyboard.insert_text(token)
    enter(window, "Sign in")
    window.page.wait_for_url("**/home")


def test_an_analyst_asks_chooses_downloads_and_leaves(served: Served, window: Screen) -> None:
    sign_in(window, served.invite("analyst", "internal"))
    enter(window, "Catalogue")
    window.page.wait_for_url("**/catalogue")
    enter(window, "visits")
    window.page.wait_for_url("**/queries/visits")
    enter(window, "Get results")
    window.reads("You received this release")
    reach(window, "Level of tier")
    window.page.keyboard.type("public")
    window.reads("nothing beyond the more accurate release")
    enter(window, "Request this release")
    window.reads("You received this release")
    reach(window, "Show public")
    window.page.keyboard.press("Space")
    enter(window, "Show the chosen levels")
    window.page.wait_for_url("**/queries/visits?level=*")
    assert window.page.get_by_label("Show public").is_checked() is False
    with window.page.expect_download():
        enter(window, "CSV at public")
    window.go("/history")
    enter(window, "Sign out")
    window.reads("You are signed out.")


def test_an_admin_moves_somebody(served: Served, window: Screen) -> None:
    served.invite("analyst", "public")
    person = f"analyst{served.invited}"
    sign_in(window, served.invite("admin"))
    enter(window, "Tiers")
    window.page.wait_for_url("**/tiers")
    reach(window, "Person")
    window.page.keyboard.type(person)
    reach(window, "New tier")
    window.page.keyboard.type("internal")
    enter(window, "Preview the move")
    window.page.wait_for_url("**/clearance?**")
    enter(window, f"Move {person} up to internal")
    window.reads("recorded in the audit log")


def test_an_auditor_asks_who_could_learn_what(served: Served, window: Screen) -> None:
    sign_in(window, served.invite("auditor"))
    enter(window, "Who could learn what")
    window.page.wait_for_url("**/exposure")
    for name in ("ann", "ian"):
        reach(window, name)
        window.page.keyboard.press("Space")
    enter(window, "Show their joint exposure")
    window.page.get_by_role("heading", name="2 people together").wait_for()
    enter(window, "The same numbers as a table")
    window.page.get_by_role("cell", name="Privacy loss if drawn independently").first.or_(
        window.page.get_by_role("rowheader", name="Privacy loss if drawn independently").first
    ).wait_for()
    enter(window, "Timeline")
    window.page.wait_for_url("**/timeline")
    reach(window, "Tier")
    window.page.keyboard.insert_text("internal")
    enter(window, "Filter")
    window.page.wait_for_url("**tier=internal**")
