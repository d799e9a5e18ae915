"""Test a new version of a dataset by form: prefilled, previewed, registered once."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import SecretStr
from tests.api.queries.loans import ROWS
from tests.api.world import World
from tests.web.every_page.contents import LARGEST_PAGE, require_own, weight
from tests.web.views.people.acting import follow, leaves
from tests.web.world import Browser, text_of

PATH = "/datasets/loans/versions"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return the same columns, and somebody more in them."""
    made = tmp_path / "later.csv"
    made.write_text(f"{ROWS}Zebediah,7,ab\n", encoding="utf-8")
    return made


def fields(file: Path, **more: str) -> dict[str, str]:
    return {"uri": str(file), "epsilon public": "0.5", "epsilon internal": "2", **more}


def test_the_form_begins_with_what_the_present_version_has(root: Browser, world: World) -> None:
    shown = world.answer("GET", "/api/v1/datasets/loans", by="root")
    page = root.get(PATH)
    assert f'value="{shown["source"]["uri"]}"' in page.text
    assert re.search(r'name="epsilon internal" value="4\.0"', page.text)
    assert f'href="{PATH}"' in root.get("/datasets/loans").text
    assert "are pushed" in text_of(root.get("/datasets/sites/versions"))
    for path in (PATH, "/datasets/sites/versions"):
        answer = root.get(path)
        require_own(answer, path)
        assert weight(root, answer.text) < LARGEST_PAGE


def test_what_it_means_for_budgets_is_said_and_then_so(
    root: Browser, world: World, file: Path
) -> None:
    before = leaves(world)
    page = root.submit(f"{PATH}/preview", **fields(file), once="1")
    assert page.status_code == 200
    words = text_of(page)
    assert "Preview of version 2" in words
    assert "internal epsilon 4 epsilon 2 epsilon 6" in words
    assert "public epsilon 1 epsilon 0.5 epsilon 1.5" in words
    assert leaves(world) == before
    assert f'value="{file}"' in page.text
    require_own(page, PATH)
    done = follow(root, root.submit(PATH, **fields(file), once="1"))
    assert "Version 2 is registered" in text_of(done)
    together = world.answer("GET", "/api/v1/datasets/loans/budget", by="root")["together"]
    assert {tier["tier"]: tier["granted"]["epsilon"] for tier in together} == {
        "public": 1.5,
        "internal": 6,
    }
    assert "Zebediah" not in page.text + done.text


def test_it_is_registered_once_however_often_its_form_is_sent(
    root: Browser, world: World, file: Path
) -> None:
    first = root.submit(PATH, **fields(file), once="v" * 32)
    after = leaves(world)
    assert root.submit(PATH, **fields(file), once="v" * 32).location == first.location
    assert leaves(world) == after
    twin = root.submit(PATH, **fields(file), once="w" * 32)
    assert (twin.status_code, "registered already" in text_of(twin)) == (409, True)
    assert f'value="{file}"' in twin.text


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"uri": ""}, "file"),
        ({"uri": "/etc/passwd"}, "file"),
        ({"epsilon public": "x"}, "epsilon-2"),
        ({"epsilon public": "9"}, "epsilon-1"),
        ({"max_units": "many"}, "max_units"),
        ({"disjoint_units": "1"}, "disjoint"),
    ],
)
def test_a_refusal_stands_beside_its_field_and_keeps_what_was_typed(
    root: Browser, world: World, file: Path, changes: dict[str, str], place: str
) -> None:
    before = leaves(world)
    for path in (f"{PATH}/preview", PATH):
        answer = root.submit(path, **fields(file, **changes), once="2")
        assert answer.status_code == 422, text_of(answer)
        assert f'id="{place}-wrong"' in answer.text, text_of(answer)
        assert 'name="epsilon internal" value="2"' in answer.text
        assert ("checked" in answer.text) == ("disjoint_units" in changes)
    assert leaves(world) == before


def test_under_the_two_person_rule_it_begins_with_no_larger_budget(
    open_copy: Callable[..., World], file: Path
) -> None:
    ruled = open_copy(two_person_rule=True)
    root = Browser(ruled, ruled.client.application.test_client())
    root.sign_in("root")
    assert "cannot exceed the largest that the dataset has" in text_of(root.get(PATH))
    larger = fields(file, **{"epsilon internal": "50"})
    shown = root.submit(f"{PATH}/preview", **larger)
    assert "It would be refused" in text_of(shown)
    refused = root.submit(PATH, **larger, once="3")
    assert refused.status_code == 403
    assert 'value="50"' in refused.text
    assert root.submit(PATH, **fields(file), once="3").status_code == 303


def test_new_data_may_be_in_a_bucket_under_a_connection_of_the_operator(
    open_copy: Callable[..., World], root: Browser
) -> None:
    assert 'name="connection"' not in root.get(PATH).text
    secrets = {"lake": SecretStr('{"store": "s3"}'), "house": SecretStr("postgresql://db/x")}
    world = open_copy(connections=secrets)
    browser = Browser(world, world.client.application.test_client())
    browser.sign_in("root")
    page = browser.get(PATH)
    assert '<option value="lake">lake</option>' in page.text
    assert "house" not in page.text
    for path in (f"{PATH}/preview", PATH):
        moved = {"uri": "visits.parquet", "connection": "lake", "epsilon public": "0.5"}
        answer = browser.submit(path, **moved, once="4")
        assert answer.status_code == 422
        assert 'id="connection-wrong"' in answer.text
        assert 'id="file-wrong"' not in answer.text
        assert '<option value="lake" selected>' in answer.text
        assert "needs no connection" in text_of(answer)
    scheduled = browser.get("/new/schedule?dataset=loans")
    assert '<option value="lake">lake</option>' in scheduled.text
