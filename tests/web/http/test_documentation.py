"""Test how the documentation's site is served: below any path, cached, and where it is missing."""

from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.api.world import World

from penstock.web.http import documentation
from penstock.web.http.blueprint import HEADERS
from penstock.web.http.documentation import Documentation


@pytest.fixture
def client(tmp_path: Path) -> FlaskClient:
    """Return a client of a small site."""
    (tmp_path / "guides").mkdir()
    (tmp_path / "index.html").write_text("<h1>Start</h1>")
    (tmp_path / "guides/index.html").write_text("<h1>Guides</h1>")
    (tmp_path / "docs.css").write_text("p {}")
    (tmp_path / "worker.js").write_text("0")
    (tmp_path / "notes.txt").write_text("not served")
    site, app = Documentation(tmp_path), Flask(__name__)
    app.add_url_rule("/docs", "root", site.root)
    app.add_url_rule("/docs/", "first", site.answer)
    app.add_url_rule("/docs/<path:name>", "page", site.answer)
    return app.test_client()


@pytest.mark.parametrize(
    ("path", "kind", "text"),
    [
        ("/docs/", "text/html", "<h1>Start</h1>"),
        ("/docs/guides/", "text/html", "<h1>Guides</h1>"),
        ("/docs/docs.css", "text/css", "p {}"),
    ],
)
def test_pages_and_files_are_served(client: FlaskClient, path: str, kind: str, text: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.mimetype, answer.text) == (200, kind, text)
    again = client.get(path, headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    assert answer.cache_control.no_cache


def test_the_worker_of_the_search_may_read_its_index(client: FlaskClient) -> None:
    """A worker has the policy of its own answer; the server's default would let it load nothing."""
    policy = client.get("/docs/worker.js").headers["Content-Security-Policy"]
    assert policy == "default-src 'none'; script-src 'self'; connect-src 'self'"
    assert "Content-Security-Policy" not in client.get("/docs/docs.css").headers


@pytest.mark.parametrize("path", ["/docs", "/docs/guides"])
def test_a_page_without_its_slash_is_redirected_also_below_a_path(
    client: FlaskClient, path: str
) -> None:
    answer = client.get(path)
    assert answer.status_code == 308
    # A relative address: whatever path a proxy puts in front of it stays.
    assert answer.headers["Location"] == path.rpartition("/")[2] + "/"


@pytest.mark.parametrize(
    "path", ["/docs/nothing", "/docs/notes.txt", "/docs/../docs/notes.txt", "/docs/%2e%2e/x.html"]
)
def test_nothing_else_is_served(client: FlaskClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_the_server_says_how_to_build_it_where_it_is_missing(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(documentation, "FOLDER", tmp_path / "none")
    answer = world.client.get("/docs/")
    assert answer.status_code == 200
    assert "make docs" in answer.text
    assert world.client.get("/docs/reference/").status_code == 404
    for name, value in HEADERS.items():
        assert answer.headers[name] == value


def test_the_server_redirects_to_its_documentation(world: World) -> None:
    answer = world.client.get("/docs")
    assert (answer.status_code, answer.headers["Location"]) == (308, "docs/")
