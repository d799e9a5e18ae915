"""Test ``deploy/caddy/pod.caddy`` in Caddy: probes that name no server, readers, and monitoring."""

import os
import signal
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from tests.contracts.deployments.deployment_files import DEPLOY, program
from tests.contracts.running import free_port
from tests.support import ending


class Echo(BaseHTTPRequestHandler):
    """Answer with the path of the request, as a server behind the proxy."""

    def do_GET(self) -> None:
        """Answer a request."""
        body = self.path.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's name
        """Print nothing."""


def write_certificate(folder: Path) -> None:
    """Write a certificate for a name, as a Secret of Kubernetes is mounted."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "penstock.example.org")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name)
    builder = builder.public_key(key.public_key()).serial_number(x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(days=1))
    builder = builder.not_valid_after(now + timedelta(days=1))
    names = x509.SubjectAlternativeName([x509.DNSName("penstock.example.org")])
    certificate = builder.add_extension(names, critical=False).sign(key, hashes.SHA256())
    (folder / "tls.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "tls.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, int]]:
    """Yield the ports for readers and for monitoring, of Caddy before a server that echoes."""
    folder = tmp_path_factory.mktemp("pod")
    write_certificate(folder)
    echo = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=echo.serve_forever, daemon=True).start()
    readers, monitoring = free_port(), free_port()
    for name in ("pod.caddy", "options.caddy", "proxy.caddy"):
        text = (DEPLOY / "caddy" / name).read_text()
        text = text.replace("\n:8443 {", f"\n:{readers} {{")
        (folder / name).write_text(text.replace("\n:9443 {", f"\n:{monitoring} {{"))
    command = [program("caddy", "apt-get install caddy"), "run", "--adapter", "caddyfile"]
    environment = {
        "PATH": os.environ["PATH"],
        "XDG_DATA_HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
        "CERTIFICATES": str(folder),
        "UPSTREAM": f"127.0.0.1:{echo.server_port}",
    }
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--config", str(folder / "pod.caddy")],
            env=environment,
            stderr=log,
            preexec_fn=ending.with_the_parent(signal.SIGTERM),
        )
    try:
        while True:
            assert process.poll() is None, (folder / "log").read_text()
            try:
                socket.create_connection(("127.0.0.1", monitoring)).close()
                break
            except OSError:
                time.sleep(0.05)
        yield readers, monitoring
    finally:
        process.terminate()
        process.wait()
        echo.shutdown()
        echo.server_close()


def ask(port: int, path: str) -> tuple[int, str]:
    """Send a request as the kubelet does: to an address, without a name or trust."""
    answer = httpx.get(f"https://127.0.0.1:{port}{path}", verify=False)  # noqa: S501
    return answer.status_code, answer.text


def test_probes_and_readers_get_through_and_metrics_do_not(ports: tuple[int, int]) -> None:
    readers, _ = ports
    for path in ("/healthz", "/readyz", "/", "/api/v1/me"):
        assert ask(readers, path) == (200, path)
    assert ask(readers, "/metrics") == (404, "")


def test_monitoring_reads_metrics_and_nothing_else(ports: tuple[int, int]) -> None:
    _, monitoring = ports
    assert ask(monitoring, "/metrics") == (200, "/metrics")
    assert ask(monitoring, "/api/v1/me") == (404, "")


def test_it_speaks_tls_alone(ports: tuple[int, int]) -> None:
    with pytest.raises(ssl.SSLError), socket.create_connection(("127.0.0.1", ports[0])) as plain:
        ssl.create_default_context().wrap_socket(plain, server_hostname="elsewhere")
    assert httpx.get(f"http://127.0.0.1:{ports[0]}/healthz").status_code == 400
