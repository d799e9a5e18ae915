"""Test that a declaration that was wrong is corrected by form, or withdrawn."""

from pathlib import Path

import pytest
from tests.api.world import World
from tests.web.every_page.contents import require_own
from tests.web.views.people.acting import follow
from tests.web.world import Browser, text_of

PATH = "/datasets/stays/declaration"
SENT = {
    "unit": "column",
    "unit column": "person",
    "neighboring": "add_remove",
    "delta": "1e-6",
    "column 0": "person",
    "type 0": "string",
    "column 1": "town",
    "type 1": "string",
    "categories 1": "north\nsouth",
}


@pytest.fixture
def stays(world: World, tmp_path: Path) -> World:
    """Return a dataset where nothing was charged, with a category that the file does not have."""
    file = tmp_path / "stays.csv"
    file.write_text("person,town\np1,north\np2,south\n")
    spec = {
        "name": "stays",
        "source": {"engine": "duckdb", "uri": str(file)},
        "privacy_unit": {"column": "person"},
        "neighboring": "add_remove",
        "delta": 1e-6,
        "columns": {
            "person": {"type": "string"},
            "town": {"type": "string", "categories": ["nord", "south"]},
        },
        "budgets": {"public": 1},
    }
    assert world.call("POST", "/api/v1/datasets", spec, by="root").status_code == 201
    return world


def test_a_wrong_category_is_corrected_by_form(root: Browser, stays: World) -> None:
    page = root.get(PATH)
    require_own(page, PATH)
    assert ">nord\nsouth</textarea>" in page.text
    assert 'value="column" selected' in page.text
    assert f'href="{PATH}"' in root.get("/datasets/stays").text
    bad = root.submit(PATH, **{**SENT, "categories 1": "north\nnorth"}, once="1")
    assert bad.status_code == 422
    assert "Nothing was done" in text_of(bad)
    done = follow(root, root.submit(PATH, **SENT, once="2"))
    assert "The declaration is corrected" in text_of(done)
    shown = stays.answer("GET", "/api/v1/datasets/stays", by="root")
    assert shown["columns"]["town"]["categories"] == ["north", "south"]
    assert (shown["declaration"], shown["delta"]) == (2, 1e-6)


def test_what_charges_are_stated_in_is_not_asked_for_after_them(
    root: Browser, world: World
) -> None:
    page = root.get("/datasets/loans/declaration")
    assert "Charges stay as they are" in text_of(page)
    assert 'name="unit"' not in page.text
    assert "/withdrawal" not in page.text


def test_a_dataset_is_withdrawn_after_its_name_is_typed(root: Browser, stays: World) -> None:
    path = "/datasets/stays/withdrawal"
    assert root.submit(path).status_code == 422
    gone = root.submit(path, sure="stays")
    assert gone.status_code == 303
    assert root.get("/datasets/stays").status_code == 404
