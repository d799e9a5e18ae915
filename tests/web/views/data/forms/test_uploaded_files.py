"""Test files that an admin uploads on the page of a new dataset, and what is refused."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.api.world import World
from tests.web.staff import CANARY, DATASET, STAFF
from tests.web.world import HOST, ORIGIN, Browser, text_of
from werkzeug.test import TestResponse

PATH = "/new/dataset/file"


def upload(
    browser: Browser,
    name: str = "staff.csv",
    content: bytes = STAFF.encode(),
    *,
    key: str | None = None,
    origin: str | None = ORIGIN,
    other_name: str = "",
) -> TestResponse:
    """Send a file as the page's form does."""
    key = browser.form_key() if key is None else key
    fields = {"form_key": key, "as": other_name, "file": (io.BytesIO(content), name)}
    headers = {"Accept": "text/html"} | ({"Origin": origin} if origin is not None else {})
    return browser.client.post(PATH, base_url=HOST, headers=headers, data=fields)


def stored(world: World) -> list[str]:
    place = world.server.settings.home / "data"
    return sorted(path.name for path in place.iterdir()) if place.exists() else []


def logged(world: World) -> list[dict[str, Any]]:
    answer = world.answer("GET", "/api/v1/audit/events?kind=upload", by="olga")
    listed: list[dict[str, Any]] = answer["items"]
    return listed


@pytest.fixture
def bounded(open_copy: Callable[..., World]) -> Browser:
    """Return an admin of a server that takes uploads of 100,000 bytes."""
    world = open_copy(upload_limit=100_000)
    browser = Browser(world, world.client.application.test_client())
    assert browser.sign_in("root").status_code == 303
    return browser


def test_a_dataset_is_registered_from_an_uploaded_file(root: Browser, world: World) -> None:
    form = root.get("/new/dataset")
    assert 'enctype="multipart/form-data"' in form.text
    sent = upload(root)
    assert sent.status_code == 303, text_of(sent)
    page = root.get(sent.location)
    assert "The file is in the data folder. Nothing is registered yet." in text_of(page)
    for column in ("person", "team", "hours"):
        assert f"<bdi>{column}</bdi>" in page.text
    assert CANARY not in page.text
    place = (world.server.settings.home / "data/staff.csv").resolve()
    made = root.submit("/new/dataset", **DATASET, uri=str(place), once="u" * 32)
    assert made.status_code == 303, text_of(made)
    assert world.answer("GET", "/api/v1/datasets/staff", by="root")["name"] == "staff"
    (event,) = logged(world)
    assert (event["actor"], event["file"]) == ("root", "staff.csv")
    assert CANARY not in str(event)


def test_a_file_is_stored_under_another_name_if_one_is_given(root: Browser, world: World) -> None:
    assert upload(root, "Staff of März.csv", other_name=" staff.csv ").status_code == 303
    assert stored(world) == ["staff.csv"]


@pytest.mark.parametrize("name", ["../staff.csv", "/etc/staff.csv", "a;.csv", "st\u202eaff.csv"])
def test_a_hostile_name_is_refused_beside_its_field(root: Browser, world: World, name: str) -> None:
    for sent in (upload(root, name), upload(root, other_name=name)):
        assert sent.status_code == 422
        assert "must begin with a letter or digit" in text_of(sent)
        assert CANARY not in sent.text
    assert stored(world) == []


def test_a_form_without_a_file_is_refused(root: Browser, world: World) -> None:
    for sent in (upload(root, "", b""), root.submit(PATH)):
        assert sent.status_code == 422
        assert "Choose a file." in text_of(sent)
    assert (stored(world), logged(world)) == ([], [])


def test_a_file_of_the_same_name_is_refused_and_the_first_one_kept(
    root: Browser, world: World
) -> None:
    assert upload(root).status_code == 303
    second = upload(root, content=b"person\n1\n")
    assert second.status_code == 409
    assert "no upload replaces one" in text_of(second)
    assert (world.server.settings.home / "data/staff.csv").read_text() == STAFF
    assert len(logged(world)) == 1


@pytest.mark.parametrize("name", ["noa", "ann", "ian", "olga"])
def test_nobody_but_admins_uploads(browse: Callable[..., Browser], world: World, name: str) -> None:
    assert upload(browse(name)).status_code == 403
    assert stored(world) == []


def test_a_form_of_another_session_or_site_is_refused_before_its_file(
    root: Browser, world: World
) -> None:
    content = b"x" * 300_000
    for key in ("", "0" * 64):
        assert upload(root, content=content, key=key).status_code == 403
    for origin in ("https://evil.example", None):
        assert upload(root, content=content, origin=origin).status_code == 403
    root.client.delete_cookie("__Host-penstock", domain="127.0.0.1")
    assert upload(root, key="0" * 64).status_code == 401
    assert (stored(world), logged(world)) == ([], [])


def test_the_key_must_come_before_the_file(root: Browser, world: World) -> None:
    file = 'Content-Disposition: form-data; name="file"; filename="staff.csv"'
    key = 'Content-Disposition: form-data; name="form_key"'
    parts = (f"{file}\r\n\r\n{STAFF}", f"{key}\r\n\r\n{root.form_key()}")
    body = "".join(f"--edge\r\n{part}\r\n" for part in parts) + "--edge--\r\n"
    headers = {"Accept": "text/html", "Origin": ORIGIN}
    kind = "multipart/form-data; boundary=edge"
    sent = root.client.post(PATH, base_url=HOST, headers=headers, data=body, content_type=kind)
    assert (sent.status_code, stored(world)) == (403, [])


def test_an_upload_above_the_limit_is_refused_with_the_limit(bounded: Browser) -> None:
    sent = upload(bounded, content=STAFF.encode() + b"1,red,2\n" * 20_000)
    assert sent.status_code == 413
    assert "100,000 bytes" in text_of(sent)
    assert stored(bounded.world) == []
    assert upload(bounded, content=STAFF.encode() + b"1,red,2\n" * 9_000).status_code == 303


def test_an_upload_without_a_length_is_refused_where_it_passes_the_limit(
    bounded: Browser,
) -> None:
    content = io.BytesIO(STAFF.encode() + b"1,red,2\n" * 20_000)
    given = {"form_key": bounded.form_key(), "file": (content, "staff.csv")}
    headers = {"Accept": "text/html", "Origin": ORIGIN, "Transfer-Encoding": "chunked"}
    environ = {"wsgi.input_terminated": True, "CONTENT_LENGTH": ""}
    sent = bounded.client.post(
        PATH, base_url=HOST, headers=headers, data=given, environ_overrides=environ
    )
    assert sent.status_code == 413
    assert stored(bounded.world) == []


def test_other_forms_stay_as_small_as_they_were(root: Browser) -> None:
    assert root.submit("/new/dataset", name="x" * 70_000).status_code == 413


def test_no_form_is_shown_where_uploads_are_switched_off(open_copy: Callable[..., World]) -> None:
    world = open_copy(upload_limit=0)
    browser = Browser(world, world.client.application.test_client())
    assert browser.sign_in("root").status_code == 303
    assert "multipart" not in browser.get("/new/dataset").text
    sent = upload(browser)
    assert sent.status_code == 409
    assert "switched off" in text_of(sent)


def test_a_full_disk_is_said_and_leaves_nothing(open_copy: Callable[..., World]) -> None:
    world = open_copy()
    browser = Browser(world, world.client.application.test_client())
    assert browser.sign_in("root").status_code == 303
    settings = world.server.settings
    object.__setattr__(settings, "room_reserve", 2**50)
    sent = upload(browser)
    object.__setattr__(settings, "room_reserve", 0)
    assert sent.status_code == 503
    assert stored(world) == []


def test_a_file_in_a_set_folder_is_stored_there(
    open_copy: Callable[..., World], tmp_path: Path
) -> None:
    place = tmp_path / "lake"
    place.mkdir()
    world = open_copy(data_folder=place)
    browser = Browser(world, world.client.application.test_client())
    assert browser.sign_in("root").status_code == 303
    sent = upload(browser)
    assert sent.status_code == 303
    assert (place / "staff.csv").read_text() == STAFF
    assert browser.get(sent.location).status_code == 200
