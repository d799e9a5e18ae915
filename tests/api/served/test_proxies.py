"""Test the proxies' configurations in ``deploy/``: checked by the proxies, and really proxying.

Servers with and without a path in their public URL; nginx and Caddy before them, on ports of this
machine, with a certificate made for the test.
"""

import html
import os
import re
import ssl
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from tests.api.served.proxies import DEPLOY, KINDS, NAME, Place, make_certificate, running
from tests.api.served.serving import PATIENCE, Serving, serve_copy
from tests.api.world import furnish
from tests.contracts.running import free_port
from tests.databases.homes import Home, Homes

from penstock_client import Client

LINK = re.compile(r'(?:href|src|action|hx-get|hx-post)="([^"#]*)"')
ONE_COMMAND = re.compile(r"<code>pip install ([^<]*)</code>")
KEY = re.compile(r'name="form_key" value="([^"]*)"')
SENT_TO = re.compile(r'(?:action|hx-post)="([^"#]*)"')

LARGE = 6 << 20
"""The bytes of a file that is larger than every form, and than nginx keeps in memory."""

BOUND = 256 << 20
"""The largest upload where nothing else is set."""

PIECE = 1 << 20
FORM = "multipart/form-data; boundary=edge"


@dataclass(frozen=True)
class Front:
    """Hold a proxy: its server's address, the path in it, its certificate, and the server."""

    url: str
    prefix: str
    certificate: Path
    server: Serving

    def client(self) -> httpx.Client:
        """Return a browser that believes the certificate, and follows no redirect by itself."""
        return httpx.Client(
            verify=ssl.create_default_context(cafile=str(self.certificate)), timeout=PATIENCE
        )


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a certificate for this machine, and its key."""
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Return a home to be copied."""
    made = Homes(None).empty(tmp_path_factory.mktemp("proxied") / "home")
    furnish(made)
    return made


@pytest.fixture(scope="module", params=KINDS)
def front(
    request: pytest.FixtureRequest,
    model: Home,
    certificate: tuple[Path, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Front]:
    """Yield each of the proxies before a server of its own."""
    configure, prefix = KINDS[request.param]
    site = DEPLOY / request.param
    folder = tmp_path_factory.mktemp(site.stem)
    port = free_port()
    url = f"https://{NAME}:{port}{prefix}"
    server = serve_copy(
        Homes(None), model, folder / "home", user="root", workers=1, PENSTOCK_PUBLIC_URL=url
    )
    check, command = configure(Place(site, folder, port, *certificate, server.port))
    environment = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    try:
        subprocess.run(check, check=True, capture_output=True, env=environment)
        with running(command, environment, port, folder / "log"):
            yield Front(url, prefix, certificate[0], server)
    finally:
        assert server.process is not None
        server.process.kill()
        server.process.wait()


def test_programs_reach_the_server_below_its_path(front: Front) -> None:
    with front.client() as browser:
        assert browser.get(f"{front.url}/healthz").json() == {"status": "up"}
        assert browser.get(f"{front.url}/readyz").json() == {"status": "ready"}
        document = browser.get(f"{front.url}/openapi.json").json()
        assert document["servers"] == [{"url": front.prefix or "/"}]
        headers = {"Authorization": f"Bearer {front.server.token}"}
        answer = browser.get(f"{front.url}/api/v1/me", headers=headers)
        assert answer.json()["name"] == "root"
        assert "max-age" in answer.headers["Strict-Transport-Security"]
        assert browser.get(f"{front.url}/metrics").status_code == 404
        wide = {"name": "x" * 2_000_000}
        refused = browser.post(f"{front.url}/api/v1/tiers", json=wide, headers=headers)
        assert refused.status_code == 413
        # What may be larger gets as far as the server.
        query = browser.post(f"{front.url}/api/v1/queries", json=wide, headers=headers)
        assert query.status_code == 422
    assert front.server.ask("GET", "/healthz") == (200, {"status": "up"})


def test_the_rest_of_a_host_is_not_penstocks(front: Front) -> None:
    with front.client() as browser:
        outside = browser.get(f"{front.url.removesuffix(front.prefix)}/healthz")
        bare = browser.get(front.url)
    is_shared = front.prefix == "/penstock"
    assert outside.status_code == (404 if is_shared else 200)
    assert bare.status_code == (308 if is_shared else 200)


def test_the_python_client_reaches_it(front: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(front.certificate))
    with Client(front.url, front.server.token) as client:
        assert [one.name for one in client.datasets()] == ["sites"]


def test_pip_installs_the_client_as_the_first_page_says(front: Front, tmp_path: Path) -> None:
    """Without its dependencies, which only an index has."""
    with front.client() as browser:
        page = browser.get(f"{front.url}/").text
    words = html.unescape(ONE_COMMAND.findall(page)[0]).split()
    assert words[0].startswith(f"{front.url}/clients/"), "the wheel was not built: run `make wheel`"
    pip = (sys.executable, "-I", "-m", "pip", "--isolated", "--disable-pip-version-check")
    alone = ("--no-deps", "--no-index", "--no-cache-dir")
    environment = {"PATH": os.defpath, "SSL_CERT_FILE": str(front.certificate)}
    for act, place in (("download", "--dest"), ("install", "--target")):
        command = [*pip, act, *alone, place, str(tmp_path / act), *words]
        subprocess.run(command, check=True, env=environment)
    (wheel,) = (tmp_path / "download").iterdir()
    assert wheel.name == words[0].rpartition("/")[2]
    assert (tmp_path / "install/penstock_client/client.py").is_file()
    listed = [*pip, "download", *alone, "--find-links", f"{front.url}/clients/"]
    listed += ["--dest", str(tmp_path / "listed"), "penstock-client"]
    subprocess.run(listed, check=True, env=environment)
    assert [path.name for path in (tmp_path / "listed").iterdir()] == [wheel.name]


def test_people_go_from_page_to_page_below_its_path(front: Front) -> None:
    prefix = front.prefix
    origin = front.url.removesuffix(prefix)
    seen: dict[str, int] = {}
    with front.client() as browser:
        form = {"token": front.server.token, "next": f"{prefix}/users"}
        answer = browser.post(f"{front.url}/sign-in", data=form, headers={"Origin": origin})
        assert answer.status_code == 303, answer.text
        assert answer.headers["Set-Cookie"].startswith("__Host-")
        assert "Path=/;" in f"{answer.headers['Set-Cookie']};"
        browser.cookies.set("__Host-penstock", browser.cookies["__Host-penstock"], NAME)
        onward = browser.get(f"{origin}{answer.headers['Location']}")
        assert onward.headers["Location"] == f"{prefix}/users"
        waiting = [f"{prefix}/", f"{prefix}/users", f"{prefix}/docs/"]
        while waiting:
            path = waiting.pop()
            answer = browser.get(f"{origin}{path}")
            seen[path] = answer.status_code
            if "text/html" not in answer.headers.get("Content-Type", ""):
                continue
            links = {link.replace("&amp;", "&") for link in LINK.findall(answer.text)}
            astray = {one for one in links if one.startswith("/") and not one.startswith(prefix)}
            assert not astray, f"{path} leads to {astray}"
            forms = set(SENT_TO.findall(answer.text))
            waiting += [
                one
                for one in sorted(links - forms)
                if one.startswith("/") and one not in seen and one not in waiting
            ]
    broken = {path: status for path, status in seen.items() if status >= 400}
    assert not broken
    assert len(seen) > 20
    assert {f"{prefix}/tiers", f"{prefix}/datasets/sites"} <= set(seen)


def test_an_admin_uploads_a_file_larger_than_a_form_and_is_told_of_the_bound(front: Front) -> None:
    origin = front.url.removesuffix(front.prefix)
    table = b"person,hours\n" + b"1,2\n" * (LARGE // 4)
    with front.client() as browser:
        form = {"token": front.server.token, "next": f"{front.prefix}/home"}
        headers = {"Origin": origin}
        answer = browser.post(f"{front.url}/sign-in", data=form, headers=headers)
        browser.cookies.set("__Host-penstock", browser.cookies["__Host-penstock"], NAME)
        key = KEY.search(browser.get(f"{front.url}/new/dataset").text)
        assert key is not None
        place, fields = f"{front.url}/new/dataset/file", {"form_key": key.group(1)}

        def sent(name: str, content: bytes) -> httpx.Response:
            files = {"file": (name, content)}
            return browser.post(place, data=fields, files=files, headers=headers)

        answer = sent("hours.csv", table)
        assert answer.status_code == 303, answer.text
        page = browser.get(f"{origin}{answer.headers['Location']}")
        assert "The file is in the data folder." in page.text
        assert (front.server.home / "data/hours.csv").read_bytes() == table
        # A browser sends on until it is told; what it is told has to arrive all the same.
        declared = {**headers, "Content-Length": str(BOUND + PIECE), "Content-Type": FORM}
        pieces = (b"x" * PIECE for _ in range(BOUND // PIECE + 1))
        refused = browser.post(place, content=pieces, headers=declared)
        assert refused.status_code == 413
        assert re.search("268,435,456 bytes|256 MiB", refused.text), refused.text
    assert [path.name for path in (front.server.home / "data").iterdir()] == ["hours.csv"]


def test_a_form_from_elsewhere_is_refused_below_a_path_too(front: Front) -> None:
    with front.client() as browser:
        answer = browser.post(
            f"{front.url}/sign-in", data={"token": "x"}, headers={"Origin": "https://elsewhere"}
        )
    assert answer.status_code == 403
