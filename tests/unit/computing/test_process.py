"""Test that a child process knows nothing of its parent, and ends with it."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.support.places import ROOT
from tests.unit.computing.pools import MakePool


def test_a_child_knows_nothing_of_its_parent(
    make_pool: MakePool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PENSTOCK_DATABASE_URL", "postgresql://secret")
    monkeypatch.setenv("PGPASSWORD", "secret")
    with (tmp_path / "keys").open("w") as held:
        os.set_inheritable(held.fileno(), True)  # noqa: FBT003  # the operating system's shape
        found = make_pool().run("ada", "surroundings", None)
    assert not [name for name in found["environment"] if name.startswith(("PENSTOCK", "PG"))]
    assert "secret" not in str(found)
    assert str(tmp_path) not in str(found["files"])
    named = [file for file in found["files"].values() if file.startswith("/")]
    assert all(file == os.devnull or file.startswith("/proc/") for file in named), named


PARENT = """
import sys
from penstock.computing import Bounds, LocalTurns, Pool
pool = Pool("tests.unit.computing.jobs", processes=1, queue=1,
            bounds=Bounds(600.0, 2**30), turns=LocalTurns())
print(pool.run("ada", "surroundings", None)["pid"], flush=True)
pool.run("ada", "spin", None)
"""


def test_a_child_ends_with_a_parent_that_is_killed_in_the_middle(make_pool: MakePool) -> None:
    """Its pipe ends; what it was computing is nobody's any more."""
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
    status = Path(f"/proc/{child}/stat")
    pause = threading.Event()
    while status.exists() and status.read_text().rpartition(") ")[2][0] not in "ZX":
        pause.wait(0.01)
