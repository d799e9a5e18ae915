"""Test the units of ``deploy/systemd`` with systemd's own tools, and what they start."""

import re
import subprocess
from pathlib import Path

import pytest
from tests.contracts.deployments.deployment_files import (
    DEPLOY,
    INSTALLED,
    known_command,
    penstock,
    program,
)

from penstock.services.datasets.data_folder import folder_of_uploads
from penstock.setting_sources import load

UNITS = sorted((DEPLOY / "systemd").glob("penstock*"))
SERVICES = [path for path in UNITS if path.suffix == ".service"]
MOST_EXPOSED = 15
"""In tenths of `systemd-analyze security`, from 0 to 100; 15 is reached, 20 is its bound of OK."""


@pytest.fixture(scope="module")
def placed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all units, whose program is that of this environment."""
    folder = tmp_path_factory.mktemp("units")
    for path in UNITS:
        (folder / path.name).write_text(path.read_text().replace(INSTALLED, str(penstock())))
    return folder


def analyze(placed: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run ``systemd-analyze`` in the folder of the units."""
    command = [program("systemd-analyze", "apt-get install systemd"), "--no-pager", *words]
    return subprocess.run(command, cwd=placed, capture_output=True, text=True, check=False)


def test_systemd_reads_every_unit_without_a_complaint(placed: Path) -> None:
    done = analyze(placed, "verify", *(path.name for path in UNITS))
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_a_unit_with_a_mistake_is_noticed(placed: Path, tmp_path: Path) -> None:
    text = (placed / "penstock.service").read_text()
    (tmp_path / "penstock.service").write_text(text.replace("ProtectHome=", "ProtectHouse="))
    assert "ProtectHouse" in analyze(tmp_path, "verify", "penstock.service").stderr


@pytest.mark.parametrize("path", SERVICES, ids=lambda path: path.stem)
def test_every_service_is_hardened(path: Path, placed: Path) -> None:
    bound = f"--threshold={MOST_EXPOSED}"
    done = analyze(placed, "security", "--offline=true", bound, path.name)
    assert done.returncode == 0, done.stdout[-2000:]


def test_a_service_that_is_not_hardened_is_noticed(placed: Path, tmp_path: Path) -> None:
    text = (placed / "penstock.service").read_text()
    (tmp_path / "penstock.service").write_text(re.sub("(?m)^SystemCallFilter=.*$", "", text))
    bound = f"--threshold={MOST_EXPOSED}"
    done = analyze(tmp_path, "security", "--offline=true", bound, "penstock.service")
    assert done.returncode != 0


def test_the_services_are_hardened_alike() -> None:
    """What one of them may not do, none may."""
    blocks = {path.name: path.read_text().partition("# It may read")[2] for path in SERVICES}
    hardening = {name: block.partition("[Install]")[0].strip() for name, block in blocks.items()}
    assert len(set(hardening.values())) == 1


def test_the_units_run_commands_that_there_are() -> None:
    lines = [
        line
        for path in SERVICES
        for line in re.findall(rf"{re.escape(INSTALLED)} ([^;'\n]*)", path.read_text())
    ]
    assert {known_command(line) for line in lines} == {
        *("serve", "work", "db upgrade", "backup", "backup check"),
    }


def test_the_server_may_write_where_uploads_go() -> None:
    """Everything else of the system is read-only for it."""
    lines = (DEPLOY / "systemd/environment.example").read_text().splitlines()
    given = dict(line.split("=", 1) for line in lines if line.startswith("PENSTOCK_"))
    settings, _ = load(given)
    unit = (DEPLOY / "systemd/penstock.service").read_text()
    assert "ProtectSystem=strict" in unit
    folders = re.findall(r"^StateDirectory=(\S+)$", unit, re.MULTILINE)
    assert folders
    uploads = folder_of_uploads(settings)
    assert any(uploads.is_relative_to(f"/var/lib/{folder}") for folder in folders)


def test_only_the_upgrade_and_the_backup_get_the_owners_url() -> None:
    owners = {path.stem for path in SERVICES if "/etc/penstock/owner" in path.read_text()}
    assert owners == {"penstock-upgrade", "penstock-backup"}
