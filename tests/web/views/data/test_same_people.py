"""Test pages that ask whether two datasets hold the same people.

Before, when and after registering.
"""

from pathlib import Path

import pytest
from tests.api.queries.loans import ROWS
from tests.api.world import World
from tests.web.every_page.contents import LARGEST_PAGE, require_own, weight
from tests.web.views.people.acting import follow, leaves
from tests.web.world import Browser, text_of

PATH = "/datasets/again/same-people"


@pytest.fixture
def again(world: World, tmp_path: Path) -> str:
    """Return the table of ``loans`` once more, with a newline at its end."""
    file = tmp_path / "again.csv"
    file.write_text(ROWS + "\n", encoding="utf-8")
    shown = world.answer("GET", "/api/v1/datasets/loans", by="root")
    spec = {part: shown[part] for part in ("privacy_unit", "neighboring", "delta", "columns")}
    spec["budgets"] = {
        name: {"epsilon": budget["epsilon"]} for name, budget in shown["budgets"].items()
    }
    source = {"engine": "duckdb", "uri": str(file)}
    world.answer("POST", "/api/v1/datasets", {**spec, "name": "again", "source": source}, by="root")
    return "again"


def test_who_registered_the_same_table_twice_is_asked_and_may_declare_it(
    root: Browser, world: World, again: str
) -> None:
    shown = root.get(f"/datasets/{again}?added=1")
    assert "declares the same columns" in text_of(shown)
    assert f'<a href="{PATH}">Do they hold the same people?</a>' in shown.text
    page = root.get(PATH)
    assert "loans (declares the same columns)" in text_of(page)
    before = leaves(world)
    preview = root.get(f"{PATH}?other=loans")
    require_own(preview, PATH)
    assert weight(root, preview.text) < LARGEST_PAGE
    words = text_of(preview)
    assert "internal epsilon 4 epsilon 4 epsilon 8" in words
    assert "public epsilon 1 epsilon 1 epsilon 2" in words
    assert leaves(world) == before
    done = follow(root, root.submit(PATH, other="loans", once="p" * 32))
    assert "declared to hold the same people" in text_of(done)
    assert "The same people as loans" in text_of(done)
    assert leaves(world) != before
    together = world.answer("GET", "/api/v1/datasets/loans/budget", by="root")["together"]
    assert {tier["tier"]: tier["granted"]["epsilon"] for tier in together} == {
        "public": 2,
        "internal": 8,
    }
    words = text_of(root.get("/budgets"))
    assert "Total over all versions and datasets of the same people:" in words
    assert "declares the same columns" not in text_of(root.get(f"/datasets/{again}?added=1"))


def test_a_declaration_is_made_once_and_refused_with_its_reason(
    root: Browser, world: World, again: str
) -> None:
    first = root.submit(f"/datasets/{again}/same-people", other="loans", once="q" * 32)
    after = leaves(world)
    repeated = root.submit(PATH, other="loans", once="q" * 32)
    assert repeated.location == first.location
    twice = root.submit(PATH, other="loans", once="r" * 32)
    assert (twice.status_code, "declared already" in text_of(twice)) == (409, True)
    itself = root.get(f"{PATH}?other={again}")
    assert (itself.status_code, "the dataset itself" in text_of(itself)) == (422, True)
    nothing = root.submit(PATH, other="", once="s" * 32)
    assert (nothing.status_code, "No dataset was chosen" in text_of(nothing)) == (422, True)
    assert leaves(world) == after


def test_the_form_of_a_new_dataset_asks_as_well(
    root: Browser, world: World, tmp_path: Path
) -> None:
    page = root.get("/new/dataset?source=vector")
    assert "Does another dataset hold the same people?" in text_of(page)
    assert '<option value="sites">yes: sites</option>' in page.text
    pushed = {
        "source": "vector",
        "name": "beds",
        "neighboring": "add_remove",
        "delta": "1e-6",
        "epsilon public": "1",
        "same_people_as": "sites",
        "once": "t" * 32,
    }
    follow(root, root.submit("/new/dataset", **pushed))
    shown = world.answer("GET", "/api/v1/datasets/beds", by="root")
    assert shown["same_people_as"] == ["sites"]
