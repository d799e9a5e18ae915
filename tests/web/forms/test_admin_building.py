"""Queries and datasets built by form: previewed and registered as the API would."""

import re
from pathlib import Path

import pytest
from tests.api.world import World
from tests.web.forms.staff import CANARY, COUNT, DATASET, STAFF
from tests.web.world import Browser, text_of

SPEC = {
    "name": "loans by shelf",
    "dataset": "loans",
    "aggregate": {"type": "count"},
    "contribution": {"max_groups": 1, "max_rows_per_group": 3},
    "mechanism": "gaussian",
    "levels": {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.5}},
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "staff.csv"
    made.write_text(STAFF, encoding="utf-8")
    return made


@pytest.mark.usefixtures("unchanged")
def test_a_preview_on_the_page_is_that_of_the_api(root: Browser, world: World) -> None:
    page = root.submit("/new/query/preview", **COUNT)
    assert page.status_code == 200
    words = text_of(page)
    said = world.answer("POST", "/api/v1/queries/preview", SPEC, by="root")
    assert said["sensitivity"]["l1"] == 3
    assert "3 in all" in words
    for tier in said["tiers"]:
        row = (
            f"{tier['tier']} {tier['guarantee']['epsilon']:.3g} ±{tier['error']['half_width']:.3g}"
        )
        assert row in words
    assert 'value="loans by shelf"' in page.text
    assert page.text.count("<svg") == 4


@pytest.mark.usefixtures("unchanged")
def test_a_preview_comes_alone_where_a_script_asks(root: Browser) -> None:
    fields = {**COUNT, "form_key": root.form_key()}
    headers = {"Origin": "http://127.0.0.1:8080", "HX-Request": "true"}
    page = root.client.post(
        "/new/query/preview", base_url="https://127.0.0.1:8080", headers=headers, data=fields
    )
    assert page.status_code == 200
    assert "<html" not in page.text
    assert "Takes of its budget" in page.text


@pytest.mark.usefixtures("unchanged")
def test_a_preview_says_that_the_budget_is_too_small(root: Browser) -> None:
    page = root.submit("/new/query/preview", **{**COUNT, "level internal": "50"})
    assert page.status_code == 200
    assert "It would be refused." in text_of(page)
    assert "too little" in text_of(page)
    assert (
        root.submit("/new/query", **{**COUNT, "level internal": "50"}, once="1").status_code == 409
    )


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"name": ""}, "name"),
        ({"level public": "x"}, "level-2"),
        ({"level public": "-1"}, "level-2"),
        ({"max_rows": "1.5"}, "max_rows"),
        ({"mechanism": "none"}, "mechanism"),
        ({"wish": "share", "share": "2"}, "share"),
        ({"aggregate": "sum", "column": ""}, "column"),
        ({"aggregate": "histogram", "column": "book", "bins": "1, x"}, "bins"),
        ({"group 0": "absent"}, "group-0"),
        ({"where 0": "book", "value 0": "x"}, "value-0"),
        ({"where 0": "absent", "value 0": "x"}, "where-0"),
    ],
)
@pytest.mark.usefixtures("unchanged")
def test_nonsense_comes_back_with_its_reason_beside_it(
    root: Browser, fields: dict[str, str], place: str
) -> None:
    for path in ("/new/query/preview", "/new/query"):
        page = root.submit(path, **{**COUNT, **fields}, once="2")
        assert page.status_code == 422, text_of(page)
        assert f'id="{place}-wrong"' in page.text, text_of(page)
        assert 'value="0.5"' in page.text


def test_a_query_is_registered_once_however_often_its_form_is_sent(
    root: Browser, world: World
) -> None:
    first = root.submit("/new/query", **COUNT, once="k" * 32)
    assert first.status_code == 303
    assert root.submit("/new/query", **COUNT, once="k" * 32).location == first.location
    made = world.answer("GET", "/api/v1/queries/loans%20by%20shelf", by="root")
    assert made["spec"]["aggregate"]["type"] == "count"
    assert len(world.answer("GET", "/api/v1/queries?dataset=loans", by="root")["items"]) == 2


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
    told = re.findall(r'<small class="wrong"[^>]*>(.*?)</small>', page.text)
    assert len(told) == len(set(told)), "each reason stands beside one field"


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
