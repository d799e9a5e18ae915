"""Test datasets registered by form: from a file whose cells are never shown."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pytest
from pydantic import SecretStr
from tests.api.world import World
from tests.web.every_page.contents import LARGEST_PAGE, require_own, weight
from tests.web.staff import CANARY, DATASET, STAFF
from tests.web.world import Browser, text_of

from penstock.errors import InvalidInput
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.jobs import registrations
from penstock.services.schemas.queries import DatasetRequest

SECRETS = {
    "lake": '{"store": "s3", "access_key_id": "unseen-key", "secret_access_key": "unseen"}',
    "ware_house": "postgresql://ada:unseen@db.example/x",
}
NAMES = "person string\nteam string\nhours number"
LAKE = {"source": "bucket", "connection": "lake", "uri": "s3://clinic/*.parquet", "names": NAMES}
HOUSE = {"source": "view", "connection": "ware_house", "uri": "public.staff", "names": NAMES}


@pytest.fixture
def connected(open_copy: Callable[..., World]) -> Browser:
    """Return an admin of a server with a connection to a bucket and one to a database."""
    secrets = {name: SecretStr(text) for name, text in SECRETS.items()}
    world = open_copy(connections=secrets)
    browser = Browser(world, world.client.application.test_client())
    assert browser.sign_in("root").status_code == 303
    return browser


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


def test_connections_are_offered_by_name_for_what_they_are_for(
    connected: Browser, root: Browser
) -> None:
    for source, own, other in (("bucket", "lake", "ware_house"), ("view", "ware_house", "lake")):
        page = connected.get(f"/new/dataset?source={source}")
        assert f'<option value="{own}">' in page.text
        assert f'value="{other}"' not in page.text
        assert "unseen" not in page.text
        assert "db.example" not in page.text
        require_own(page, source)
        assert weight(connected, page.text) < LARGEST_PAGE
        without = root.get(f"/new/dataset?source={source}")
        assert "No connection to a" in text_of(without)
        assert "<textarea" not in without.text
    assert "ware_house (postgresql)" in connected.get("/new/dataset?source=view").text


@pytest.mark.parametrize(
    ("place", "source"),
    [
        (LAKE, {"engine": "duckdb", "uri": "s3://clinic/*.parquet", "connection": "lake"}),
        (
            HOUSE,
            {"engine": "postgresql", "table": "public.staff", "connection": "ware_house"},
        ),
    ],
)
def test_data_under_a_connection_are_declared_by_columns_that_are_listed(
    connected: Browser,
    monkeypatch: pytest.MonkeyPatch,
    place: dict[str, str],
    source: dict[str, str],
) -> None:
    sent: list[DatasetRequest] = []

    def refuse(_: Server, __: Principal, request: DatasetRequest) -> None:
        sent.append(request)
        raise InvalidInput("It cannot be reached.", pointer="/source/connection")

    monkeypatch.setattr(registrations, "of_dataset", refuse)
    page = connected.get(f"/new/dataset?{urlencode(place)}")
    for column in ("person", "team", "hours"):
        assert f"<bdi>{column}</bdi>" in page.text
    assert '<option value="number" selected>' in page.text
    for name, value in place.items():
        assert f'<input type="hidden" name="{name}" value="{value}">' in page.text
    require_own(page, "/new/dataset")
    answer = connected.submit("/new/dataset", **DATASET, **place, once="7")
    (request,) = sent
    assert request.source.model_dump() == source | ({} if "uri" in source else {"uri": None})
    assert list(request.columns) == ["person", "team", "hours"]
    assert (answer.status_code, 'id="connection-wrong"' in answer.text) == (422, True)
    assert "red\nblue" in answer.text
    assert f"\n{NAMES}</textarea>" in answer.text


@pytest.mark.parametrize(
    ("place", "changes", "beside"),
    [
        (LAKE, {"connection": ""}, "connection"),
        (LAKE, {"connection": "absent"}, "connection"),
        (LAKE, {"uri": ""}, "file"),
        (LAKE, {"names": ""}, "names"),
        (LAKE, {"names": "a\na"}, "names"),
        (HOUSE, {"uri": "a b"}, "file"),
        (HOUSE, {"connection": ""}, "connection"),
    ],
)
def test_a_place_that_cannot_be_one_comes_back_as_typed(
    connected: Browser, place: dict[str, str], changes: dict[str, str], beside: str
) -> None:
    given = {**place, **changes}
    for page in (
        connected.get(f"/new/dataset?{urlencode(given)}"),
        connected.submit("/new/dataset", **DATASET, **given, once="8"),
    ):
        assert page.status_code == 422
        assert page.text.count('-wrong"') == 1, text_of(page)
        assert f'id="{beside}-wrong"' in page.text
        assert f"\n{given['names']}</textarea>" in unescape(page.text)
        if given["uri"]:
            assert f'value="{given["uri"]}"' in page.text


def test_a_name_in_the_place_of_a_connection_or_column_is_text(connected: Browser) -> None:
    broken = "x<script>alert(1)</script>"
    given = {**LAKE, "connection": broken, "names": f"{broken} string", "uri": broken}
    page = connected.get(f"/new/dataset?{urlencode(given)}")
    assert "<script>alert" not in page.text
    listed = connected.get(f"/new/dataset?{urlencode({**LAKE, 'names': broken})}")
    assert "<bdi>x&lt;script&gt;" in listed.text


DICTIONARY = (
    "name,type,lower,upper,step,categories\nteam,string,,,,red|blue\nhours,float,0,10,0.5,\nx,int"
)


@pytest.mark.usefixtures("unchanged")
def test_a_pasted_dictionary_fills_the_columns_and_keeps_the_rest(
    root: Browser, file: Path
) -> None:
    typed = {"name": "staff", "epsilon public": "1", "uri": str(file), "source": "file"}
    columns = {"column 0": "person", "column 1": "team", "column 2": "hours"}
    page = root.submit("/new/dataset/dictionary", **typed, **columns, dictionary=DICTIONARY)
    assert page.status_code == 200
    text = unescape(page.text)
    assert "These columns of it are not in the data: <bdi>x</bdi>." in text
    for field, value in (("lower 2", "0"), ("upper 2", "10"), ("step 2", "0.5"), ("name", "staff")):
        assert re.search(rf'name="{field}" value="{value}"', text), field
    assert "red\nblue</textarea>" in text
    assert re.search(r'name="type 2".*?<option value="number" selected>', text, re.DOTALL)
    assert CANARY not in text
    wrong = root.submit("/new/dataset/dictionary", **typed, **columns, dictionary="a: [")
    assert wrong.status_code == 422
    assert "The dictionary is not YAML" in unescape(wrong.text)
    assert 'name="epsilon public" value="1"' in wrong.text
