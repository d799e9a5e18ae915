"""Provide a token of SoftHSM's, for whoever keeps keys in hardware."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from penstock.encryption import Pkcs11

MODULE = Path("/usr/lib/softhsm/libsofthsm2.so")
PIN = "2468"


@dataclass(frozen=True)
class Token:
    """Represent a token of this process alone.

    SoftHSM reads where it lies once, when it is loaded.
    """

    module: Path
    label: str
    pin_file: Path

    def provider(self) -> Pkcs11:
        """Return a provider that has not opened it yet."""
        return Pkcs11(self.module, self.label, self.pin_file)


@pytest.fixture(scope="session")
def token(tmp_path_factory: pytest.TempPathFactory) -> Token:
    """Return a new token.  Where SoftHSM is missing, the test is skipped, and fails in CI."""
    if not MODULE.exists() or shutil.which("softhsm2-util") is None:
        if os.environ.get("CI"):
            pytest.fail("SoftHSM is missing: install Debian's softhsm2.")
        pytest.skip("needs SoftHSM: Debian's softhsm2")
    folder = tmp_path_factory.mktemp("softhsm")
    (folder / "tokens").mkdir()
    configuration = folder / "softhsm2.conf"
    configuration.write_text(f"directories.tokendir = {folder}/tokens\nlog.level = ERROR\n")
    os.environ["SOFTHSM2_CONF"] = str(configuration)
    label = "penstock tests"
    command = ["softhsm2-util", "--init-token", "--free", "--label", label, "--pin", PIN]
    subprocess.run([*command, "--so-pin", "1357"], check=True, capture_output=True)
    pin = folder / "pin"
    pin.touch(mode=0o600)
    pin.write_text(PIN + "\n")
    return Token(MODULE, label, pin)
