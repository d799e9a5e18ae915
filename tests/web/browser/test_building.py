"""Test sparse histograms and streams built in Chromium.

Without a script, and while somebody types.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jinja2 import Environment, FileSystemLoader
from tests.web.browser.screens import Screen
from tests.web.browser.sound import PHONE, Views, require_sound
from tests.web.served import Served

from penstock import web
from penstock.errors import TooManyRequests
from penstock.web.forms.form_input import Form

if TYPE_CHECKING:
    from playwright.sync_api import Route

pytestmark = pytest.mark.slow

Open = Callable[..., Screen]

TEMPLATES = Path(web.__file__).with_name("templates")
SHOW = "Preview"
TERMS = "Preview by tier"


def sound_as_shown(window: Screen) -> None:
    """Require that the page is as accessible now as it was when it came."""
    assert window.faults() == []
    width = window.page.evaluate("document.documentElement.scrollWidth")
    assert width <= window.page.evaluate("window.innerWidth")


def test_a_sparse_histogram_is_built_without_a_script(served: Served, open_screen: Open) -> None:
    window = open_screen(java_script_enabled=False)
    window.sign_in(served.invite("admin"))
    window.go("/new/query")
    window.page.get_by_role("link", name="A sparse histogram").click()
    window.page.get_by_label("Dataset", exact=True).select_option("loans")
    window.press("Use this dataset")
    window.page.get_by_label("Name").fill("titles")
    window.page.get_by_label("Keys: values of").select_option("book")
    window.page.get_by_label("Column", exact=True).select_option("page")
    window.page.get_by_label("Value", exact=True).fill("ab")
    window.press("Add a condition")
    window.page.get_by_label("And column").wait_for()
    assert window.page.get_by_label("Name").input_value() == "titles"
    window.page.get_by_label("Keys per person (at most)").fill("1")
    window.page.get_by_label("Rows in each (at most)").fill("1")
    window.page.get_by_label("For public").fill("0.1")
    window.page.keyboard.press("Enter")
    # Left empty, the number of false keys is solved for.
    window.page.get_by_role("region", name="Keys that are listed").wait_for()
    window.page.get_by_label("Expected number at each tier").fill("0.001")
    window.press(SHOW)
    window.page.get_by_role("region", name="Keys that are listed").wait_for()
    window.press("Register query")
    window.page.wait_for_url("**/queries/titles?added=1")


def test_a_stream_is_opened_with_the_structure_that_its_preview_shows_best(
    served: Served, window: Screen
) -> None:
    window.sign_in(served.invite("admin"))
    window.go("/new/stream?dataset=sites")
    window.expect(409, 422)
    page = window.page
    page.get_by_label("Name").fill("arrivals")
    page.get_by_label("Elements (at most)").fill("64")
    page.get_by_label("Elements per person (at most)").fill("1")
    page.get_by_label("For public").fill("0.05")
    page.keyboard.press("Tab")
    window.reads("There is a query or stream")
    page.get_by_label("Name").fill("entries")
    page.keyboard.press("Tab")
    page.get_by_role("region", name=TERMS).wait_for()
    sound_as_shown(window)
    page.get_by_role("button", name=re.compile("^Use this: buffers")).click()
    page.wait_for_load_state()
    assert page.get_by_label("Structure", exact=True).input_value() == "buffered"
    page.get_by_role("region", name=TERMS).wait_for()
    window.press("Open stream")
    page.wait_for_url("**/streams/entries?added=1")


def test_a_preview_that_has_to_wait_follows_by_itself(served: Served, window: Screen) -> None:
    window.sign_in(served.invite("admin"))
    window.go("/new/stream?dataset=sites")
    page = window.page
    page.get_by_label("Name").fill("arrivals by day")
    page.get_by_label("Elements (at most)").fill("8")
    page.get_by_label("Elements per person (at most)").fill("1")
    answered: list[str] = []

    def wait_once(route: "Route") -> None:
        answered.append(route.request.post_data or "")
        if len(answered) == 1:
            route.fulfill(content_type="text/html", body=waiting("/new/stream/preview"))
        else:
            route.continue_()

    page.route("**/new/stream/preview", wait_once)
    page.get_by_label("For public").fill("0.05")
    page.keyboard.press("Tab")
    window.reads("This preview follows by itself")
    page.get_by_role("region", name=TERMS).wait_for()
    first, second = answered
    assert first == second


def waiting(address: str) -> str:
    """Return the part of a page that says that a preview has to wait for a second."""
    templates = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True)
    macros: Any = templates.get_template("shared/fields.html").module
    problem = TooManyRequests("Another preview is worked out.", retry_after=1)
    return str(macros.waits(Form({}, problem), address))


@pytest.mark.nightly
def test_ways_to_ask_are_compared_on_a_phone(served: Served, open_screen: Open) -> None:
    window = open_screen(size=PHONE, color_scheme="dark")
    window.sign_in(served.invite("admin"))
    window.go("/new/query?kind=vector&dataset=sites")
    window.expect(422)
    page = window.page
    page.get_by_label("Name").fill("typed")
    page.get_by_label("Keys, one per line").fill("a\nb\nc")
    page.get_by_label("All numbers together").fill("3")
    page.get_by_label("One number").fill("1")
    page.get_by_label("Noise", exact=True).select_option("generalized_gaussian")
    page.get_by_text("More about noise and levels").click()
    page.get_by_label("Power p").fill("3")
    page.get_by_label("For public").fill("0.05")
    window.press(SHOW)
    window.reads("Levels added later need the data again")
    page.get_by_role("region", name=re.compile("^Powers at epsilon")).wait_for()
    sound_as_shown(window)


def test_the_forms_of_every_kind_are_sound(served: Served, window: Screen, views: Views) -> None:
    window.sign_in(served.invite("admin"))
    for kind in ("statistic", "counts", "sparse"):
        window.go(f"/new/query?kind={kind}&dataset=loans")
        require_sound(window, kind, views)
    for path in ("/new/query?kind=vector&dataset=sites", "/new/stream?dataset=loans"):
        window.go(path)
        require_sound(window, path, views)
