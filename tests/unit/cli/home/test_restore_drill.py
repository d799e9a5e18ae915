"""Test the drill of ``deploy/``: restore a backup, notice, acknowledge, verify the log."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.databases.homes import Home, Homes
from tests.support.places import ROOT
from tests.unit.cli.program_runs import HANG_SECONDS

from penstock.services.access.principals import OPERATOR
from penstock.services.operations import backup, home
from penstock.services.people import tier_changes
from penstock.services.schemas.people.tiers import TierSpec

DRILL = ROOT / "deploy" / "restore-drill.sh"


def drill(made: Home, copy: str) -> "subprocess.CompletedProcess[str]":
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, **made.environment, "PATH": programs}
    return subprocess.run(
        [str(DRILL), copy],
        env=environment,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
    )


@pytest.mark.nightly
def test_the_drill_goes_from_a_backup_to_a_verified_log(
    backend: str, homes: Homes, prototype: Callable[..., Home], tmp_path: Path
) -> None:
    made = homes.copy(prototype(backend, "empty", Homes.empty), tmp_path / "home")
    server = home.open_server(made.settings())
    tier_changes.create(server, OPERATOR, TierSpec(name="public"))
    kept = backup.create(made.settings(), tmp_path / "copy").path
    tier_changes.create(server, OPERATOR, TierSpec(name="internal"))
    server.database.close()
    target = homes.bare(tmp_path / "restored")
    shutil.copytree(made.folder, target.folder, ignore=shutil.ignore_patterns("penstock.db*"))
    done = drill(target, kept)
    assert done.returncode == 0, done.stderr
    assert "older state" in done.stderr
    assert "problems     0" in done.stdout
    again = home.open_server(target.settings())
    assert again.sequencer.suspended is None
    tier_changes.create(again, OPERATOR, TierSpec(name="internal"))
    again.database.close()
