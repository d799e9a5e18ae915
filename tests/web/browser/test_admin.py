"""Test the admin's way through the pages, in Chromium."""

import re
from pathlib import Path

import pytest
from tests.web.browser.opening import Open
from tests.web.browser.screens import Screen
from tests.web.browser.sound import Views, require_sound
from tests.web.served import Served

pytestmark = pytest.mark.slow


def tier_of(served: Served, window: Screen) -> str:
    """Return a tier of one's own, just above ``public``, put in by the form."""
    name = f"partner{served.invited}"
    window.go("/tiers")
    window.page.get_by_label("Name").fill(name)
    window.page.get_by_label("Just above").select_option("public")
    window.press("Insert the tier")
    window.reads("Nobody holds it yet")
    return name


def test_an_admin_moves_somebody_whom_they_added(served: Served, window: Screen) -> None:
    window.sign_in(served.invite("admin"))
    tier = tier_of(served, window)
    person = f"eve{served.invited}"
    window.page.get_by_role("link", name="People").click()
    window.page.get_by_label("Name").fill(person)
    window.page.get_by_label("Clearance").select_option("public")
    window.press("Add user")
    window.reads("The user is added")
    window.press("Issue a token")
    window.reads("keeps no copy")
    assert window.page.get_by_text(re.compile("^pst_")).count() == 1
    window.page.get_by_role("button", name="I have copied it").click()
    window.page.get_by_role("button", name=re.compile("^Revoke ")).click()
    window.reads("The token is revoked.")
    window.page.get_by_role("link", name="Tiers").click()
    window.page.get_by_label("Person", exact=True).select_option(person)
    window.page.get_by_label("New tier").select_option("internal")
    window.press("Preview the move")
    window.reads("No budget is spent")
    window.page.get_by_role("region", name="What may be requested").wait_for()
    window.page.get_by_role("region", name="What could be learned of each dataset").wait_for()
    window.press(f"Move {person} up to internal")
    window.reads("recorded in the audit log")
    window.page.go_back()
    window.reads("nothing would change")
    window.go(f"/tiers/{tier}")
    window.page.get_by_label("to confirm").fill(tier)
    window.press("Delete tier")
    window.reads("The tier is deleted.")


def test_an_admin_grants_more_and_is_told_what_is_too_little(
    served: Served, window: Screen
) -> None:
    window.sign_in(served.invite("admin"))
    window.page.get_by_role("link", name="Budgets", exact=True).click()
    window.page.get_by_role("link", name="Change budgets of sites").click()
    window.page.get_by_label("Epsilon of internal").fill("4.5")
    window.press("Change budgets")
    window.reads("The budgets are changed.")
    window.page.get_by_label("Epsilon of public").fill("0.001")
    window.expect(409)
    window.press("Change budgets")
    window.reads("Nothing was done")
    assert window.page.get_by_label("Epsilon of public").input_value() == "0.001"


def test_a_query_is_previewed_while_it_is_typed_and_registered(
    served: Served, window: Screen
) -> None:
    window.sign_in(served.invite("admin"))
    window.go("/new/query?dataset=loans")
    window.expect(422)
    window.page.get_by_label("Name").fill("pages per person")
    window.page.get_by_label("Groups per person (at most)").fill("1")
    window.page.get_by_label("Rows in each (at most)").fill("2")
    window.page.get_by_label("For public").fill("0.1")
    window.page.keyboard.press("Tab")
    window.page.get_by_role("region", name="Preview by tier").wait_for()
    window.page.get_by_label("For public").fill("much")
    window.page.keyboard.press("Tab")
    window.reads("This must be a number.")
    window.page.get_by_label("For public").fill("0.1")
    window.page.keyboard.press("Tab")
    window.page.get_by_role("region", name="Preview by tier").wait_for()
    window.press("Register query")
    window.page.wait_for_url("**/queries/pages%20per%20person*")


def test_a_dataset_is_registered_without_a_script(
    served: Served, open_screen: Open, tmp_path: Path
) -> None:
    file = tmp_path / "staff.csv"
    file.write_text("person,hours\na,1\nb,2\n", encoding="utf-8")
    window = open_screen(java_script_enabled=False)
    window.sign_in(served.invite("admin"))
    window.page.get_by_role("link", name="Register a dataset").click()
    window.page.get_by_label("CSV or Parquet file").fill(str(file))
    window.press("Read columns")
    window.page.get_by_label("Name").fill("staff")
    window.page.get_by_label("Column of the privacy unit").select_option("person")
    window.page.get_by_label("Type").nth(1).select_option("number")
    window.page.get_by_label("Epsilon of public").fill("1")
    window.press("Register dataset")
    window.page.wait_for_url("**/datasets/staff?added=1")
    window.page.get_by_role("link", name="Build a query").click()
    window.page.get_by_label("Name").fill("heads")
    window.page.get_by_label("Statistic").select_option("count_units")
    window.page.get_by_label("For public").fill("0.1")
    window.press("Preview")
    window.reads("Share of its budget")
    window.press("Register query")
    window.page.wait_for_url("**/queries/heads*")


def test_a_schedule_is_made_and_switched_on_without_a_script(
    served: Served, open_screen: Open
) -> None:
    window = open_screen(java_script_enabled=False)
    window.sign_in(served.invite("admin"))
    window.page.get_by_role("link", name="Schedules").click()
    window.page.get_by_role("link", name="Make a schedule").click()
    window.page.get_by_label("Dataset", exact=True).select_option("loans")
    window.press("Use this dataset")
    name = f"weekly{served.invited}"
    window.page.get_by_label("Name of the schedule").fill(name)
    window.page.get_by_label("Timetable", exact=True).fill("0 3 * * 1")
    window.page.get_by_label("Total of internal").fill("40")
    window.page.get_by_label("Total of public").fill("10")
    window.page.get_by_text("An example of queries").click()
    example = window.page.locator("pre").first.inner_text()
    window.page.get_by_label("Queries (JSON)").fill(example)
    window.press("Preview what it will charge")
    window.reads("10 occurrences")
    window.press("Make the schedule, switched off")
    window.reads("It is off: nothing happens")
    window.page.get_by_role("checkbox", name="at most epsilon 40 of internal").check()
    window.press("Switch on")
    window.reads("The schedule is on")
    window.press("Switch off")
    window.reads("The schedule is off")
    window.page.get_by_label("to confirm").fill(name)
    window.press("Remove")
    window.reads("The schedule is removed")


@pytest.mark.nightly
def test_the_pages_of_admins_are_sound(served: Served, window: Screen, views: Views) -> None:
    window.sign_in(served.invite("admin"))
    window.expect(422)
    for path in (
        *("/home", "/tiers/public", "/clearance?user=x", "/users/ann", "/datasets/sites/budgets"),
        *("/schedules/daily?days=31", "/new/schedule?dataset=loans", "/schedules?dataset=sites"),
        *("/new/query?dataset=loans", "/new/dataset?source=vector", "/new/dataset?uri=x"),
        *("/new/dataset?source=bucket", "/new/dataset?source=view"),
    ):
        window.go(path)
        require_sound(window, path, views)
