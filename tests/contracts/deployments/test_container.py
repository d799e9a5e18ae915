"""Test the container's command where no container can be: read-only, unprivileged, from the wheel.

A mount namespace has what a container of ``deploy/Dockerfile`` has: the program below
/opt/penstock, a system that cannot be written, and the three folders of the home.  Account,
environment, folder, command and health check are the Dockerfile's own.
"""

import os
import re
import signal
import subprocess
from pathlib import Path

import httpx
import pytest
from tests.contracts.deployments.deployment_files import program
from tests.contracts.deployments.dockerfile import container
from tests.contracts.distributions import Installation
from tests.contracts.running import Running, free_port, running

pytestmark = pytest.mark.slow

IMAGE = container()

ENTER = """
set -eu
mount -t tmpfs none /opt
mkdir /opt/penstock
mount --bind "$INSTALLED" /opt/penstock
mount --bind "$PROGRAM" /opt/penstock/bin/penstock
mount -t tmpfs none /var/lib
mkdir /var/lib/penstock
mount --bind "$FOLDER" /var/lib/penstock
mount -o remount,bind,ro /opt/penstock
mount -o remount,ro /opt
mount -o remount,ro /var/lib
mount -o remount,bind,ro /
cd "$WORKDIR"
exec setpriv --reuid "$UID_" --regid "$GID_" --clear-groups --no-new-privs --bounding-set=-all \
  env --ignore-environment "$@"
"""
"""The last mount makes the root read-only, with /tmp; what is mounted elsewhere stays as it is."""


@pytest.fixture(scope="module")
def enter(
    installed: Installation, tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[str], dict[str, str], Path]:
    """Return the words that enter the namespace, their environment, and the home's folder."""
    words = [program("unshare", "apt-get install util-linux"), "--mount", "--propagation=private"]
    if os.geteuid() != 0 or subprocess.run([*words, "true"], check=False).returncode != 0:
        pytest.skip("only root can make a mount namespace, and not on every machine")
    folder = tmp_path_factory.mktemp("container")
    script = folder / "penstock"
    original = (installed.programs / "penstock").read_text()
    script.write_text(re.sub("^#!.*", "#!/opt/penstock/bin/python", original))
    script.chmod(0o755)
    state = folder / "state"
    uid, gid = IMAGE.account.split(":")
    for path in (state, *(state / name for name in ("home", "keys", "witness"))):
        path.mkdir(mode=0o700)
        os.chown(path, int(uid), int(gid))
    # The image has the bytecode; another account could not write it below.
    installed.run("python", "-c", "import penstock.application", folder=folder)
    environment = {
        "INSTALLED": str(installed.folder),
        "PROGRAM": str(script),
        "FOLDER": str(state),
        "WORKDIR": IMAGE.folder,
        "UID_": uid,
        "GID_": gid,
        "PATH": os.environ["PATH"],
    }
    return [*words, "bash", "-c", ENTER, "enter"], environment, state


def variables(port: int, **others: str) -> list[str]:
    """Return the image's environment as words, with the port of this test's own."""
    chosen = {**IMAGE.environment, "PENSTOCK_PORT": str(port), "LANG": "C.UTF-8", **others}
    return [f"{name}={value}" for name, value in chosen.items()]


def test_a_container_makes_its_home_serves_its_first_page_and_is_well(
    enter: tuple[list[str], dict[str, str], Path], tmp_path: Path
) -> None:
    words, environment, state = enter
    port = free_port()
    inside = [*words, *variables(port, PENSTOCK_LOG_PATIENCE="120")]

    def done(*command: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*inside, *command], env=environment, capture_output=True, text=True, check=False
        )

    assert done(*IMAGE.health).returncode != 0
    made = done(IMAGE.command[0], "init")
    assert made.returncode == 0, made.stderr
    refused = done("touch", "/opt/penstock/x", "/var/lib/x", "/x", "/tmp/x")  # noqa: S108
    assert refused.stderr.count("Read-only file system") == 4
    command = [*inside, *IMAGE.command]
    with running(command, tmp_path, environment, port, patience=600) as server:
        page = httpx.get(f"{server.url}/", timeout=600)
        assert page.status_code == 200
        assert "<h1" in page.text
        well = done(*IMAGE.health)
        assert well.returncode == 0, well.stderr
        assert server.end(signal.SIGTERM) == 0
    assert done(*IMAGE.health).returncode != 0
    uid = int(IMAGE.account.split(":")[0])
    assert {path.stat().st_uid for path in state.rglob("*")} == {uid}
    assert isinstance(server, Running)
    assert "Traceback" not in server.log.read_text()
