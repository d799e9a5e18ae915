"""Test an admin's whole way, from a server with nothing in it to tables that four tiers read."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.databases.homes import Homes
from tests.web.browser.asking import ASK
from tests.web.browser.screens import Screen, screen
from tests.web.served import Served, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow

TIERS = ("public", "partner", "internal", "owner")
FLAGS = tuple(f"answer_{number}" for number in range(16))
COLUMNS = ("person", "town", "sex", "age", *FLAGS)
KINDS = {
    "town": "string,,,,north|south,",
    "sex": "string,,,,female|male,",
    "age": "integer,0,100,,,",
    "person": "integer,,,,,",
}
TABLES = {"by town": ("town",), "by sex": ("sex",), "by both": ("town", "sex")}


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Served]:
    """Yield a server that was just set up: no tier, no dataset, and nobody but the operator."""
    with serving(Homes(None).empty(tmp_path / "empty"), tmp_path / "served") as served:
        yield served


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a CSV file of 60 people and 20 columns."""
    file = tmp_path / "survey.csv"
    towns, sexes = ("north", "south"), ("female", "male")
    rows = [
        (number, towns[number % 2], sexes[number % 3 // 2], 20 + number, *[number % 2] * len(FLAGS))
        for number in range(60)
    ]
    lines = [COLUMNS, *rows]
    file.write_text("".join(",".join(map(str, line)) + "\n" for line in lines), encoding="utf-8")
    return file


def registered(window: Screen, data: Path) -> None:
    """Insert the tiers that are missing, then upload the file and declare its columns."""
    window.page.get_by_role("link", name="Register a dataset").click()
    window.page.get_by_role("link", name="Insert a tier first").click()
    for tier in TIERS:
        window.field("Name").fill(tier)
        window.press("Insert the tier")
        window.reads(f"Tier {tier} is inserted")
    window.go("/new/dataset")
    window.page.get_by_label("File on this device").set_input_files(data)
    window.press("Upload")
    window.field("Name").fill("survey")
    window.page.get_by_label("Column of the privacy unit").select_option("person")
    dictionary = window.page.get_by_label("Data dictionary")
    heading, *lines = dictionary.input_value().splitlines()
    assert [line.partition(",")[0] for line in lines] == list(COLUMNS)
    told = [f"{name},{KINDS.get(name, 'integer,,,,0|1,')}" for name in COLUMNS]
    dictionary.fill("\n".join([heading, *told]))
    window.press("Fill columns")
    window.reads("All of its columns are in the data.")
    for place, tier in enumerate(TIERS):
        window.page.get_by_label(f"Epsilon of {tier}").fill(str(2**place))
    window.press("Register dataset")
    window.page.wait_for_url("**/datasets/survey?added=1")


def published(window: Screen, name: str, columns: tuple[str, ...]) -> None:
    """Register a count of people at the levels with which the form begins."""
    window.go("/datasets/survey")
    window.page.get_by_role("link", name="Build a query").click()
    window.field("Name").fill(name)
    window.page.get_by_label("Statistic").select_option("count_units")
    window.page.get_by_label("Column", exact=True).first.select_option(columns[0])
    for column in columns[1:]:
        window.press("Add a grouping column")
        window.page.get_by_label("And column").select_option(column)
    window.page.get_by_label("Groups per person (at most)").fill("1")
    assert window.page.get_by_label("For public").input_value() == "0.1"
    assert window.page.get_by_label("For owner").input_value() == "0.8"
    window.press("Register query")
    window.reads("The query is registered")


def test_twenty_columns_are_registered_and_three_tables_published_to_four_tiers(
    chromium: "Browser", fresh: Served, data: Path
) -> None:
    with screen(chromium, fresh.url) as window:
        window.expect(422)
        window.sign_in(fresh.invite("admin"))
        registered(window, data)
        for name, columns in TABLES.items():
            published(window, name, columns)
    for tier in TIERS:
        with screen(chromium, fresh.url) as window:
            window.sign_in(fresh.invite("analyst", tier))
            for name in TABLES if tier == "owner" else ("by both",):
                window.go(f"/queries/{name}")
                window.press(ASK)
                window.reads("You received this release")
            window.page.get_by_text("Why this margin?").click()
            window.reads(f"Tier {tier} sees this query at epsilon")
