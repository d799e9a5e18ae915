"""Test what goes wrong on the way, for every role, in Chromium.

And that these tests would see it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from tests.web.browser.asking import ASK
from tests.web.browser.screens import Screen, screen
from tests.web.browser.sound import EVERY, Views, require_sound
from tests.web.every_page.addresses import Asked, addresses
from tests.web.every_page.matrix import REQUEST
from tests.web.served import Served

from penstock.connectors.planning.refusals import checked
from penstock.services.access.principals import OPERATOR, acting_as
from penstock.services.people import tier_changes, tiers, users
from penstock.services.requests import asking
from penstock.services.schemas.people.roles import Role
from penstock.services.schemas.requests.specs import AskRequest
from penstock.web import PAGES
from penstock.web.http.routes import PageRoute

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow

ROLES: list[Role] = ["analyst", "admin", "auditor"]
FILES = frozenset(
    {"download", "synthetic_rows", "checkpoint", "work_file"}
    | {"query_chart", "release_chart", "stream_chart"}
)
ELSEWHERE = frozenset({"piece", "sent_form", "proposal"})
"""Pages of work and of proposals, of which this home has none."""

MORE: Asked = {
    "consequences": ("?tier=public",),
    "preview_clearance": ("?user=ann&tier=internal",),
    "coalition": ("", "?user=ann&user=ian"),
    "inclusion_proof": ("?index=LEAF",),
    "consistency_proof": ("?from=1&to=2",),
}


@pytest.fixture
def reader(served: Served, window: Screen) -> str:
    """Return a user who holds a level of visits and requested a query, as their pages show."""
    window.sign_in(served.invite("analyst", "internal"))
    window.go("/queries/visits")
    window.press(ASK)
    window.reads("You received this release")
    name = f"analyst{served.invited}"
    asking.ask(served.server, acting_as(served.server, name), checked(AskRequest, REQUEST))
    return name


def examiner(page: PageRoute) -> Role:
    """Return the role that opens a page in Chromium at every change, of those that may see it."""
    may = [role for role in ROLES if role in (page.policy.roles or ROLES)]
    return may[PAGES.index(page) % len(may)]


@pytest.mark.parametrize("role", ROLES)
def test_every_page_that_a_role_may_see_is_sound(
    *, served: Served, reader: str, open_screen: Callable[..., Screen], role: Role, views: Views
) -> None:
    if role == "analyst":
        token, name = served.issue(reader), reader
    else:
        token, name = served.invite(role), f"{role}{served.invited}"
    window = open_screen()
    window.sign_in(token)
    window.expect(404, 409, 422)
    pages = set()
    for page, path in addresses(served.server, acting_as(served.server, name), MORE, 1):
        if page.name in FILES or not page.policy.needs_session:
            continue
        pages.add(page.name)
        if views is EVERY or role == examiner(page):
            window.go(path)
            require_sound(window, path, views)
    roles = {role}
    may_see = {
        page.name
        for page in PAGES
        if page.verb == "GET"
        and page.policy.needs_session
        and roles.intersection(page.policy.roles or roles)
    }
    if role == "admin":
        may_see -= {"inclusion_proof"}  # of one's own receipts, of which admins have none
    assert pages == may_see - FILES - ELSEWHERE


SCRIPT = """() => {
    const made = document.createElement("script");
    made.textContent = "document.title = 'made on purpose'";
    document.body.append(made);
}"""


LATER = """() => new Promise(done => setTimeout(() => {
    setTimeout(done);
    throw Error("made on purpose");
}))"""
"""Throws outside of every call and ends after that: a page that is left earlier never throws."""


def used(chromium: "Browser", url: str, evaluated: str, onward: str) -> None:
    """Do something on the first page of a window, and open another address."""
    with screen(chromium, url) as window:
        window.go("/")
        window.page.evaluate(evaluated)
        window.page.goto(onward)


@pytest.mark.parametrize(
    ("evaluated", "host", "why"),
    [
        ("console.error('made on purpose')", "127.0.0.1", "made on purpose"),
        (LATER, "127.0.0.1", "made on purpose"),
        (SCRIPT, "127.0.0.1", "Content Security Policy"),
        ("1", "localhost", "another host was asked"),
    ],
)
def test_a_fault_of_a_page_fails_the_test_that_saw_it(
    chromium: "Browser", served: Served, evaluated: str, host: str, why: str
) -> None:
    onward = served.url.replace("127.0.0.1", host)
    with pytest.raises(AssertionError, match=why):
        used(chromium, served.url, evaluated, onward)


def test_the_accessibility_check_finds_what_is_wrong(window: Screen) -> None:
    window.go("/")
    assert window.faults() == []
    window.page.evaluate("document.querySelector('main').append(document.createElement('input'))")
    assert [fault["rule"] for fault in window.faults()] == ["label"]


@pytest.mark.parametrize(
    ("role", "closed"),
    [
        ("analyst", ["/tiers", "/users", "/keys", "/new/stream", "/timeline", "/exposure"]),
        pytest.param(
            *("admin", ["/history", "/timeline", "/exposure", "/queries/visits/request"]),
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            *("auditor", ["/tiers", "/users", "/new/dataset", "/queries/visits/request"]),
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_pages_of_other_roles_say_whose_they_are(
    served: Served, window: Screen, role: Role, closed: list[str]
) -> None:
    window.sign_in(served.invite(role, "internal" if role == "analyst" else None))
    menu = window.page.get_by_role("navigation", name="Pages")
    window.expect(403)
    for path in closed:
        assert menu.locator(f'a[href="{path}"]').count() == 0
        window.go(path)
        window.reads("This takes the role")


def test_a_form_of_an_admin_whose_session_ended_does_nothing(
    served: Served, window: Screen
) -> None:
    token = served.invite("admin")
    window.sign_in(token)
    window.go("/tiers")
    window.page.get_by_label("Name").fill("never")
    served.revoke(token, f"admin{served.invited}")
    window.expect(401)
    window.press("Insert the tier")
    window.reads("Nothing was done.")
    assert "never" not in names(served)


def test_a_form_of_an_admin_without_its_key_does_nothing(served: Served, window: Screen) -> None:
    window.sign_in(served.invite("admin"))
    window.go("/tiers")
    window.page.get_by_label("Name").fill("never")
    window.page.evaluate("document.querySelectorAll('[name=form_key]').forEach(e => e.remove())")
    window.expect(403)
    window.press("Insert the tier")
    window.reads("does not belong to this session")
    assert "never" not in names(served)


def test_a_slow_server_does_once_what_is_pressed_twice(served: Served, window: Screen) -> None:
    window.sign_in(served.invite("admin"))
    window.go("/tiers")
    window.page.get_by_label("Name").fill("twice pressed")
    window.page.get_by_label("Just above").select_option("public")
    with window.held():
        window.page.get_by_role("button", name="Insert the tier").dblclick()
    window.reads("Nobody holds it yet")
    assert names(served).count("twice pressed") == 1
    tier_changes.delete(
        served.server, acting_as(served.server, f"admin{served.invited}"), "twice pressed"
    )


def test_what_was_shown_in_one_tab_is_not_done_after_another_changed_it(
    served: Served, window: Screen
) -> None:
    served.invite("analyst", "public")
    person = f"analyst{served.invited}"
    window.sign_in(served.invite("admin"))
    other = window.tab()
    window.go(f"/clearance?user={person}&tier=internal")
    other.goto(f"{window.url}/clearance?user={person}&tier=")
    window.press(f"Move {person} up to internal")
    window.reads("recorded in the audit log")
    window.expect(409)
    other.get_by_role("button", name=f"Remove the tier of {person}").click()
    other.get_by_text("after the preview was shown").first.wait_for()
    assert users.show(served.server, OPERATOR, person).clearance == "internal"


def names(served: Served) -> list[str]:
    return [one.name for one in tiers.listing(served.server)]
