"""Test levels moved, a version registered and a dataset shredded, in Chromium."""

from pathlib import Path

import pytest
from tests.api import world as api
from tests.api.queries.loans import LOANS, ROWS
from tests.web.browser.opening import Open
from tests.web.browser.screens import Screen
from tests.web.browser.sound import EVERY, PHONE, Views, require_sound
from tests.web.served import Served

from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.queries import registration
from penstock.services.schemas.queries import DatasetRequest, PushedVectorRequest

pytestmark = pytest.mark.slow


def own_query(served: Served) -> tuple[str, str]:
    """Return a dataset of one's own with a query of its own; their names."""
    names = f"data{served.invited}", f"query{served.invited}"
    spec = {**api.DATASET, "name": names[0]}
    datasets.register(served.server, OPERATOR, DatasetRequest.model_validate(spec))
    asked = {**api.QUERY, "name": names[1], "dataset": names[0]}
    registration.register(served.server, OPERATOR, PushedVectorRequest.model_validate(asked))
    return names


def test_levels_are_moved_as_they_were_shown(served: Served, window: Screen, views: Views) -> None:
    window.sign_in(served.invite("admin"))
    _, query = own_query(served)
    window.go(f"/queries/{query}")
    window.page.get_by_role("link", name="Change its levels").click()
    window.page.get_by_label("For public").fill("much")
    window.expect(422, 409)
    window.press("Preview")
    window.reads("This must be a number")
    assert window.page.get_by_label("For public").input_value() == "much"
    window.page.get_by_label("For public").fill("0.3")
    window.press("Preview")
    window.page.get_by_role("region", name="Effect on each tier").wait_for()
    shown = window.page.url
    require_sound(window, "what levels would mean", views)
    window.press("Change levels")
    window.reads("The levels are changed.")
    require_sound(window, "levels that were moved", views)
    window.page.go_back()
    window.reads("nothing would change")
    other = window.tab()
    other.goto(shown.replace("0.3", "0.4"))
    window.page.goto(shown.replace("0.3", "0.35"))
    window.press("Change levels")
    window.reads("The levels are changed.")
    other.get_by_role("button", name="Change levels").click()
    other.get_by_text("after the preview was shown").first.wait_for()


def test_a_dataset_is_shredded_by_its_name_alone(
    served: Served, window: Screen, views: Views
) -> None:
    window.sign_in(served.invite("admin"))
    dataset, query = own_query(served)
    window.go(f"/datasets/{dataset}")
    window.page.get_by_role("link", name="Shred", exact=True).click()
    window.page.get_by_role("link", name=query).wait_for()
    require_sound(window, "what shredding would take away", views)
    window.expect(422)
    window.page.get_by_label("to confirm").fill("sites")
    window.press("Shred permanently")
    window.reads("Nothing was done.")
    require_sound(window, "another name was typed", views)
    window.page.get_by_label("to confirm").fill(dataset)
    window.page.keyboard.press("Enter")
    window.reads(f"{dataset} is shredded")
    window.go(f"/queries/{query}")
    window.reads("is retired")
    window.go("/keys")
    window.reads("its data can never be read again")


def test_a_version_is_registered_on_a_phone_in_the_dark_without_a_script(
    served: Served, open_screen: Open, tmp_path: Path
) -> None:
    window = open_screen(java_script_enabled=False, size=PHONE, color_scheme="dark")
    window.sign_in(served.invite("admin"))
    name = f"lent{served.invited}"
    for place, file in enumerate((tmp_path / "first.csv", tmp_path / "later.csv")):
        file.write_text(f"{ROWS}{name}{place},7,ab\n", encoding="utf-8")
    spec = {
        **LOANS,
        "name": name,
        "source": {"engine": "duckdb", "uri": str(tmp_path / "first.csv")},
    }
    datasets.register(served.server, OPERATOR, DatasetRequest.model_validate(spec))
    window.go(f"/datasets/{name}")
    window.page.get_by_role("link", name="Register a new version").click()
    window.page.get_by_label("File with the new data").fill(str(tmp_path / "later.csv"))
    window.page.get_by_label("Epsilon of internal").fill("2")
    window.press("Preview")
    window.page.get_by_role("region", name="Bound on the privacy loss of one person").wait_for()
    window.reads("epsilon 6")
    window.press("Register version")
    window.reads("Version 2 is registered")


SEEN_BY_ROLES = [
    *("/queries/visits/levels", "/streams/arrivals/levels", "/queries/books/levels"),
    *("/datasets/closed/shredding", "/datasets/loans/versions", "/datasets/sites/versions"),
    *("/queries/visits/retirement", "/streams/arrivals/retirement"),
]
"""Pages of which test_troubles_in_a_browser opens one of each kind at every change."""


def test_the_pages_of_changes_are_sound(served: Served, window: Screen, views: Views) -> None:
    window.sign_in(served.invite("admin"))
    window.expect(422)
    for path in (
        "/streams/arrivals/levels?wish=epsilon&level+public=0.3",
        "/queries/visits/levels?wish=epsilon&level+public=x",
        *(SEEN_BY_ROLES if views is EVERY else ()),
    ):
        window.go(path)
        require_sound(window, path, views)
