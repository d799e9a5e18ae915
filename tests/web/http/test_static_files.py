"""Test static files: addressed by content, cached for long, and no other files served."""

import gzip

import pytest
from flask import Flask
from werkzeug.exceptions import NotFound

from penstock.web.http.static_files import FOLDER, SECONDS, SERVED, Assets


@pytest.fixture(scope="module")
def assets() -> Assets:
    return Assets()


@pytest.fixture
def application() -> Flask:
    return Flask(__name__)


def names() -> list[str]:
    files = (path for path in FOLDER.rglob("*") if path.suffix in SERVED)
    return sorted(path.relative_to(FOLDER).as_posix() for path in files)


def test_an_address_is_another_for_other_content(assets: Assets, application: Flask) -> None:
    with application.test_request_context("/"):
        addresses = [assets.address(name) for name in names()]
    assert len(set(addresses)) == len(names()) > 0
    for name, address in zip(names(), addresses, strict=True):
        path, tag = address.split("?v=")
        assert path == f"/static/{name}"
        assert len(tag) == 16


def test_below_another_root_addresses_begin_with_it(assets: Assets, application: Flask) -> None:
    with application.test_request_context("/", environ_overrides={"SCRIPT_NAME": "/penstock"}):
        assert assets.address(names()[0]).startswith("/penstock/static/")


@pytest.mark.parametrize("coding", ["gzip", "identity", "gzip;q=0"])
def test_a_file_is_the_same_in_every_coding(
    assets: Assets, application: Flask, coding: str
) -> None:
    name = names()[0]
    with application.test_request_context("/", headers={"Accept-Encoding": coding}):
        response = assets.answer(name)
    compressed = response.content_encoding == "gzip"
    assert compressed == (coding == "gzip")
    content = gzip.decompress(response.data) if compressed else response.data
    assert content == (FOLDER / name).read_bytes()
    assert response.cache_control.max_age == SECONDS
    assert "Accept-Encoding" in response.vary


def test_whoever_has_it_is_told_so(assets: Assets, application: Flask) -> None:
    with application.test_request_context("/"):
        tag = assets.answer(names()[0]).headers["ETag"]
    with application.test_request_context("/", headers={"If-None-Match": tag}):
        assert assets.answer(names()[0]).status_code == 304


@pytest.mark.parametrize("name", ["nothing.css", "../http/static_files.py", "vendor/manifest.json"])
def test_no_other_file_is_served(assets: Assets, application: Flask, name: str) -> None:
    with application.test_request_context("/"), pytest.raises(NotFound):
        assets.answer(name)
