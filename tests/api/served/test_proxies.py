"""Test the proxies' configurations in ``deploy/``: checked by the proxies, and really proxying.

Servers with and without a path in their public URL; nginx and Caddy before them, on ports of this
machine, with a certificate made for the test.
"""

import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from tests.api.served.serving import PATIENCE, Serving, serve_copy
from tests.api.world import furnish
from tests.contracts.running import free_port
from tests.databases.homes import Home, Homes
from tests.support import ending
from tests.support.places import ROOT

from penstock_client import Client

DEPLOY = ROOT / "deploy"
NAME = "localhost"
LINK = re.compile(r'(?:href|src|action|hx-get|hx-post)="([^"#]*)"')
SENT_TO = re.compile(r'(?:action|hx-post)="([^"#]*)"')


def program(name: str, package: str) -> str:
    """Return the path of a program; skips outside of continuous integration where there is none."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if found is None:
        reason = f"{name} is not installed (apt-get install {package})"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


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


@dataclass(frozen=True)
class Place:
    """Hold what a proxy is given: its site, a folder of its own, two ports, and the certificate.

    The ports are the proxy's own and the server's.
    """

    site: Path
    folder: Path
    port: int
    certificate: Path
    key: Path
    upstream: int

    def insert(self, name: str, *changes: tuple[str, str]) -> Path:
        """Write a file of the site's folder with an operator's ``changes``; return its new path."""
        content = (self.site.parent / name).read_text()
        for before, after in changes:
            assert before in content, (name, before)
            content = content.replace(before, after)
        path = self.folder / name
        path.write_text(content)
        return path


def nginx(place: Place) -> tuple[Sequence[str], Sequence[str]]:
    """Write nginx's configuration; how to check it, and how to run it."""
    (host,) = re.findall("server_name (.*);", place.site.read_text())
    changes = [
        ("listen 443 ssl", f"listen 127.0.0.1:{place.port} ssl"),
        (f"server_name {host}", f"server_name {NAME}"),
        ("/etc/ssl/penstock/certificate.pem", str(place.certificate)),
        ("/etc/ssl/penstock/key.pem", str(place.key)),
        ("/etc/nginx/penstock/", f"{place.folder}/"),
    ]
    site = place.insert(place.site.name, *changes)
    place.insert("upstream.conf", ("server 127.0.0.1:8080", f"server 127.0.0.1:{place.upstream}"))
    place.insert("proxy.conf")
    temporary = "".join(
        f"{name}_temp_path {place.folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;\n" if os.geteuid() == 0 else ""
    (place.folder / "nginx.conf").write_text(
        f"{user}daemon off;\nworker_processes 1;\npid {place.folder}/pid;\n"
        f"error_log {place.folder}/error.log;\nevents {{ }}\n"
        f"http {{\naccess_log off;\n{temporary}include {site};\n}}\n"
    )
    command = [program("nginx", "nginx"), "-e", f"{place.folder}/error.log"]
    command += ["-c", f"{place.folder}/nginx.conf"]
    return [*command, "-t"], command


def caddy(place: Place) -> tuple[Sequence[str], Sequence[str]]:
    """Write Caddy's configuration; how to check it, and how to run it."""
    (address,) = re.findall(r"\{\$SITE_ADDRESS:(.*)\} \{", place.site.read_text())
    path = place.insert(
        place.site.name,
        ("\n{\n", "\n{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n"),
        (
            f"{{$SITE_ADDRESS:{address}}} {{",
            f"https://{NAME}:{place.port} {{\n\ttls {place.certificate} {place.key}",
        ),
    )
    place.insert("options.caddy")
    place.insert("proxy.caddy", ("{$UPSTREAM:127.0.0.1:8080}", f"127.0.0.1:{place.upstream}"))
    named = ["--config", str(path), "--adapter", "caddyfile"]
    command = program("caddy", "caddy")
    return [command, "validate", *named], [command, "run", *named]


KINDS = {
    "nginx/penstock.conf": (nginx, ""),
    "nginx/below-a-path.conf": (nginx, "/penstock"),
    "caddy/Caddyfile": (caddy, "/under/penstock"),
    "caddy/below-a-path.caddy": (caddy, "/penstock"),
}
"""Each site with the program that reads it, and the path in the public URL."""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a certificate for this machine, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    folder = tmp_path_factory.mktemp("certificate")
    paths = folder / "certificate.pem", folder / "key.pem"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return paths


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


@contextmanager
def running(
    command: Sequence[str], environment: dict[str, str], port: int, log: Path
) -> Iterator[None]:
    """Run a proxy until the block ends; it listens when the block begins."""
    with log.open("wb") as said:
        process = subprocess.Popen(
            command,
            env=environment,
            stdout=said,
            stderr=said,
            preexec_fn=ending.with_the_parent(signal.SIGTERM),
        )
    try:
        while True:
            assert process.poll() is None, log.read_text()
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait()


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
        waiting = [f"{prefix}/", f"{prefix}/users", f"{prefix}/docs"]
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


def test_a_form_from_elsewhere_is_refused_below_a_path_too(front: Front) -> None:
    with front.client() as browser:
        answer = browser.post(
            f"{front.url}/sign-in", data={"token": "x"}, headers={"Origin": "https://elsewhere"}
        )
    assert answer.status_code == 403
