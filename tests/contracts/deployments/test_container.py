"""Test the container's command where no container can be: read-only, unprivileged, from the wheel.

A mount namespace has what a container of ``deploy/Dockerfile`` has: the program below
/opt/penstock, a system that cannot be written, the three folders of the home, and the folder of
data.  Account, environment, folder, command and health check are the Dockerfile's own.
"""

import re
import signal
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from tests.contracts.deployments.namespace import IMAGE, Namespace, namespace
from tests.contracts.distributions import Installation
from tests.contracts.running import free_port, running

pytestmark = pytest.mark.slow


def test_a_container_makes_its_home_serves_its_first_page_and_is_well(
    installed: Installation, tmp_path: Path
) -> None:
    inside, port = namespace(installed, tmp_path), free_port()
    assert inside.done(port, *IMAGE.health).returncode != 0
    made = inside.done(port, IMAGE.command[0], "init")
    assert made.returncode == 0, made.stderr
    # A name that no file of this machine has: of one that exists, only its owner would be refused.
    name = uuid4().hex
    folders = ("/opt/penstock", "/var/lib", "/srv", "", "/tmp")  # noqa: S108
    refused = inside.done(port, "touch", *(f"{folder}/{name}" for folder in folders))
    assert refused.stderr.count("Read-only file system") == 5
    command = inside.command(port, *IMAGE.command)
    (tmp_path / "server").mkdir()
    with running(command, tmp_path / "server", inside.environment, port) as server:
        page = httpx.get(f"{server.url}/", timeout=600)
        assert page.status_code == 200
        assert "<h1" in page.text
        uploaded(inside, port)
        well = inside.done(port, *IMAGE.health)
        assert well.returncode == 0, well.stderr
        assert server.end(signal.SIGTERM) == 0
    assert inside.done(port, *IMAGE.health).returncode != 0
    uid = int(IMAGE.account.split(":")[0])
    stored = [*inside.state.rglob("*"), *inside.data.iterdir()]
    assert {path.stat().st_uid for path in stored} == {uid}
    assert "Traceback" not in server.log.read_text()


def uploaded(inside: Namespace, port: int) -> None:
    """Upload a file as an admin, and require that it is in the folder of data."""
    penstock = IMAGE.command[0]
    made = inside.done(port, penstock, "user", "create", "ada", "--role", "admin")
    assert made.returncode == 0, made.stderr
    token = inside.done(port, penstock, "token", "create", "ada").stdout.strip()
    url = f"http://127.0.0.1:{port}"
    with httpx.Client(base_url=url, headers={"Origin": url}, timeout=600) as browser:
        answer = browser.post("/sign-in", data={"token": token})
        # httpx sends such a cookie over https alone; browsers also to this machine.
        browser.headers["Cookie"] = answer.headers["Set-Cookie"].partition(";")[0]
        key = re.search('name="form_key" value="([0-9a-f]+)"', browser.get("/new/dataset").text)
        assert key is not None
        sent = browser.post(
            "/new/dataset/file",
            data={"form_key": key.group(1)},
            files={"file": ("hours.csv", b"person,hours\n1,2\n")},
        )
        assert sent.status_code == 303, sent.text
    assert (inside.data / "hours.csv").read_bytes() == b"person,hours\n1,2\n"
