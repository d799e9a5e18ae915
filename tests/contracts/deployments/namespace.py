"""Enter a mount namespace that has what a container of ``deploy/Dockerfile`` has."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.contracts.deployments.compose.composed import CONTENT
from tests.contracts.deployments.deployment_files import program
from tests.contracts.deployments.dockerfile import container
from tests.contracts.distributions import Installation

IMAGE = container()
DATA: str = CONTENT["x-settings"]["PENSTOCK_DATA_FOLDER"]
"""Where ``deploy/compose.yaml`` has the volume of files of data."""

ENTER = """
set -eu
mount -t tmpfs none /opt
mkdir /opt/penstock
mount --bind "$INSTALLED" /opt/penstock
mount --bind "$PROGRAM" /opt/penstock/bin/penstock
mount -t tmpfs none /srv
mkdir -p "$DATA"
mount --bind "$UPLOADS" "$DATA"
mount -o remount,ro /srv
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


@dataclass(frozen=True)
class Namespace:
    """Hold the words that enter it, their environment, the folder of the home, and the data's."""

    words: list[str]
    environment: dict[str, str]
    state: Path
    data: Path

    def command(self, port: int, *words: str) -> list[str]:
        """Return the words of a program inside, with the image's environment and another port."""
        chosen = {**IMAGE.environment, "PENSTOCK_PORT": str(port), "LANG": "C.UTF-8"}
        chosen |= {"PENSTOCK_LOG_PATIENCE": "120", "PENSTOCK_DATA_FOLDER": DATA}
        return [*self.words, *(f"{name}={value}" for name, value in chosen.items()), *words]

    def done(self, port: int, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run a program inside."""
        command = self.command(port, *words)
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False
        )


def namespace(installed: Installation, folder: Path) -> Namespace:
    """Return a namespace for an installation; skips where none can be made."""
    words = [program("unshare", "apt-get install util-linux"), "--mount", "--propagation=private"]
    if os.geteuid() != 0 or subprocess.run([*words, "true"], check=False).returncode != 0:
        pytest.skip("only root can make a mount namespace, and not on every machine")
    script = folder / "penstock"
    original = (installed.programs / "penstock").read_text()
    script.write_text(re.sub("^#!.*", "#!/opt/penstock/bin/python", original))
    script.chmod(0o755)
    state, data = folder / "state", folder / "data"
    uid, gid = IMAGE.account.split(":")
    for path in (data, state, *(state / name for name in ("home", "keys", "witness"))):
        path.mkdir(mode=0o700)
        os.chown(path, int(uid), int(gid))
    # The image has the bytecode; another account could not write it below.
    installed.run("python", "-c", "import penstock.application", folder=folder)
    environment = {
        "INSTALLED": str(installed.folder),
        "PROGRAM": str(script),
        "FOLDER": str(state),
        "DATA": DATA,
        "UPLOADS": str(data),
        "WORKDIR": IMAGE.folder,
        "UID_": uid,
        "GID_": gid,
        "PATH": os.environ["PATH"],
    }
    return Namespace([*words, "bash", "-c", ENTER, "enter"], environment, state, data)
