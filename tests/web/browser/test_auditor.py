"""Test the auditor's way through the pages, in Chromium, and whom they are closed to."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.web.browser.asking import ASK
from tests.web.browser.screens import Screen
from tests.web.browser.sound import Views, require_sound
from tests.web.served import Served

pytestmark = pytest.mark.slow

Open = Callable[..., Screen]


@pytest.fixture
def reader(served: Served, open_screen: Open) -> str:
    """Return a user who holds two levels of visits."""
    window = open_screen()
    window.sign_in(served.invite("analyst", "internal"))
    name = f"analyst{served.invited}"
    window.go("/queries/visits")
    window.press(ASK)
    window.reads("You received this release")
    window.page.get_by_label("Level of tier").select_option("public")
    window.press("Request this release")
    window.reads("You received this release")
    return name


def test_an_auditor_finds_a_hand_out_its_proof_and_what_it_tells(
    served: Served, reader: str, window: Screen
) -> None:
    window.sign_in(served.invite("auditor"))
    page = window.page
    page.get_by_role("link", name="Timeline").click()
    page.get_by_label("User", exact=True).fill(reader)
    page.get_by_label("Kind").select_option("release")
    window.press("Filter")
    page.wait_for_url(f"**/timeline?kind=release&user={reader}&**")
    assert page.get_by_role("list", name="Events").get_by_role("listitem").count() == 2
    window.reads(f"{reader} received visits at tier public")
    page.get_by_text("record and proof").first.click()
    page.get_by_role("link", name="Inclusion proof of leaf").first.click()
    window.reads("The leaf is in the log.")
    page.go_back()
    assert page.get_by_label("User", exact=True).input_value() == reader
    page.get_by_role("link", name="Who could learn what").click()
    page.get_by_label(reader).check()
    page.get_by_label("ann public").check()
    window.press("Show their joint exposure")
    page.get_by_role("heading", name="2 people together").wait_for()
    assert page.locator("svg.chart:visible").count() >= 2
    page.locator("article", has_text="visits").locator("summary").first.click()
    page.get_by_role("cell", name="best informed").first.wait_for()
    page.reload()
    assert page.get_by_label(reader).is_checked()


def test_an_auditor_verifies_and_takes_the_log_home(served: Served, window: Screen) -> None:
    window.sign_in(served.invite("auditor"))
    window.page.get_by_role("link", name="Proofs").click()
    window.reads("The log is healthy.")
    window.press("Export the log")
    with window.page.expect_download() as started:
        window.page.get_by_role("button", name="Download the file").click()
    lines = Path(started.value.path()).read_text().splitlines()
    assert [json.loads(line)["index"] for line in lines] == [*range(len(lines))]
    window.page.get_by_role("link", name="Proofs").click()
    window.page.get_by_label("From size, in leaves").fill("1")
    window.page.get_by_label("To size, in leaves").fill("2")
    window.press("Show the consistency proof")
    window.page.wait_for_url("**/proofs/consistency?from=1&to=2")
    window.page.get_by_label("Breadcrumb").get_by_role("link", name="Proofs").click()
    window.page.get_by_role("button", name="Verify now").click()
    window.reads("No problems found.")


def test_filters_that_mean_nothing_say_so_and_stay_to_be_mended(
    served: Served, window: Screen
) -> None:
    window.sign_in(served.invite("auditor"))
    window.go("/timeline")
    window.expect(422)
    window.page.get_by_label("From, UTC").fill("yesterday")
    window.press("Filter")
    window.reads("From must be a date or a time in UTC")
    assert window.page.get_by_label("From, UTC").input_value() == "yesterday"


def test_the_auditors_pages_are_closed_to_others(served: Served, window: Screen) -> None:
    window.sign_in(served.invite("analyst", "internal"))
    assert window.page.get_by_role("link", name="Timeline").count() == 0
    window.expect(403)
    for path in ("/timeline", "/exposure?user=ann", "/proofs"):
        window.go(path)
        window.reads("This takes the role auditor")


def test_an_auditor_needs_no_script(served: Served, reader: str, open_screen: Open) -> None:
    window = open_screen(java_script_enabled=False)
    window.sign_in(served.invite("auditor"))
    window.go("/exposure")
    window.page.get_by_label(reader).check()
    window.press("Show their joint exposure")
    window.page.get_by_role("heading", name=f"{reader} alone").wait_for()
    window.go("/timeline")
    window.page.get_by_role("textbox", name="Tier").fill("internal")
    window.press("Filter")
    window.page.wait_for_url("**tier=internal**")
    window.page.get_by_text("record and proof").first.click()
    window.page.get_by_role("link", name="Inclusion proof of leaf").first.click()
    window.reads("The leaf is in the log.")


@pytest.mark.nightly
def test_the_auditors_pages_pass_the_accessibility_check(
    served: Served, reader: str, window: Screen, views: Views
) -> None:
    window.sign_in(served.invite("auditor"))
    window.expect(404, 422)
    for path in (
        *("/home", "/timeline?kind=release", "/timeline?kind=x", "/timeline?user=nobody"),
        *(f"/exposure?user={reader}&user=ann", "/exposure?user=zeno"),
    ):
        window.go(path)
        require_sound(window, path, views)


TIMES = """() => [...document.querySelectorAll("li time")].map(
    time => [time.dateTime, time.textContent, time.title])"""


def test_times_are_in_the_readers_zone_with_utc_at_hand(
    served: Served, reader: str, open_screen: Open
) -> None:
    window = open_screen(timezone_id="Asia/Kolkata")
    window.sign_in(served.invite("auditor"))
    window.go(f"/timeline?user={reader}")
    window.reads("UTC+5:30")
    shown = window.page.evaluate(TIMES)
    assert shown
    for machine, there, title in shown:
        at = datetime.fromisoformat(machine).astimezone(UTC)
        local = at + timedelta(hours=5, minutes=30)
        assert title == f"{at:%Y-%m-%d %H:%M:%S} UTC"
        assert there == f"{local:%Y-%m-%d %H:%M:%S} UTC+5:30"
    same = open_screen(timezone_id="UTC")
    same.sign_in(served.invite("auditor"))
    same.go(f"/timeline?user={reader}")
    assert [there for _, there, _ in same.page.evaluate(TIMES)] == [title for _, _, title in shown]
