"""Test how the client's wheel is served: below any path, with its hash, and where it is missing."""

import hashlib
from pathlib import Path

import pytest
from tests.api.world import World

from penstock.web.http import client_wheel

NAME = "penstock_client-1.2.3-py3-none-any.whl"
CONTENT = b"PK content"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "wheels"
    made.mkdir()
    monkeypatch.setattr(client_wheel, "FOLDER", made)
    return made


def test_the_wheel_is_served_to_everybody_with_its_hash(folder: Path, world: World) -> None:
    (folder / NAME).write_bytes(CONTENT)
    digest = hashlib.sha256(CONTENT).hexdigest()
    page = world.client.get("/clients/", headers={"X-Forwarded-Prefix": "/below"})
    assert page.status_code == 200
    assert f'<a href="{NAME}#sha256={digest}">{NAME}</a>' in page.text
    answer = world.client.get(f"/clients/{NAME}")
    assert (answer.status_code, answer.data) == (200, CONTENT)
    assert answer.mimetype == "application/octet-stream"
    again = world.client.get(f"/clients/{NAME}", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    assert f"/clients/{NAME}</code>" in world.client.get("/").text


@pytest.mark.parametrize("name", ["penstock_client-0.0.1-py3-none-any.whl", "..%2Fnotes.txt", "x"])
def test_nothing_else_is_served(folder: Path, world: World, name: str) -> None:
    (folder / NAME).write_bytes(CONTENT)
    (folder / "notes.txt").write_text("not served")
    assert world.client.get(f"/clients/{name}").status_code == 404


def test_a_checkout_without_it_says_how_to_build_it(folder: Path, world: World) -> None:
    assert list(folder.iterdir()) == []
    assert "make wheel" in world.client.get("/clients/").text
    assert world.client.get(f"/clients/{NAME}").status_code == 404
    assert "pip install ./clients/python</code>" in world.client.get("/").text
