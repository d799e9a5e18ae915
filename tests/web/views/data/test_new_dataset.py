"""Test datasets registered by form: from a file whose cells are never shown."""

import re
from pathlib import Path

import pytest
from tests.api.world import World
from tests.web.staff import CANARY, DATASET, STAFF
from tests.web.world import Browser, text_of


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "staff.csv"
    made.write_text(STAFF, encoding="utf-8")
    return made


def test_a_dataset_is_registered_from_a_file_whose_cells_are_not_shown(
    root: Browser, world: World, file: Path
) -> None:
    page = root.get(f"/new/dataset?uri={file}")
    assert page.status_code == 200
    for column in ("person", "team", "hours"):
        assert f"<bdi>{column}</bdi>" in page.text
    assert CANARY not in page.text
    assert "blue" not in page.text
    sent = root.submit("/new/dataset", **DATASET, uri=str(file), once="d" * 32)
    assert sent.status_code == 303, text_of(sent)
    assert root.submit("/new/dataset", **DATASET, uri=str(file), once="d" * 32).status_code == 303
    made = world.answer("GET", "/api/v1/datasets/staff", by="root")
    assert made["columns"]["team"] == {"type": "string", "categories": ["red", "blue"]}
    assert made["columns"]["hours"] == {"type": "number", "lower": 0, "upper": 10, "step": 0.5}
    assert made["privacy_unit"] == {"column": "person"}
    assert made["budgets"]["internal"]["epsilon"] == 2
    twin = root.submit("/new/dataset", **{**DATASET, "name": "twin"}, uri=str(file), once="e" * 32)
    assert twin.status_code == 409
    assert 'value="twin"' in twin.text
    assert CANARY not in twin.text


@pytest.mark.usefixtures("unchanged")
def test_what_is_shown_of_a_file_is_the_same_whatever_stands_in_its_cells(
    root: Browser, tmp_path: Path, file: Path
) -> None:
    def shown() -> str:
        return re.sub(r'value="[0-9a-f]{32}"', "", root.get(f"/new/dataset?uri={file}").text)

    before = shown()
    file.write_text("person,team,hours\n" + "1,2,x\n" * 500, encoding="utf-8")
    assert shown() == before


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"name": ""}, "name"),
        ({"delta": "x"}, "delta"),
        ({"delta": "1"}, "delta"),
        ({"neighboring": "x"}, "neighboring"),
        ({"unit": "x"}, "unit"),
        ({"lower 2": "x"}, "lower-2"),
        ({"epsilon public": "-1"}, "epsilon-2"),
        ({"max_units": "1.5"}, "max_units"),
        ({"column 0": "absent"}, ""),
        ({"unit column": "absent"}, ""),
    ],
)
@pytest.mark.usefixtures("unchanged")
def test_a_declaration_that_cannot_be_meant_comes_back_as_typed(
    root: Browser, file: Path, fields: dict[str, str], place: str
) -> None:
    page = root.submit("/new/dataset", **{**DATASET, **fields}, uri=str(file), once="3")
    assert page.status_code == 422
    assert f'id="{place}-wrong"' in page.text if place else "Nothing was done" in page.text
    assert "red\nblue" in page.text
    assert CANARY not in page.text
    reasons = re.findall(r'<small class="wrong"[^>]*>(.*?)</small>', page.text)
    assert len(reasons) == len(set(reasons)), "each reason stands beside one field"


@pytest.mark.parametrize(
    "uri", ["/etc/passwd", "absent.csv", "http://elsewhere.example/a.csv", "/", "\x00.csv", "a\nb"]
)
@pytest.mark.usefixtures("unchanged")
def test_a_file_that_cannot_be_read_is_refused_beside_its_field(root: Browser, uri: str) -> None:
    for page in (
        root.client.get(
            "/new/dataset", base_url="https://127.0.0.1:8080", query_string={"uri": uri}
        ),
        root.submit("/new/dataset", **DATASET, uri=uri, once="4"),
    ):
        assert page.status_code == 422, uri
        assert "Nothing was done" in page.text


@pytest.mark.usefixtures("unchanged")
def test_the_servers_own_files_are_no_data(root: Browser, world: World) -> None:
    database = world.server.settings.home / "database" / "x.csv"
    page = root.get(f"/new/dataset?uri={database}")
    assert page.status_code == 422
    assert "own folders" in text_of(page)
