"""Run the proxies of ``deploy/`` on ports of this machine, with a certificate made for it."""

import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from tests.support import ending
from tests.support.places import ROOT

DEPLOY = ROOT / "deploy"
NAME = "localhost"


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


Configure = Callable[[Place], tuple[Sequence[str], Sequence[str]]]

KINDS: dict[str, tuple[Configure, str]] = {
    "nginx/penstock.conf": (nginx, ""),
    "nginx/below-a-path.conf": (nginx, "/penstock"),
    "caddy/Caddyfile": (caddy, "/under/penstock"),
    "caddy/below-a-path.caddy": (caddy, "/penstock"),
}
"""Each site with the program that reads it, and the path in the public URL."""


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """Write a certificate for this machine, and its key; return their paths."""
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
