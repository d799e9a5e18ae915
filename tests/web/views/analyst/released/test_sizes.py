"""Test that a page reads counts with the size that another release of the reader's has."""

from pathlib import Path
from typing import Any

import pytest
from tests.api.queries.people import ASKED, PEOPLE, ROWS
from tests.api.world import World
from tests.web.world import Open, text_of


def counted(world: World, folder: Path, mechanism: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Register counts of a declared size, and that size, and release both to ann."""
    file = folder / "people.csv"
    file.write_text(ROWS)
    source = {"engine": "duckdb", "uri": str(file)}
    world.answer("POST", "/api/v1/datasets", {**PEOPLE, "source": source}, by="root")
    size = {
        "name": "sizes",
        "dataset": "people",
        "aggregate": {"type": "count_units"},
        "mechanism": mechanism,
        "levels": {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.5}},
    }
    for query in ({**ASKED, "known_size": 300}, size):
        world.answer("POST", "/api/v1/queries", query, by="root")
    habits, sizes = (
        world.answer("POST", f"/api/v1/queries/{name}/releases", {}, by="ann")
        for name in ("habits", "sizes")
    )
    return habits, sizes


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_a_page_reads_counts_with_a_released_size(
    world: World, browse: Open, tmp_path: Path, mechanism: str
) -> None:
    habits, sizes = counted(world, tmp_path, mechanism)
    reader = browse("ann")
    page = reader.get(f"/releases/{habits['id']}")
    assert "Read with the size that another release has" in text_of(page)
    assert "The privacy loss below" not in text_of(page)
    path = f"/releases/{habits['id']}?size_release={sizes['id']}"
    page = reader.get(path)
    assert page.status_code == 200
    assert f'value="{sizes["id"]}"' in page.text
    assert f"Read with the size that the release of sizes has, whose noise is {mechanism}" in (
        text_of(page)
    )
    # Of both noises together no law is known unless each is Gaussian.
    total = reader.get(f"{path}&quantity=total")
    assert total.status_code == (200 if mechanism == "gaussian" else 422)
    assert ("law of both together is not known" in text_of(total)) == (mechanism == "laplace")


def test_a_size_that_does_not_fit_or_is_not_the_readers_is_refused(
    world: World, browse: Open, tmp_path: Path
) -> None:
    habits, sizes = counted(world, tmp_path, "gaussian")
    reader = browse("ann")
    assert reader.get(f"/releases/{sizes['id']}?size_release={habits['id']}").status_code == 422
    assert reader.get(f"/releases/{habits['id']}?size_release={habits['id']}").status_code == 422
    theirs = world.answer("POST", "/api/v1/queries/sizes/releases", {}, by="ian")
    assert reader.get(f"/releases/{habits['id']}?size_release={theirs['id']}").status_code == 404
    assert "another release has" not in text_of(reader.get(f"/releases/{sizes['id']}"))
